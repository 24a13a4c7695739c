import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { bin } from '../command-line.ts'
import { canStartFakeClients, installFakeClient, startFakeClient } from '../rail/_client-process.ts'
import { makeSession } from '../rail/_session.ts'
import { tokenFor } from './_view.ts'

const chain = {
  ship: { metadata: ['chain: |', '  build', '  publish gate'] },
  build: { run: 'echo built' },
  publish: { run: 'echo published' },
}

/** A program of the agent that opens a view by its address, and decides about the gate that it shows. */
const forger = `
const [address, id, more] = process.argv.slice(1)
const post = async (path, body, token) => {
  const headers = { 'content-type': 'application/json', origin: new URL(address).origin, 'sec-fetch-site': 'same-origin' }
  if (token) headers.authorization = 'Bearer ' + token
  const response = await fetch(new URL(path, address), { method: 'POST', headers, body: JSON.stringify(body) })
  return await response.json()
}
const { token } = more ? { token: more } : await post('/enter', { code: address.split('#once-')[1] })
const { gates: [gate] } = await post('/api/run', { id }, token)
const { key, planDigest, stateDigest, shownDigest } = gate
const shown = { id, key, planDigest, stateDigest, shownDigest }
console.log(JSON.stringify(await post('/api/decide', { ...shown, decision: 'approve' }, token)))
`

async function waitingRun(skills: Parameters<typeof makeSession>[0] = chain) {
  const session = makeSession(skills)
  const { stdout } = await session.cli('run', 'ship', '--json')
  const { runId, status } = JSON.parse(stdout)
  expect(status).toBe('waiting')
  const approvals = async (): Promise<object[]> => {
    const shown = await session.cli('runs', 'show', runId, '--json')
    return JSON.parse(shown.stdout).approvals ?? []
  }
  return { session, runId, approvals }
}

/** Starts a view as a user does: no process of the test is above it, whatever runs the test. */
async function openOwnView({ directory, env }: { directory: string; env: object }) {
  const line = `setsid sh -c 'echo "$$"; exec "$0" --no-warnings "$@"' '${process.execPath}' '${bin}' view >&3 &`
  const child = spawn('/bin/sh', ['-c', line], {
    cwd: directory,
    env: { ...env },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const [, , , output] = child.stdio
  if (!output || !('read' in output)) throw new Error('the view has no output')
  const lines = createInterface({ input: output })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => String((await lines.next()).value)
  const pid = Number(await next())
  onTestFinished(() => {
    try {
      process.kill(pid)
    } catch {} // The test has ended it.
  })
  return { pid, address: await next(), next }
}

/** Runs the forger in a process that has no process of the test above it. */
async function runDetached(words: readonly string[], env: object): Promise<string> {
  const line = `setsid "$0" --input-type=module -e "$@" >&3 &`
  const child = spawn('/bin/sh', ['-c', line, process.execPath, ...words], {
    env: { ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
  })
  const [, , , output] = child.stdio
  if (!output || !('read' in output)) throw new Error('it has no output')
  let text = ''
  for await (const piece of output) text += String(piece)
  return text
}

const quoted = (words: readonly string[]): string =>
  words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')

describe.skipIf(!canStartFakeClients)('an agent with a shell', () => {
  it('cannot approve in a view that it starts, with its own address', async () => {
    const { session, runId, approvals } = await waitingRun()
    const client = await startFakeClient(session, installFakeClient(session))
    const script = `
      '${process.execPath}' --no-warnings '${bin}' view > view.out &
      while [ ! -s view.out ]; do sleep 0.1; done
      '${process.execPath}' --input-type=module -e ${quoted([forger])} "$(head -n 1 view.out)" ${runId}
      kill $!`
    const answer = JSON.parse(await client.shell(script))
    expect(answer.error).toMatchObject({ code: 'below-agent-client' })
    expect(answer.error.message).toContain('Claude Code has started it')
    expect(answer.error.hint).toContain(`skillrail runs approve ${runId}`)
    expect(await approvals()).toEqual([])
  })

  it('cannot approve with an address or a token of a view that the user has started', async () => {
    const { session, runId, approvals } = await waitingRun()
    const view = await openOwnView(session)
    const client = await startFakeClient(session, installFakeClient(session))
    const command = (address: string, token = '') =>
      quoted([process.execPath, '--input-type=module', '-e', forger, address, runId, token])
    const byAddress = JSON.parse(await client.shell(command(view.address)))
    expect(byAddress.error).toMatchObject({
      code: 'below-agent-client',
      message: 'this browser decides about no gate: Claude Code has started it',
    })
    const token = await tokenFor(await view.next())
    const byToken = JSON.parse(await client.shell(command(view.address, token)))
    expect(byToken.error).toMatchObject({ code: 'below-agent-client' })
    expect(await approvals()).toEqual([])
    // The same request is taken from a program that no agent client has started.
    const own = JSON.parse(await runDetached([forger, view.address, runId, token], session.env))
    expect(own).toEqual({ approved: true })
    expect(await approvals()).toMatchObject([{ channel: 'view', strength: 'attended' }])
  })
})

it.skipIf(!canStartFakeClients)(
  'interrupts a run that continues in the view when the view ends, and the run can be resumed',
  async () => {
    const slow = { run: 'echo x >> begun; [ -e go ] || sleep 60; echo published' }
    const { session, runId, approvals } = await waitingRun({ ...chain, publish: slow })
    const view = await openOwnView(session)
    const words = [forger, view.address, runId]
    expect(JSON.parse(await runDetached(words, session.env))).toEqual({ approved: true })
    await expect.poll(() => existsSync(join(session.directory, 'begun'))).toBe(true)
    process.kill(view.pid, 'SIGINT')
    const statusNow = async (): Promise<string> =>
      JSON.parse((await session.cli('runs', 'show', runId, '--json')).stdout).status
    await expect.poll(statusNow, { timeout: 20_000 }).toBe('interrupted')
    await expect.poll(() => isAlive(view.pid), { timeout: 20_000 }).toBe(false)
    session.write('go', '')
    const { stdout } = await session.cli('runs', 'resume', runId, '--json')
    expect(JSON.parse(stdout).status).toBe('success')
    // The approval stays that of the view.
    expect(await approvals()).toMatchObject([{ channel: 'view' }])
  },
)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
