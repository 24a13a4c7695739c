// Of three mirrors one is broken and one hangs: the good one wins, and nobody waits for the other.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'

const broken = await mirror((response) => response.writeHead(500).end())
const good = await mirror((response) => setTimeout(() => response.end('the file'), 300))
const hanging = await mirror(() => undefined)

const { status, stdout } = await skillrail(
  'run',
  'examples/mirror-race/fetch-fastest',
  broken.url,
  good.url,
  hanging.url,
)
for (const { server } of [broken, good, hanging]) {
  server.close()
  server.closeAllConnections()
}
assert.equal(status, 0, stdout)
const result = JSON.parse(stdout)
assert.equal(result.winner, 'mirror-b')
const steps = result.attempts[0].steps
assert.deepEqual(
  steps.map((step) => step.status),
  ['failure', 'success', 'cancelled'],
)
assert.equal(steps[1].result, 'mirror b sent 8 characters')

async function mirror(answer) {
  const server = createServer((_request, response) => answer(response))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { server, url: `http://127.0.0.1:${server.address().port}/file` }
}

/** Not the synchronous way: the mirrors are in this process. */
async function skillrail(...args) {
  const child = spawn(
    process.execPath,
    ['dist/cli/bin.cjs', ...args, '--trust-workspace', '--json', '--quiet'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let stdout = ''
  child.stdout.on('data', (chunk) => (stdout += chunk))
  const status = await new Promise((resolve) => child.on('close', resolve))
  return { status, stdout }
}
