import { railsTable } from '../../dev/rails-table.mjs'
import { locationTable } from '../../src/library/locations.ts'
import { clientFolders } from '../../src/core/client-folders.ts'
import { type Platform, adapters, platforms } from '../../src/hooks/adapters.ts'
import { checkNames, type CheckResult } from './checks.ts'

/** The observations of one client. */
export interface ClientRow {
  client: Platform
  version: string
  results: readonly CheckResult[]
}

/**
 * The page about platforms: the facts from the adapters, and the observations of this run. A client
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
  return `# Agent clients

<!-- Written by npm run test:clients; do not edit. -->

\`skillrail hooks install\` lets these clients put references into the context before their model runs.
The table is from a run of the real clients against a model on the loopback: each check looks at what
the client sent to the model.

${[...headOf(head), ...lines].join('\n')}

- **injected once**: a call of a skill, as a user of that client types it, brings the reference once.
- **absent otherwise**: another prompt brings nothing.
- **registered twice**: registered for the user and for a project, in a folder that the client trusts:
  still once.
- **long one whole**: a reference of more than 12,000 characters arrives whole.
- **hook fails**, **hook hangs**, **hook missing**: the prompt goes through all the same.
- **uninstalled**: nothing of the hook is left, and the client's settings are what they were.
- **reads before it edits**: of a trigger with \`require\`, the model has the reference before the first of
  two parallel edits is made, and no call is denied once it has it.
- **told with the result**: of a trigger on files without \`require\`, the reference comes with the first edit.
- **reads before a command**: a shell command of a trigger is denied until the model has the reference.

The versions were the newest on 2026-11-28. A longer run with those of 2026-11-24 made 100 first edits in each client:
none was made without the reference, and none was denied in vain.

While the settings of Skillrail have errors, each of these clients edits nothing but those settings and runs no command,
and its model is told where the errors are (\`test/clients/settings.suite.ts\`).

Each of these clients also takes Skillrail as [a package](for-agent-users.md#as-a-package-of-the-client). Each was
installed from the branch into the real client: a call of a skill brings the reference once, a chain is a rail, and the
lines of the guide update and remove it (\`test/clients/packages.suite.ts\`). So was a plugin that
\`skillrail hooks pack\` made for each but Codex, beside the hook of the user.

Cursor, Factory Droid, VS Code and Antigravity are not run: they need an account or a desktop. What is said of
Cursor is from its documentation. Factory Droid and VS Code read the files of Claude Code, by their documentation.
Antigravity has no event that takes a context for a prompt; use \`skillrail triggers index\` there.

## What each client takes

${table(['client', 'before a tool', 'after a tool', 'compaction', 'subagents', 'folders with skills'], platforms.map(eventRow))}

- **compaction**: \`again\`: what was given comes again at once; \`forgotten\`: it comes again with the next prompt
  or tool call that asks for it.
- **subagents**: they get at their start what their parent was given. Tools of subagents are
  watched on every client. Qwen Code tells of their start and takes no context for it; pi has none.
- Compaction and subagents were seen with each of these clients but Cursor (\`test/clients/conversation.suite.ts\`).
- A trigger on files sees the tools that edit, write, patch and read. It does not see \`sed -i\`, \`cat > file\`,
  \`git apply\` and tools of MCP servers: it is a guide, not a wall.
- A trigger with \`tool\` and [workflows](reference/workflows.md#calls-that-an-agent-client-makes-itself) see the calls of MCP
  tools in each of these clients but Cursor; pi has no MCP tools of its own (see \`test/clients/workflows.suite.ts\`).
- Gemini CLI names no subagents, so a subagent there counts as its parent.
- OpenCode installs packages when it starts the first time after an installation, which can take more than a minute;
  with \`--project\` it leaves about 60 MB in \`.opencode/node_modules\`.

## Rails

What each client does for [a chain that it executes as a rail](rails.md). \`skillrail chain plan NAME --client CLIENT\` says
it for one chain, and \`skillrail hooks status CLIENT\` whether the hook there knows rails.

<!-- rails -->

${railsTable()}

<!-- end of rails -->

A **block** is a step that is handed over or a check that failed, at the end of a turn. After the last one the turn ends,
and your next prompt continues. A longer check continues alone, and your next prompt gets its result.

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
  const { title, files, sigil, limit } = adapters[platform]
  const user = `\`~/${clientFolders[platform].path}/${files.user}\``
  const parts = limit.parts === 1 ? '' : `, in up to ${limit.parts} parts`
  const amount = Number.isFinite(limit.amount)
    ? `${limit.amount.toLocaleString('en-US')} ${limit.unit}${parts}`
    : 'no limit found'
  return [title, user, `\`${files.project}\``, `\`${callForms[sigil]}\``, amount]
}

function eventRow(platform: Platform): string[] {
  const { title, events, callsRemembered } = adapters[platform]
  const calls = callsRemembered === undefined ? '-' : `after ${callsRemembered} calls`
  const again = events.compact === 'SessionStart' ? 'again' : 'forgotten'
  const folders = locationTable
    .filter(({ clients }) => clients.includes(platform))
    .flatMap(({ project, user }) => [project, user && `~/${user}`])
    .filter((path) => path !== undefined)
  return [
    title,
    events.before === undefined ? '-' : 'can deny',
    events.after === undefined ? '-' : 'takes a context',
    events.compact === undefined ? calls : again,
    events.subagent === undefined ? '-' : 'told',
    folders.map((path) => `\`${path}\``).join(' '),
  ]
}

const callForms = {
  slash: '/skill arguments',
  expanded: '/skill arguments',
  dollar: '$skill arguments',
  'skill-colon': '/skill:skill arguments',
} as const

function steps(platform: Platform): string[] {
  const { title, steps: wanted, note } = adapters[platform]
  const sentences = [wanted.user, wanted.project && `In a project: ${wanted.project}`, note]
  const notes = sentences.filter((sentence) => sentence !== undefined && sentence !== '')
  return notes.length === 0 ? [] : [`- **${title}**: ${notes.join(' ')}`]
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
