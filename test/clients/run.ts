import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { adapters } from '../../src/hooks/adapters.ts'
import { clientPackages, installClients, type TestedClient } from './cache.ts'
import { checkClient, checksFor, type CheckResult } from './checks.ts'
import { recipes } from './clients.ts'
import { inParallel } from './in-parallel.ts'
import { platformPage } from './platform-page.ts'
import { isShort } from './short.ts'

// Real clients against a mock model. Arguments: names of clients; --latest; --write for the page.
const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const isTested = (name: string): name is TestedClient => Object.hasOwn(clientPackages, name)
const wrong = names.filter((name) => !isTested(name))
if (wrong.length > 0) throw new Error(`no client that is tested: ${wrong.join(', ')}`)
const clients = (names.length > 0 ? names : Object.keys(clientPackages)).filter(isTested)
const installed = installClients(clients, { latest: process.argv.includes('--latest') })

const rows = await inParallel([...installed], async ([client, program]) => {
  const results = await twiceIfNeeded(() => checkClient(client, program, recipes[client]))
  for (const { name, ok, detail } of results) {
    console.log(`${ok ? 'ok' : 'FAILED'} ${adapters[client].title} ${program.version}: ${name}`)
    if (!ok) console.log(`  ${detail.replaceAll('\n', '\n  ')}`)
  }
  return { client, version: program.version, results }
})
const page = 'docs/clients.md'
// The page has every check of every client.
if (process.argv.includes('--write') && !isShort) {
  const previous = existsSync(page) ? readFileSync(page, 'utf8') : ''
  writeFileSync(page, platformPage(rows, previous))
}
const all = rows.flatMap(({ results }) => results)
const failed =
  all.filter(({ ok }) => !ok).length +
  rows.filter(({ client, results }) => results.length < checksFor(client).length).length
console.log(`${all.length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

/** Real clients stumble now and then: a check that fails twice has failed. */
async function twiceIfNeeded(check: () => Promise<CheckResult[]>): Promise<CheckResult[]> {
  const results = await check()
  if (results.every(({ ok }) => ok)) return results
  const again = await check()
  return results.map((first) =>
    first.ok ? first : (again.find(({ name }) => name === first.name) ?? first),
  )
}
