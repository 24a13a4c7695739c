import { existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Server } from '../../dev/restate.mjs'
import { isChain, type PlannedStep } from '../../src/chain/plan-model.ts'
import { makeProject, type TestProject } from '../chain/_project.ts'
import { type Balancer, hasBalancer, startBalancer } from './_balancer.ts'
import { freePorts, onServer, ownServer, startWorkerOf, type WorkerProcess } from './_fleet.ts'
import { planOf, requestFor, runOn } from './_requests.ts'

describe('without a server', () => {
  const project = makeProject({ one: { run: 'echo 1' } })
  afterAll(() => project.remove())

  async function runAt(url: string): Promise<{ code: number | null; error?: { code: string } }> {
    const [adminPort] = await freePorts(1)
    const server = onServer({ url, adminUrl: `http://127.0.0.1:${adminPort}` })
    const { code, stdout } = await project.cli(['run', 'one', '--json', ...server])
    return { code, error: JSON.parse(stdout).error }
  }

  it('a run reports that no server answers, and leaves no state behind', async () => {
    const [port] = await freePorts(1)
    const { code, error } = await runAt(`http://127.0.0.1:${port}`)
    expect([code, error?.code]).toEqual([1, 'restate-away'])
    expect(await runsOf(project)).toEqual([])
  })

  it('runs resume and runs retry name the server of a run that may have accepted it', async () => {
    const failing = createServer((_request, response) => response.writeHead(503).end('{}'))
    const [port] = await freePorts(1)
    await new Promise<void>((resolve) => {
      failing.listen(port, '127.0.0.1', resolve)
    })
    const url = `http://127.0.0.1:${port}`
    const { code } = await runAt(url)
    failing.closeAllConnections()
    await new Promise((resolve) => void failing.close(resolve))
    expect(code).toBe(1)
    const runs = await runsOf(project)
    expect(runs).toHaveLength(1)
    for (const verb of ['resume', 'retry']) {
      const answer = await project.cli(['runs', verb, runs[0]?.runId ?? '', '--json'])
      const { error } = JSON.parse(answer.stdout)
      expect([answer.code, error?.code]).toEqual([1, 'restate-away'])
      expect(error.message).toContain(url)
    }
    expect((await runsOf(project)).map(({ runId }) => runId)).toContain(runs[0]?.runId)
  })

  it('an unknown engine is a usage error', async () => {
    const { code, stderr } = await project.cli(['run', 'one', '--engine', 'temporal'])
    expect(code).toBe(2)
    expect(stderr).toContain('allowed: journal, restate')
  })

  it('doctor reports that the server does not answer', async () => {
    const [port] = await freePorts(1)
    const url = `http://127.0.0.1:${port}`
    const { code, stdout } = await project.cli([
      'doctor',
      '--json',
      ...onServer({ url, adminUrl: url }),
    ])
    expect(code).toBe(1)
    expect(JSON.parse(stdout).checks).toContainEqual(
      expect.objectContaining({ name: 'restate server', status: 'problem' }),
    )
  })
})

describe('with a server', () => {
  let server: Server
  let project: TestProject
  let worker: WorkerProcess | undefined

  beforeAll(async () => {
    server = await ownServer()
    project = makeProject({ one: { run: 'echo 1' }, two: { run: 'echo 2' } })
  })
  afterAll(async () => {
    worker?.kill('SIGTERM')
    await worker?.ended
    await server.stop()
    server.cleanUp()
    project.remove()
  })

  async function run(...args: string[]): Promise<{ code: number | null; answer: RunJson }> {
    const { code, stdout } = await project.cli(['run', ...args, '--json', ...onServer(server)])
    return { code, answer: JSON.parse(stdout) }
  }

  it('but no worker, a run and doctor report the missing worker', async () => {
    const { code, answer } = await run('one')
    expect(code).toBe(1)
    expect(answer.error).toMatchObject({ code: 'restate-no-worker' })
    const doctor = await project.cli(['doctor', '--json', ...onServer(server)])
    expect(doctor.code).toBe(1)
    expect(JSON.parse(doctor.stdout).checks).toContainEqual(
      expect.objectContaining({ name: 'registration', status: 'problem' }),
    )
    worker = await startWorkerOf(project, { server, env: { SKILLRAIL_RESTATE_PATIENCE: '2' } })
    expect((await run('one')).code).toBe(0)
  })

  it('doctor reports no problem with the server, the registration and the worker', async () => {
    const { code, stdout } = await project.cli(['doctor', '--json', ...onServer(server)])
    expect(code).toBe(0)
    const checks: { name: string; status: string }[] = JSON.parse(stdout).checks
    const names = ['restate sdk', 'restate server', 'restate ingress', 'registration', 'worker']
    expect(checks.filter(({ name }) => names.includes(name))).toEqual(
      names.map((name) => expect.objectContaining({ name, status: 'ok' })),
    )
  })

  it('doctor warns about a worker with other skills than this project', async () => {
    const other = makeProject({ one: { run: 'echo another' } })
    try {
      const { stdout } = await other.cli(['doctor', '--json', ...onServer(server)])
      expect(JSON.parse(stdout).checks).toContainEqual(
        expect.objectContaining({
          name: 'worker',
          status: 'warning',
          found: expect.stringContaining('it has other versions of one, or none'),
        }),
      )
    } finally {
      other.remove()
    }
  })

  it('two plans with one run ID are distinguished', async () => {
    await runOn(server, requestFor(await planOf(project, 'one'), 'same'))
    await expect(runOn(server, requestFor(await planOf(project, 'two'), 'same'))).rejects.toThrow(
      'the server has another run under the id same',
    )
  })

  it('a run of a newer Skillrail fails after its time limit, and reports the reason', async () => {
    const request = requestFor(await planOf(project, 'one'), 'newer', { version: 99 })
    await expect(runOn(server, request)).rejects.toThrow('the run needs version 99')
  })

  it('a request that was not written by Skillrail is refused, and touches no file', async () => {
    const request = requestFor(await planOf(project, 'one'), '../../../elsewhere')
    const response = await fetch(`${server.url}/skillrail/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
    expect(await response.text()).toContain('is not a run ID')
  })

  it('a step that no worker has fails after its time limit', async () => {
    project.write('gone', { run: 'echo gone' })
    project.write('needs', { metadata: ['chain: "one gone"'] })
    const plan = await planOf(project, 'needs')
    project.write('gone', { run: 'echo other' })
    const result = await runOn(server, requestFor(plan, 'missing'))
    expect(result.attempts[0]?.steps).toMatchObject([
      { status: 'success' },
      { status: 'failure', errors: [{ code: 'no-worker' }] },
    ])
    expect(result.attempts[0]?.steps[1]?.errors[0]?.message).toContain(
      'no worker has this version of the skill',
    )
  })

  it('a step whose files no worker can provide also fails after its time limit, with the reason', async () => {
    const inTheWay = 'd=$(dirname "$SKILLRAIL_STATE"); rm -r "$d"; echo > "$d"'
    project.write('fills', { run: inTheWay })
    project.write('starved', { run: 'echo starved >> log' })
    project.write('full', { metadata: ['chain: "fills starved"'] })
    const { answer } = await run('full')
    expect(answer.attempts[0]?.steps).toMatchObject([
      { status: 'success' },
      { status: 'failure', errors: [{ code: 'no-worker' }] },
    ])
    expect(answer.attempts[0]?.steps[1]?.errors[0]?.message).toMatch(
      /^the step starved could not be started: its files in .* cannot be written: /,
    )
    expect(project.log()).not.toContain('starved')
  })

  it('a path outside the project is not executed, whoever requests it', async () => {
    const other = makeProject({ evil: { run: 'echo evil' } })
    try {
      const plan = await planOf(other, 'evil')
      const [step] = plan.root.steps
      if (step === undefined) throw new Error('the plan has no step')
      const path = join(other.directory, '.skillrail/skills/evil/SKILL.md')
      const root = { ...plan.root, steps: [{ ...step, path }] }
      const result = await runOn(server, requestFor({ ...plan, root }, 'evil'))
      expect(result.status).toBe('failure')
      expect(result.attempts[0]?.steps[0]?.result).toBe(
        'the skill evil is not trusted on this worker',
      )
    } finally {
      other.remove()
    }
  })

  it('a step that names another way of execution than its skill is not executed', async () => {
    const plan = await planOf(project, 'one')
    const [step] = plan.root.steps
    if (step === undefined || isChain(step)) throw new Error('the plan has no step')
    const ways = [
      { ...step, script: 'scripts/other.sh' },
      { ...step, executor: 'model' as const, model: 'openai:x' },
      { ...step, executor: 'agent' as const, client: 'claude' },
    ]
    const results = await Promise.all(
      ways.map(async (way, index) =>
        runOn(server, requestFor({ ...plan, root: { ...plan.root, steps: [way] } }, `way${index}`)),
      ),
    )
    const errors = results.map(({ attempts }) => attempts[0]?.steps[0]?.errors[0]?.message)
    expect(errors[0]).toContain('is not executed as the run says')
    expect(errors[1]).toContain('only when it is started with --model openai:x')
    expect(errors[2]).toContain('only when it is started with --via claude')
  })

  it('a script that may run only in a sandbox is not executed, whatever the run contains about it', async () => {
    const { directory } = project
    const script = { run: `touch ${directory}/ran` }
    project.write('confined', { metadata: ['sandbox: "true"'], ...script })
    project.write('judged', { metadata: ['sandbox: "true"'], verify: script.run, run: 'echo 1' })
    for (const name of ['confined', 'judged']) {
      const plan = await planOf(project, name)
      const [step] = plan.root.steps
      if (step === undefined) throw new Error('the plan has no step')
      expect(step.sandboxed).toBe(true)
      const unaware = {
        ...plan,
        root: { ...plan.root, steps: [{ ...step, sandboxed: undefined }] },
      }
      for (const [index, sent] of [plan, unaware].entries()) {
        const result = await runOn(server, requestFor(sent, `${name}${index}`))
        expect(result.attempts[0]?.steps).toMatchObject([
          { status: 'failure', errors: [{ code: 'sandbox-missing' }] },
        ])
      }
    }
    expect(existsSync(join(directory, 'ran'))).toBe(false)
  })

  it('a verification outside the project is not executed either', async () => {
    const other = makeProject({
      inner: { run: 'echo 1' },
      judged: { metadata: ['chain: "inner"'], verify: `touch ${project.directory}/judged` },
      outer: { metadata: ['chain: "judged"'] },
    })
    try {
      const plan = await planOf(other, 'outer')
      const place = (step: PlannedStep): PlannedStep => {
        const path = join(other.directory, '.skillrail/skills', step.skill, 'SKILL.md')
        return isChain(step) ? { ...step, path, steps: [] } : { ...step, path }
      }
      const root = { ...plan.root, steps: plan.root.steps.map((step) => place(step)) }
      const result = await runOn(server, requestFor({ ...plan, root }, 'judged'))
      expect(result.attempts[0]?.steps).toMatchObject([
        { status: 'failure', errors: [{ code: 'skill-not-trusted' }] },
      ])
      expect(existsSync(join(project.directory, 'judged'))).toBe(false)
    } finally {
      other.remove()
    }
  })

  it('a result over the limit fails its step, not the run', async () => {
    const script = `node -e 'process.stdout.write(JSON.stringify({status:"success",result:"x".repeat(${4 * 1024 * 1024})}))' > "$SKILLRAIL_OUTPUT"`
    project.write('large', { run: script })
    project.write('larges', { metadata: ['chain: "large one"'] })
    const { answer } = await run('larges')
    expect(answer.attempts[0]?.steps.map(({ status }) => status)).toEqual(['failure', 'success'])
  })

  it('the limit of results is a worker setting, and the error for a result over it explains the fix', async () => {
    worker?.kill('SIGTERM')
    await worker?.ended
    const env = { SKILLRAIL_RESTATE_RESULT_LIMIT: '2048', SKILLRAIL_RESTATE_PATIENCE: '2' }
    worker = await startWorkerOf(project, { server, port: worker?.port, env })
    project.write('long', { run: 'head -c 3000 /dev/zero | tr "\\0" x' })
    const { code, answer } = await run('long')
    expect(code).toBe(1)
    expect(answer.attempts[0]?.steps[0]?.errors).toMatchObject([
      { code: 'result-too-large', message: expect.stringContaining('write it to a file') },
    ])
  })

  it('artifacts need a directory that workers share, which then also contains the logs', async () => {
    const shared = join(project.directory, '../shared')
    project.write('gives', {
      run: 'echo logged; echo big > "$SKILLRAIL_SCRATCH/big"; echo \'{"status":"success","artifacts":["big"]}\' > "$SKILLRAIL_OUTPUT"',
    })
    project.write('takes', { run: 'cat "$SKILLRAIL_SCRATCH/big"' })
    project.write('files', { metadata: ['chain: gives takes'] })
    const alone = await run('gives')
    expect(alone.answer.attempts[0]?.steps[0]?.errors).toMatchObject([
      { code: 'artifact-unusable', message: expect.stringContaining('restate.scratch') },
    ])
    worker?.kill('SIGTERM')
    await worker?.ended
    const env = { SKILLRAIL_RESTATE_SCRATCH: shared, SKILLRAIL_RESTATE_PATIENCE: '2' }
    worker = await startWorkerOf(project, { server, port: worker?.port, env })
    const { answer } = await run('files')
    expect(answer.attempts[0]?.steps.map(({ result }) => result)).toEqual(['', 'big'])
    expect(answer.attempts[0]?.steps[0]?.artifacts).toEqual(['big'])
    const logs = readdirSync(shared, { recursive: true }).filter((name) =>
      String(name).endsWith('.log'),
    )
    expect(logs).toHaveLength(2)
  })

  it('two plans with one name stay separate, and each run follows its own plan', async () => {
    project.write('named', { metadata: ['chain: "one two"'] })
    const first = await planOf(project, 'named')
    project.write('named', { metadata: ['chain: "two one two"'] })
    const second = await planOf(project, 'named')
    expect(first.skill).toBe(second.skill)
    expect(first.digest).not.toBe(second.digest)
    const results = await Promise.all(
      [first, second].map(async (plan, index) => runOn(server, requestFor(plan, `named${index}`))),
    )
    expect(
      results.map(({ attempts }) => attempts[0]?.steps.map(({ result }) => result).join('')),
    ).toEqual(['12', '212'])
  })

  it('another service at the address of the workers is not registered instead of them', async () => {
    const other = createServer((_request, response) => response.writeHead(404).end())
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve)
    })
    const address = other.address()
    const port = typeof address === 'object' ? address?.port : 0
    const uri = `http://127.0.0.1:${port}`
    const { code, stdout } = await project.cli([
      'runs',
      'worker',
      '--json',
      '--port',
      '0',
      '--register',
      uri,
      '--admin-url',
      server.adminUrl,
    ])
    other.close()
    expect(code).toBe(1)
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'restate-not-registered' })
    expect((await run('one')).code).toBe(0)
  })
})

describe.skipIf(!hasBalancer)(
  'with workers that have half of the skills each, and different clocks',
  () => {
    let server: Server
    let balancer: Balancer
    const halves: TestProject[] = []
    const workers: WorkerProcess[] = []

    beforeEach(async () => {
      const [front, first, second] = await freePorts(3)
      server = await ownServer()
      balancer = startBalancer(front, [first, second])
      for (const [index, port] of [first, second].entries()) {
        const half = makeProject({ [`only${index}`]: { run: `echo from ${index}` } })
        halves.push(half)
        const clockShiftMs = index === 0 ? 0 : -3_600_000
        workers.push(
          await startWorkerOf(half, { port, server, register: balancer.uri, clockShiftMs }),
        )
      }
    })
    afterAll(async () => {
      for (const worker of workers) worker.kill('SIGKILL')
      await Promise.all(workers.map(async (worker) => await worker.ended))
      await balancer.stop()
      await server.stop()
      server.cleanUp()
      for (const half of halves) half.remove()
    })

    it('each step is returned to the server until a worker that has it receives it', async () => {
      const whole = makeProject({
        only0: { run: 'echo from 0' },
        only1: { run: 'echo from 1' },
        both: { metadata: ['chain: "only0 only1 only0 only1"'] },
        above: { metadata: ['chain: "both"'] },
      })
      halves.push(whole)
      const plan = await planOf(whole, 'both')
      for (let index = 0; index < 3; index++) {
        const result = await runOn(server, requestFor(plan, `half${index}`))
        expect(result.attempts[0]?.steps.map(({ result }) => result)).toEqual([
          'from 0',
          'from 1',
          'from 0',
          'from 1',
        ])
      }
      const nested = await runOn(server, requestFor(await planOf(whole, 'above'), 'nested'))
      const [chain] = nested.attempts[0]?.steps ?? []
      expect(chain).toMatchObject({ status: 'success', result: 'from 1' })
      const times = [chain, ...(chain?.steps ?? [])].map((step) => step?.durationMs ?? -1)
      // An hour between the clocks of two workers is not an hour of work, forwards or backwards.
      expect(times.every((time) => time >= 0 && time < 60_000)).toBe(true)
    })
  },
)

async function runsOf(project: TestProject): Promise<{ runId: string }[]> {
  return JSON.parse((await project.cli(['runs', 'list', '--json'])).stdout).runs
}

interface RunJson {
  error?: { code: string }
  attempts: { steps: StepJson[] }[]
}

interface StepJson {
  status: string
  result?: string
  artifacts?: string[]
  errors: { code: string; message: string }[]
}
