import type { Row } from './rows.ts'

/** A test that ran, as the page names it. */
export interface ShownTest {
  block: string
  name: string
  state: string
}

const begin = '<!-- Begin: written by SKILLRAIL_WRITE=1 npm run test:servers; do not edit. -->'
const end = '<!-- End -->'

/** The tables of a run, and the page with them in the place of the previous ones. */
export function serversPage(
  rows: readonly Row[],
  tests: readonly ShownTest[],
  previous: string,
): { tables: string; text: string } {
  const tables = [serverTable(rows), requestTable(rows), seedTable(rows), testTable(tests)].join(
    '\n\n',
  )
  const part = `${begin}\n\n${tables}\n\n${end}`
  const [before, rest] = previous.split(begin)
  const after = rest?.split(end)[1]
  const text =
    after === undefined ? `${introduction}\n\n${part}\n` : `${String(before)}${part}${after}`
  return { tables, text }
}

const introduction = `# Real servers

\`npm run test:servers\` runs these servers offline on loopback, with a browser and a database of
their own, and drives the command line as a user does.`

function serverTable(rows: readonly Row[]): string {
  const lines = rows
    .filter((row) => row.table === 'servers')
    .map((row) => [row.server, row.package, row.transport, String(row.tools)])
  return `## Servers\n\n${table(['server', 'package', 'transport', 'tools'], lines)}`
}

function requestTable(rows: readonly Row[]): string {
  const requests = rows.filter((row) => row.table === 'requests')
  const lines = requests.map(({ request, tool, parameters, decision, ok }) => [
    request,
    `\`${tool}\``,
    `\`${parameters}\``,
    decision,
    ok ? 'yes' : '**no**',
  ])
  const head = ['request', 'tool', 'parameters', 'decision', 'right']
  return `## Requests in words\n\n${about}\n\n${table(head, lines)}`
}

function seedTable(rows: readonly Row[]): string {
  const lines = rows
    .filter((row) => row.table === 'seed')
    .map(({ request, seed, real, routed, note }) => [request, code(seed), code(real), routed, note])
  const head = ['request', 'as specified', 'on the real server', 'found by words', 'note']
  return `## The specified mappings on real schemas\n\n${table(head, lines)}`
}

function testTable(tests: readonly ShownTest[]): string {
  const lines = tests
    .filter(({ block }) => !/^(?:requests in words|the specified)/.test(block))
    .map(({ block, name, state }) => [block, name, state === 'passed' ? 'yes' : `**${state}**`])
  return `## What was shown\n\n${table(['where', 'what', 'seen'], lines)}`
}

function code(text: string): string {
  return text === '' ? '' : `\`${text}\``
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const about = `These requests are written together with the rules that read them, so they show what must keep working, not how often a
request works that nobody has seen. Requests in other words lead to a question more often than to a call; they are a
job for a model (\`tools do --model\`).`
