import { type Attempt, attempts } from './_attempts.ts'

/** By user and script: undefined if the script was not tried here. */
export type Outcomes = ReadonlyMap<string, ReadonlyMap<string, boolean>>

/** The outcome of every attempt, as a Markdown table. */
export function escapeTable(outcomes: Outcomes, versions: string): string {
  const users = [...outcomes.keys()]
  const head = ['tried from inside', 'what holds', ...users]
  const rows = attempts.map((attempt) => [
    attempt.tries,
    attempt.heldBy,
    ...users.map((user) => mark(outcomes.get(user), attempt)),
  ])
  return `Seen with ${versions}.\n\n${aligned([head, ...rows]).join('\n')}\n`
}

/** With columns of equal width. */
function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const rule = widths.map((width) => '-'.repeat(width))
  return [...rows.slice(0, 1), rule, ...rows.slice(1)].map((row) => {
    return `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  })
}

function mark(outcomes: ReadonlyMap<string, boolean> | undefined, { script }: Attempt): string {
  const held = outcomes?.get(script)
  return held === undefined ? 'not run' : held ? 'held' : '**got out**'
}
