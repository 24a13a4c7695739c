import { adapters } from '../../src/hooks/adapters.ts'
import { clientPackages, type TestedClient } from './cache.ts'

/** A client, how its model behaved, and what happened. */
export type Outcome = readonly [client: TestedClient, behaviour: string, outcome: string]

/**
 * The page about sessions of real clients. A client that was not recorded keeps its recording, and without
 * outcomes the table stays as it was.
 */
export function railPage(
  recordings: ReadonlyMap<TestedClient, string>,
  outcomes: readonly Outcome[],
  previous: string,
): string {
  const clients = Object.keys(clientPackages).filter(isClient)
  const sections = clients.flatMap((client) => {
    const text = recordings.get(client)
    const heading = `## ${adapters[client].title} ${clientPackages[client].version}`
    if (text !== undefined) return [`${heading}\n\n\`\`\`text\n${text}\n\`\`\`\n`]
    return sectionOf(previous, `## ${adapters[client].title} `)
  })
  const table =
    outcomes.length > 0 ? tableOf(outcomes) : (sectionOf(previous, '## Behaviours')[0] ?? '')
  return `# Rails in real clients

<!-- Written by node test/clients/rail-record.ts --write; do not edit. -->

Real clients with a scripted model, on Linux and without their terminals. The chain has the steps \`implement\` with the
check \`sh check.sh\`, and \`publish-it\` with a gate and the guard \`Bash(publish:*)\`. Each recording has what the user
typed, what the model did, and what the hook answered. Long texts are cut.

${[table, ...sections].map((section) => section.trim()).join('\n\n')}
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

/** One row for each behaviour and each of its outcomes, with the clients that had it. */
function tableOf(outcomes: readonly Outcome[]): string {
  // A test that ran again replaces its earlier row.
  const last = new Map(outcomes.map((outcome) => [`${outcome[0]} ${outcome[1]}`, outcome]))
  const rows = new Map<string, { behaviour: string; text: string; clients: string[] }>()
  for (const [client, behaviour, text] of last.values()) {
    const key = `${behaviour}\0${text}`
    const row = rows.get(key) ?? { behaviour, text, clients: [] }
    rows.set(key, { ...row, clients: [...row.clients, adapters[client].title] })
  }
  const all = new Set([...last.values()].map(([client]) => client)).size
  const order = [...new Set([...last.values()].map(([, behaviour]) => behaviour))]
  const lines = order.flatMap((behaviour) =>
    [...rows.values()]
      .filter((row) => row.behaviour === behaviour)
      .map(({ clients, text }) => {
        const who = clients.length === all && all > 1 ? `all ${all}` : clients.join(', ')
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
