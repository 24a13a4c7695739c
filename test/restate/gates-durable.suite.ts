import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Server } from '../../dev/restate.mjs'
import { findInvocation, lookAtWaiting, type Waiting } from '../../src/chain/restate/client.ts'
import { runCommand } from '../chain/_command.ts'
import { makeProject, type TestProject } from '../chain/_project.ts'
import { answerOf, say } from './_engines.ts'
import { eventually, onServer, ownServer, startWorkerOf, type WorkerProcess } from './_fleet.ts'

describe('a run that waits on a server', () => {
  let server: Server
  let project: TestProject
  let worker: WorkerProcess

  beforeAll(async () => {
    server = await ownServer()
    project = makeProject({
      build: { run: say('built') },
      ship: { run: say('shipped') },
      slow: { run: 'sleep 2; echo slow' },
      late: { metadata: ['chain: "slow ship"', 'gates: ship'] },
      release: { metadata: ['chain: "build ship"', 'gates: ship', 'retry_count: 2'] },
    })
    worker = await startWorkerOf(project, { server })
  })
  afterAll(async () => {
    worker.kill('SIGTERM')
    await worker.ended
    await server.stop()
    server.cleanUp()
    project.remove()
  })

  async function begin(): Promise<string> {
    const { code, stdout } = await project.cli(['run', 'release', '--json', ...onServer(server)])
    expect(code).toBe(6)
    return answerOf({ code, stdout }).runId
  }

  async function waitingOf(runId: string): Promise<Waiting> {
    return await eventually(async () => {
      const id = await findInvocation(server, { runId, part: 1 })
      return id === undefined ? undefined : await lookAtWaiting(server, id)
    }, 'the run waits')
  }

  async function resolveWith({ awakeable }: Waiting, body: string): Promise<void> {
    const { status } = await fetch(`${server.url}/restate/awakeables/${awakeable}/resolve`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(status).toBeLessThan(300)
  }

  const approve = async (runId: string): ReturnType<typeof runCommand> =>
    await runCommand('runs approve', [runId, '--json'], project, { answer: 'y' })
  const count = (line: string): number => project.log().filter((one) => one === line).length

  it('still waits after its worker and its server were killed, and then accepts the decision', async () => {
    const before = count('built')
    const runId = await begin()
    worker.kill('SIGKILL')
    await worker.ended
    await server.kill()
    await server.restart()
    worker = await startWorkerOf(project, { server, port: worker.port })
    await waitingOf(runId)
    expect((await approve(runId)).code).toBe(6)
    // Killed again between two attempts: the first approval stays, the second is asked for.
    worker.kill('SIGKILL')
    await worker.ended
    worker = await startWorkerOf(project, { server, port: worker.port })
    expect((await approve(runId)).code).toBe(0)
    expect(count('built') - before).toBe(2)
    const report = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(report.status).toBe('success')
    expect(report.attempts).toHaveLength(2)
  })

  it('accepts a decision while no worker runs, and continues when one starts', async () => {
    const runId = await begin()
    worker.kill('SIGKILL')
    await worker.ended
    const approval = approve(runId)
    worker = await startWorkerOf(project, { server, port: worker.port })
    expect((await approval).code).toBe(6)
    expect((await project.cli(['runs', 'cancel', runId])).code).toBe(0)
  })

  it('does not continue after a decision about another gate', async () => {
    const before = count('shipped')
    const runId = await begin()
    const first = await waitingOf(runId)
    const [gate] = first.gates
    if (gate === undefined) throw new Error('it waits for nothing')
    const { key, planDigest, stateDigest, at } = gate
    const approval = {
      type: 'approval',
      key,
      planDigest,
      stateDigest,
      at,
      approved: true,
      by: 'person',
    }
    const forged = [
      'no JSON at all',
      '{"approvals":"all"}',
      ...[
        { key: key.replace('1:', '2:') },
        { planDigest: 'sha256:0' },
        { stateDigest: 'sha256:0' },
      ].map((wrong) => JSON.stringify({ approvals: [{ ...approval, ...wrong }] })),
    ]
    let waiting = first
    for (const body of forged) {
      await resolveWith(waiting, body)
      const { awakeable } = waiting
      waiting = await eventually(async () => {
        const next = await waitingOf(runId)
        return next.awakeable === awakeable ? undefined : next
      }, 'it waits again')
    }
    expect(count('shipped')).toBe(before)
    // A decision about the first attempt does not open the gate of the second.
    await resolveWith(waiting, JSON.stringify({ approvals: [approval] }))
    const second = await eventually(async () => {
      const [next] = (await waitingOf(runId)).gates
      return next?.attempt === 2 ? next : undefined
    }, 'the second attempt waits')
    expect(second.key).toBe(key.replace('1:', '2:'))
    expect(count('shipped')).toBe(before + 1)
    const listed = await project.cli(['runs', 'show', runId, '--json'])
    expect(answerOf(listed).status).toBe('waiting')
    expect((await approve(runId)).code).toBe(0)
  })

  it('is listed by `runs show` even if no command waited for it', async () => {
    const running = project.start(['run', 'late', '--json', ...onServer(server)])
    const runId = await eventually(async () => {
      const { stdout } = await project.cli(['runs', 'list', '--json'])
      const [newest] = JSON.parse(stdout).runs
      return newest.status === 'running' ? String(newest.runId) : undefined
    }, 'the run began')
    running.kill('SIGKILL')
    await running.ended
    await waitingOf(runId)
    const report = answerOf(await project.cli(['runs', 'show', runId, '--json']))
    expect(report.status).toBe('waiting')
    expect((await approve(runId)).code).toBe(0)
  })
})
