import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { adapters } from '../../src/hooks/adapters.ts'
import { clientPackages, installClients, type TestedClient } from './cache.ts'
import { recipes } from './clients.ts'
import { recordSession } from './rail-recording.ts'
import { type Outcome, railPage, type TryCount } from './rail-page.ts'
import type { Script } from './rail-session.ts'

// Records a session of a chain in each real client: what the user typed, what the scripted model did, and
// what the hook answered. Arguments: names of clients; --write for docs/internals/rail-sessions.md.
// RAIL_ROWS names the file of the suite about its behaviours, and RAIL_TRIES the output of rail-tries.ts, for the
// tables of that page. `none` as a client records nothing.
const words = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const names = words.filter((word) => word !== 'none')
const isTested = (name: string): name is TestedClient => Object.hasOwn(clientPackages, name)
const wrong = names.filter((name) => !isTested(name))
if (wrong.length > 0) throw new Error(`no client that is tested: ${wrong.join(', ')}`)
const clients = (words.length > 0 ? names : Object.keys(clientPackages)).filter(isTested)

/** Publishes first, claims success, does the work, and publishes when the user has approved. */
const script: Script = [
  (tools) => ({ calls: [tools.publish()] }),
  () => 'The release is done.',
  (tools) => ({ calls: [tools.work()] }),
  () => 'I wrote done.txt.',
  publishWhenApproved,
  publishWhenApproved,
]

function publishWhenApproved(...[tools, body]: Parameters<Script[number]>): ReturnType<Script[0]> {
  const isNews = body.lastIndexOf('The user approved') > body.lastIndexOf('publish now')
  if (isNews) return { calls: [tools.publish()] }
  return body.includes('The user approved')
    ? 'I published it.'
    : 'The chain waits for your approval.'
}

const recordings = new Map<TestedClient, string>()
for (const [name, client] of installClients(clients, { latest: false })) {
  const text = await recordSession(name, client, recipes[name], script, ['rail approve'])
  recordings.set(name, text)
  console.log(`\n${adapters[name].title} ${client.version}\n\n${text}`)
}

if (process.argv.includes('--write')) {
  const page = 'docs/internals/rail-sessions.md'
  const previous = existsSync(page) ? readFileSync(page, 'utf8') : ''
  const outcomes = linesOf(process.env['RAIL_ROWS']).map((line): Outcome => JSON.parse(line))
  const tries = linesOf(process.env['RAIL_TRIES']).map((line): TryCount => JSON.parse(line))
  writeFileSync(page, railPage(recordings, { outcomes, tries }, previous))
}

function linesOf(path: string | undefined): string[] {
  if (path === undefined) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{') || line.startsWith('['))
}
