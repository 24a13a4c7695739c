import { type Platform, adapters, platforms } from '../../src/hooks/adapters.ts'
import { checkNames, type CheckResult } from './checks.ts'

/** What was seen of one client. */
export interface ClientRow {
  client: Platform
  version: string
  results: readonly CheckResult[]
}

/**
 * The page about platforms: what is known from the adapters, and what was seen in this run. A client
 * that was not run keeps its line of the page as it was; a line of other columns is dropped.
 */
export function platformPage(rows: readonly ClientRow[], previous = ''): string {
  const head = ['client', 'version', ...checkNames]
  const kept = linesBelow(previous, lineOf(head))
  const lines = platforms.flatMap((platform) => {
    const row = rows.find(({ client }) => client === platform)
    if (row !== undefined) return [lineOf(checkRow(row))]
    return kept.filter((line) => line.startsWith(`| ${adapters[platform].title} |`))
  })
  return `# Platforms

<!-- Written by npm run test:clients; do not edit. -->

\`skillrail hooks install\` lets these clients put references into the context before their model runs.
The table is from a run of the real clients against a model on the loopback: each check looks at what
the client sent to the model.

${[...headOf(head), ...lines].join('\n')}

- **injected once**: a call of a skill, as a user of that client types it, brings the reference once.
- **absent otherwise**: another prompt brings nothing.
- **registered twice**: registered for the user and for a project, in a folder that the client trusts:
  still once, and \`hooks status\` says that both will run.
- **long one whole**: a reference of more than 12,000 characters arrives whole.
- **hook fails**, **hook hangs**: the prompt goes through all the same.
- **uninstalled**: nothing of the hook is left, and the client's settings are what they were.

Cursor is not run here: it is not a program that can be started without an account.

## Where the hook goes

${table(['client', 'for you', 'for a project', 'a skill is called', 'context of one hook'], platforms.map(placeRow))}

## What is left to you

${platforms.flatMap(steps).join('\n')}
`
}

function checkRow({ client, version, results }: ClientRow): string[] {
  const marks = checkNames.map((name) => {
    const result = results.find((candidate) => candidate.name === name)
    return result === undefined ? '' : result.ok ? 'yes' : '**no**'
  })
  return [adapters[client].title, version, ...marks]
}

function placeRow(platform: Platform): string[] {
  const { title, home, files, sigil, limit } = adapters[platform]
  const user = `\`~/${home.path}/${files.user}\``
  const parts = limit.parts === 1 ? '' : `, in up to ${limit.parts} parts`
  const amount = Number.isFinite(limit.amount)
    ? `${limit.amount.toLocaleString('en-US')} ${limit.unit}${parts}`
    : 'no limit found'
  return [title, user, `\`${files.project}\``, `\`${callForms[sigil]}\``, amount]
}

const callForms = {
  slash: '/skill arguments',
  expanded: '/skill arguments',
  dollar: '$skill arguments',
  'skill-colon': '/skill:skill arguments',
} as const

function steps(platform: Platform): string[] {
  const { title, steps: wanted, remark } = adapters[platform]
  const sentences = [wanted.user, wanted.project && `In a project: ${wanted.project}`, remark]
  const known = sentences.filter((sentence) => sentence !== undefined && sentence !== '')
  return known.length === 0 ? [] : [`- **${title}**: ${known.join(' ')}`]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [...headOf(head), ...rows.map(lineOf)].join('\n')
}

function headOf(head: readonly string[]): string[] {
  return [lineOf(head), lineOf(head.map(() => '---'))]
}

function lineOf(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** The rows of the table that begins with a line. */
function linesBelow(page: string, head: string): string[] {
  const lines = page.split('\n')
  const start = lines.indexOf(head)
  if (start < 0) return []
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'))
  return lines.slice(start + 2, end < 0 ? undefined : end)
}
