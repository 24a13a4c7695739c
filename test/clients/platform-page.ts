import { type Platform, adapters, platforms } from '../../src/hooks/index.ts'
import { checkNames, type CheckResult } from './checks.ts'

/** What was seen of one client. */
export interface ClientRow {
  client: Platform
  version: string
  results: readonly CheckResult[]
}

/** The page about platforms: what is known from the adapters, and what was seen in this run. */
export function platformPage(rows: readonly ClientRow[]): string {
  return `# Platforms

<!-- Written by npm run test:clients; do not edit. -->

\`skillrail hooks install\` lets these clients put references into the context before their model runs.
The table is from a run of the real clients against a model on the loopback: each check looks at what
the client sent to the model.

${table(['client', 'version', ...checkNames], rows.map(checkRow))}

- **injected once**: a call of a skill, as a user of that client types it, brings the reference once.
- **absent otherwise**: another prompt brings nothing.
- **long one whole**: a reference of more than 12,000 characters arrives whole.
- **hook fails**, **hook hangs**: the prompt goes through all the same.
- **uninstalled**: nothing of the hook is left, and the client's settings are what they were.

Cursor is not run here: it is no program that can be started without an account.

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
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
