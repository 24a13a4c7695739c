// The run is killed in the middle of a payment and resumed: asked twice, paid once.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'

const payments = new Map()
const requests = []
let asked
const firstRequest = new Promise((resolve) => (asked = resolve))

/** A payment service: what it was asked under a key that it knows is done already. */
const service = createServer((request, response) => {
  const key = request.headers['idempotency-key']
  requests.push(key)
  if (!payments.has(key)) payments.set(key, `payment ${payments.size + 1}`)
  // It has paid, but its first answer never comes.
  if (requests.length === 1) asked()
  else response.end(payments.get(key))
})
service.listen(0, '127.0.0.1')
await once(service, 'listening')
const url = `http://127.0.0.1:${service.address().port}/`

const killed = skillrail('run', 'examples/pay-once/pay-invoice', url)
await firstRequest
killed.child.kill('SIGKILL')
await killed.ended

const { runs } = JSON.parse((await skillrail('runs', 'list').ended).stdout)
const { runId } = runs.find(({ skill }) => skill === 'pay-invoice')
const resumed = await skillrail('runs', 'resume', runId).ended
service.close()
service.closeAllConnections()

assert.equal(resumed.status, 0, resumed.stdout)
const [charge, receipt] = JSON.parse(resumed.stdout).attempts[0].steps
assert.equal(charge.result, 'payment 1')
assert.equal(receipt.result, 'receipt for payment 1')
assert.deepEqual(requests, [`${runId}/1:charge`, `${runId}/1:charge`])
assert.equal(payments.size, 1)

function skillrail(...args) {
  const child = spawn(
    process.execPath,
    ['dist/cli/bin.cjs', ...args, '--trust-workspace', '--json', '--quiet'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let stdout = ''
  child.stdout.on('data', (chunk) => (stdout += chunk))
  const ended = once(child, 'close').then(([status]) => ({ status, stdout }))
  return { child, ended }
}
