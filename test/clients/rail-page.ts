import { adapters } from '../../src/hooks/adapters.ts'
import { clientPackages, type TestedClient } from './cache.ts'

/** A client, how its model behaved, and what happened. */
export type Outcome = readonly [client: TestedClient, behaviour: string, outcome: string]

/** Counts of rail-tries.ts for one client. */
export interface TryCount {
  client: TestedClient
  version: string
  sessions: number
  /** Guarded calls before the step was done, and then before its gate was open. */
  tries: number
  triesAtGate: number
  /** Guarded calls whose denial the next request of the client showed. */
  denied: number
  executed: number
  /** Ends of a turn that claim success without work. */
  claims: number
  failedChecks: number
  verifiedWithoutCheck: number
  /** Sessions in which the step was verified once its work was done. */
  verifiedAfterWork: number
}

/**
 * The page about sessions of real clients. A client that was not recorded keeps its recording, and a table
 * keeps the rows about which nothing new is known.
 */
export function railPage(
  recordings: ReadonlyMap<TestedClient, string>,
  { outcomes, tries }: { outcomes: readonly Outcome[]; tries: readonly TryCount[] },
  previous: string,
): string {
  const clients = Object.keys(clientPackages).filter(isClient)
  const sections = clients.flatMap((client) => {
    const text = recordings.get(client)
    const heading = `## ${adapters[client].title} ${clientPackages[client].version}`
    if (text !== undefined) return [`${heading}\n\n\`\`\`text\n${text}\n\`\`\`\n`]
    return sectionOf(previous, `## ${adapters[client].title} `)
  })
  const [behaviours = ''] = sectionOf(previous, '## Behaviours')
  const [counts = ''] = sectionOf(previous, '## Tries')
  const tables = [tableOf(outcomes, behaviours), triesTable(tries, counts)]
  return `# Rails in real clients

<!-- Written by node test/clients/rail-record.ts --write; do not edit. -->

Real clients with a scripted model, on Linux and without their terminals. The chain has the steps \`implement\` with the
check \`sh check.sh\`, and \`publish-it\` with a gate and the guard \`Bash(publish:*)\`; where a user rejects the work, the
gate also has \`rework=implement\`. Each recording has what the user typed, what the model did, and what the hook
answered. Long texts are cut.

${[...tables, ...sections].map((section) => section.trim()).join('\n\n')}
`
}

function isClient(name: string): name is TestedClient {
  return Object.hasOwn(clientPackages, name)
}

/** The text from a heading up to the next one. */
function sectionOf(page: string, heading: string): string[] {
  const sections = page.split(/^(?=## )/m)
  return sections.filter((section) => section.startsWith(heading))
}

/** A client's title, how its model behaved, and what happened. */
type TableOutcome = readonly [title: string, behaviour: string, text: string]

/**
 * One row for each behaviour and each of its outcomes, with the clients that had it. A new outcome replaces the
 * earlier one of the same client.
 */
function tableOf(outcomes: readonly Outcome[], previous: string): string {
  const titles = Object.keys(clientPackages)
    .filter(isClient)
    .map((client) => adapters[client].title)
  const recorded = rowsOf(previous).flatMap(([behaviour = '', who = '', text = '']) => {
    const clients = who === everyone(titles) ? titles : who.split(', ')
    return clients.map((title): TableOutcome => [title, behaviour, text])
  })
  const added = outcomes.map(([client, ...rest]): TableOutcome => [adapters[client].title, ...rest])
  const last = new Map(
    [...recorded, ...added].map((outcome) => [`${outcome[0]}\0${outcome[1]}`, outcome]),
  )
  const rows = Map.groupBy(last.values(), ([, behaviour, text]) => `${behaviour} | ${text}`)
  const behaviours = [...new Set([...last.values()].map(([, behaviour]) => behaviour))]
  const lines = behaviours.flatMap((behaviour) =>
    [...rows.values()].flatMap((row) => {
      const [[, name, text] = ['', '', '']] = row
      if (name !== behaviour) return []
      const clients = titles.filter((title) => row.some(([one]) => one === title))
      const who = clients.length === titles.length ? everyone(titles) : clients.join(', ')
      return `| ${behaviour} | ${who} | ${text} |`
    }),
  )
  return `## Behaviours

The model …

| behaviour | clients | what happened |
| --- | --- | --- |
${lines.join('\n')}
`
}

function everyone(titles: readonly string[]): string {
  return `all ${titles.length}`
}

/** The cells of each row of a section's table, without its head. */
function rowsOf(section: string): string[][] {
  const rows = section.split('\n').filter((line) => line.startsWith('| '))
  return rows.slice(2).map((row) => row.slice(2, -2).split(' | '))
}

/** One row for each client. */
function triesTable(tries: readonly TryCount[], previous: string): string {
  const counted = new Map(
    tries.map((one): [string, string[]] => {
      const { sessions, claims, failedChecks, verifiedWithoutCheck, executed, denied } = one
      const calls = one.tries + one.triesAtGate
      const counts = [sessions, calls, executed, denied, claims, failedChecks, verifiedWithoutCheck]
      const title = `${adapters[one.client].title} ${one.version}`
      return [title, [title, ...counts.map(String)]]
    }),
  )
  const kept = rowsOf(previous).filter(([title = '']) => !counted.has(title))
  const rows = [...kept, ...counted.values()].toSorted(([one = ''], [other = '']) =>
    one.localeCompare(other),
  )
  return `## Tries

A model tries the guarded call in 25 spellings before its step is done and again before its gate is open, and in
between claims that the step is done without any work. \`node test/clients/rail-tries.ts\` counts what happens. A denial
counts if the next request of the client shows it. A turn that receives a step, or that the client ends itself, needs no
check. One session of Qwen Code reached the time limit of the script in the middle of a call.

| client | sessions | guarded calls | executed | denied | false claims | failed checks | verified without a check |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}
`
}
