import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Server } from '../../dev/restate.mjs'
import type { RunResult } from '../../src/chain/engine.ts'
import { makeProject, type TestProject } from '../chain/_project.ts'
import { type Balancer, hasBalancer, startBalancer } from './_balancer.ts'
import { eventually, freePorts, ownServer, startWorkerOf, type WorkerProcess } from './_fleet.ts'
import { planOf, requestFor, runOn } from './_requests.ts'

/** Every execution leaves a line: its key, and the worker that did it. */
const note = 'echo "$SKILLRAIL_IDEMPOTENCY_KEY $PPID" >> executed'

describe.skipIf(!hasBalancer)(
  `two workers behind a balancer${hasBalancer ? '' : ' (no haproxy)'}`,
  () => {
    let server: Server
    let project: TestProject
    let balancer: Balancer
    let ports: [number, number]
    let workers: WorkerProcess[] = []
    const figures: string[] = []

    beforeAll(async () => {
      const [front, first, second] = await freePorts(3)
      ports = [first, second]
      server = await ownServer()
      balancer = startBalancer(front, ports)
    })
    afterAll(async () => {
      await balancer.stop()
      await server.stop()
      server.cleanUp()
      process.stdout.write(`${figures.join('\n')}\n`)
    })
    beforeEach(() => {
      project = makeProject()
      mkdirSync(join(project.directory, 'effects'))
    })
    afterEach(async () => {
      for (const worker of workers) worker.kill('SIGKILL')
      await Promise.all(workers.map(async (worker) => await worker.ended))
      workers = []
      project.remove()
    })

    async function startBoth(): Promise<void> {
      for (const port of ports) {
        workers.push(await startWorkerOf(project, { port, server, register: balancer.uri }))
      }
      await sleep(700)
    }

    function executions(): { key: string; worker: number }[] {
      return readFileSync(join(project.directory, 'executed'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => ({ key: line.split(' ')[0] ?? '', worker: Number(line.split(' ')[1]) }))
    }

    function repeated(): string[] {
      const keys = executions().map(({ key }) => key)
      return keys.filter((key, index) => keys.indexOf(key) !== index)
    }

    /** Five steps that take a while. */
    function writeChain(seconds: number): void {
      project.write('work', { run: `${note}; sleep ${seconds}; echo done` })
      project.write('five', { metadata: ['chain: "work work work work work"'] })
    }

    const good = (results: readonly RunResult[]): number =>
      results.filter(
        ({ status, attempts }) => status === 'success' && attempts[0]?.steps.length === 5,
      ).length

    it('finish the runs of a worker that was killed in a step, in less than 5 s', async () => {
      writeChain(0.3)
      await startBoth()
      const plan = await planOf(project, 'five')
      const runs = Array.from({ length: 10 }, async (_, index) =>
        runOn(server, requestFor(plan, `killed${index}`)),
      )
      await eventually(() => (count(executions) >= 30 ? true : undefined), 'the third steps run')
      const [victim] = workers
      const killedAt = performance.now()
      victim?.kill('SIGKILL')
      const results = await Promise.all(runs)
      const took = performance.now() - killedAt
      expect(good(results)).toBe(10)
      const twice = repeated()
      expectRepeatedBy(twice, workers[1])
      expect(took).toBeLessThan(5000)
      figures.push(
        `worker killed: 10 of 10 runs finished ${(took / 1000).toFixed(1)} s later (up to 0.9 s of work left), ${twice.length} steps executed again`,
      )
    })

    it('execute 500 chains of 5 steps, with one result for each step and no second execution', async () => {
      project.write('quick', { run: note })
      project.write('five', { metadata: ['chain: "quick quick quick quick quick"'] })
      await startBoth()
      const plan = await planOf(project, 'five')
      const from = performance.now()
      const results = await inParallel(500, 25, async (index) =>
        runOn(server, requestFor(plan, `many${index}`)),
      )
      const took = performance.now() - from
      expect(good(results)).toBe(500)
      const all = executions()
      expect(all).toHaveLength(2500)
      expect(repeated()).toEqual([])
      const shares = workers.map(({ pid }) => all.filter(({ worker }) => worker === pid).length)
      expect(Math.min(...shares)).toBeGreaterThan(0)
      figures.push(
        `500 chains of 5 steps: 2,500 results, 0 executed again, shares ${shares.join(' and ')}, ${(took / 1000).toFixed(1)} s`,
      )
    })

    it('execute 500 chains although one worker is killed in the middle', async () => {
      project.write('quick', { run: `${note}; sleep 0.05` })
      project.write('five', { metadata: ['chain: "quick quick quick quick quick"'] })
      await startBoth()
      const plan = await planOf(project, 'five')
      const [victim] = workers
      const results = await inParallel(500, 25, async (index) => {
        if (index === 200) victim?.kill('SIGKILL')
        return await runOn(server, requestFor(plan, `dying${index}`))
      })
      expect(good(results)).toBe(500)
      const twice = repeated()
      const all = executions()
      expect(new Set(all.map(({ key }) => key)).size).toBe(2500)
      // At most one step of each run that it had was under way.
      expect(twice.length).toBeLessThanOrEqual(25)
      expectRepeatedBy(twice, workers[1])
      figures.push(
        `500 chains, a worker killed in the middle: 2,500 results, ${twice.length} executed again, each of them first on the dead worker`,
      )
    })

    it('continue after the server was killed and started again', async () => {
      writeChain(0.3)
      await startBoth()
      const plan = await planOf(project, 'five')
      const run = runOn(server, requestFor(plan, 'restarted'))
      await eventually(() => (count(executions) >= 3 ? true : undefined), 'the third step runs')
      await server.kill()
      const from = performance.now()
      await server.restart()
      expect(good([await run])).toBe(1)
      const twice = repeated()
      expect(twice.length).toBeLessThanOrEqual(1)
      figures.push(
        `server killed and started again: finished ${((performance.now() - from) / 1000).toFixed(1)} s later (up to 0.9 s of work left), ${twice.length} step executed again`,
      )
    })

    it('are called again until they have started', async () => {
      writeChain(0)
      await startBoth()
      const plan = await planOf(project, 'five')
      for (const worker of workers) worker.kill('SIGKILL')
      await Promise.all(workers.map(async (worker) => await worker.ended))
      workers = []
      const run = runOn(server, requestFor(plan, 'slow'))
      await sleep(3000)
      await startBoth()
      expect(good([await run])).toBe(1)
      expect(repeated()).toEqual([])
      figures.push('workers 3 s late: finished, 0 executed again')
    })

    it('cause no second effect if a skill uses its idempotency key', async () => {
      // The effect is bound to the key: a second execution finds it done, and says the same.
      const pay =
        'f="effects/$(echo "$SKILLRAIL_IDEMPOTENCY_KEY" | tr / _)"; if mkdir "$f" 2>/dev/null; then echo paid >> ledger; fi; sleep 0.6; echo paid'
      project.write('pay', { run: `${note}; ${pay}` })
      project.write('pays', { metadata: ['chain: "pay pay pay"'] })
      await startBoth()
      const plan = await planOf(project, 'pays')
      const run = runOn(server, requestFor(plan, 'paying'))
      const second = await eventually(
        () => (count(executions) >= 2 ? executions()[1] : undefined),
        'the second payment runs',
      )
      await sleep(200)
      workers.find(({ pid }) => pid === second.worker)?.kill('SIGKILL')
      expect((await run).status).toBe('success')
      expect(repeated()).toHaveLength(1)
      expect(readFileSync(join(project.directory, 'ledger'), 'utf8')).toBe('paid\npaid\npaid\n')
      figures.push('idempotent payments, worker killed in the second: 4 executions, 3 effects')
    })

    /** What ran on the dead worker, and nothing else, was executed again, once, by the other. */
    function expectRepeatedBy(keys: readonly string[], survivor: WorkerProcess | undefined): void {
      expect(new Set(keys).size).toBe(keys.length)
      for (const key of keys) {
        const by = executions().filter((execution) => execution.key === key)
        expect(by.map(({ worker }) => worker === survivor?.pid)).toEqual([false, true])
      }
    }
  },
)

function count(executions: () => unknown[]): number {
  try {
    return executions().length
  } catch {
    return 0
  }
}

async function inParallel<T>(
  count: number,
  limit: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  let next = 0
  await Promise.all(
    Array.from({ length: limit }, async () => {
      while (next < count) {
        const index = next++
        results[index] = await work(index)
      }
    }),
  )
  return results
}
