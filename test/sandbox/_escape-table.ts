import { type Attempt, attempts } from './_attempts.ts'

const begin = '<!-- escape table: written by npm run test:sandbox; do not edit -->'
const end = '<!-- end of the escape table -->'

/** By user and script: undefined where it was not tried here. */
export type Outcomes = ReadonlyMap<string, ReadonlyMap<string, boolean>>

/** The page with a new table between its markers; anything else stays as it is. */
export function withEscapeTable(page: string, outcomes: Outcomes, versions: string): string {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error('the page has no markers')
  const users = [...outcomes.keys()]
  const head = ['tried from inside', 'what holds', ...users]
  const rows = attempts.map((attempt) => [
    attempt.tries,
    attempt.heldBy,
    ...users.map((user) => mark(outcomes.get(user), attempt)),
  ])
  const table = aligned([head, ...rows]).join('\n')
  return `${before}${begin}\n\nSeen with ${versions}.\n\n${table}\n\n${end}${after}`
}

/** As the formatter of the project writes a table. */
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
