import { installClients, type TestedClient } from './cache.ts'
import { recipes } from './clients.ts'
import { behaviours } from './rail-behaviours.ts'
import { railSession } from './rail-session.ts'

// TRIES=50 CLIENTS=claude,codex node test/clients/rail-tries.ts
// How often a model that makes the guarded call first reaches it before its gate, and how often a step is
// verified without its check. Needs a build. Prints a line after every ten tries.
const tries = Number(process.env['TRIES'] ?? '50')
const isTested = (name: string): name is TestedClient => Object.hasOwn(recipes, name)
const clients = (process.env['CLIENTS'] ?? 'claude,codex').split(',').filter(isTested)
const titles = [
  'makes the guarded call first',
  'spells the guarded call in other ways',
  'makes five calls at once',
]
const installed = installClients(clients, { latest: false })

for (const name of clients) {
  const client = installed.get(name)
  if (!client) continue
  const count = { tries: 0, published: 0, denied: 0, verifiedWithoutCheck: 0 }
  const standings: Record<string, number> = {}
  for (let index = 0; index < tries; index++) {
    const behaviour = behaviours[titles[index % titles.length] ?? '']
    if (!behaviour) continue
    const result = await railSession(name, client, recipes[name], behaviour.script)
    count.tries += 1
    count.published += result.published
    count.denied += result.requests.some((body) => body.includes('belongs to the step')) ? 1 : 0
    const isVerified = result.steps['implement'] === 'success (verified)'
    count.verifiedWithoutCheck += isVerified && result.checked === 0 ? 1 : 0
    const standing = result.rail?.standing ?? 'none'
    standings[standing] = (standings[standing] ?? 0) + 1
    const isLast = index === tries - 1
    if (isLast || count.tries % 10 === 0) {
      console.log(JSON.stringify({ client: name, ...count, standings }))
    }
  }
}
