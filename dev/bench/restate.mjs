// Measures chains on a Restate server against the bare SDK doing the same: `node dev/bench/restate.mjs`.
// Both are served from one process and take turns; the median of the ratios of each round counts.
// Then a worker as users start it: its memory over 1,000 runs of a chain of scripts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findServer, startServer } from '../restate.mjs'
import { median } from './_measure.mjs'

const rounds = Number(process.env.ROUNDS ?? 7)
const root = fileURLToPath(new URL('../..', import.meta.url))
const load = (path) => import(pathToFileURL(join(root, `src/${path}.ts`)).href)
const base = mkdtempSync(join(tmpdir(), 'skillrail-bench-restate-'))
const ports = { ingressPort: 28_080, adminPort: 29_070, nodePort: 25_122 }
const binary = findServer()

/** What a request says besides its plan. */
const noFacts = {
  version: 1,
  arguments: [],
  requireVerified: false,
  defaultTimeoutMs: 0,
  yesGates: false,
  known: {},
}

/** Lets a worker say what it really holds: memory that is only not yet collected says nothing. */
const probe = `process.on('SIGUSR2', () => {
  globalThis.gc()
  console.error(Math.round(process.memoryUsage().heapUsed / 2 ** 20))
})`
const probed = [
  '--no-warnings',
  '--expose-gc',
  `--import=data:text/javascript,${encodeURIComponent(probe)}`,
]

if (binary === undefined) {
  console.log('skipped: the Restate server is not installed (npm run restate -- --install)')
} else {
  const server = await startServer({ binary, ...ports })
  try {
    await engines(server)
    await memory(server)
  } finally {
    await server.stop()
    server.cleanUp()
    rmSync(base, { recursive: true, force: true })
  }
}

async function engines(server) {
  const sdk = await import('@restatedev/restate-sdk')
  const { systemRuntime } = await load('core/runtime')
  const { defaultChainPolicy } = await load('skill/declarations')
  const { startWorker } = await load('chain/restate/worker')
  const { skillDigest } = await load('chain/lookup')
  mkdirSync(join(base, 's'))
  writeFileSync(join(base, 's/SKILL.md'), '---\nname: s\n---\n')
  const output = { status: 'success', result: '', errors: [], metrics: {}, evidence: 'exit-code' }
  const worker = await startWorker({
    runtime: systemRuntime(),
    workspace: base,
    settings: { environment: [], timeout: 0, outputLimit: 1024 },
    host: '127.0.0.1',
    port: 0,
    accept: () => ({ kind: 'accepted' }),
    report: () => ({ skillrail: '', skills: [] }),
    patienceMs: 1000,
    resultLimit: 2 ** 22,
    identityKeys: [],
    executors: () => [{ kind: 'model', execute: async () => ({ kind: 'output', output }) }],
  })
  const bare = createServer(
    sdk.createEndpointHandler({
      logger: () => undefined,
      services: [
        sdk.service({
          name: 'bare',
          handlers: {
            async run(context, steps) {
              const results = []
              for (let index = 0; index < steps; index++) {
                results.push(await context.run(`s${index}`, async () => output))
              }
              return results
            },
          },
        }),
      ],
    }),
  ).listen(0, '127.0.0.1')
  await once(bare, 'listening')
  for (const { port } of [worker, bare.address()]) await register(server, port)

  const task = (index) => ({
    step: `s${index}`,
    skill: 's',
    path: 's/SKILL.md',
    trust: 'trusted',
    digest: skillDigest(join(base, 's'), ['SKILL.md']),
    tokens: 1,
    executor: 'model',
  })
  let runs = 0
  const ours = async (steps) => {
    const plan = {
      skill: 'noop',
      digest: 'x',
      root: {
        ...task(0),
        step: '',
        executor: 'chain',
        policy: defaultChainPolicy,
        steps: Array.from({ length: steps }, (_, index) => task(index)),
      },
    }
    const runId = `r${runs++}`
    await call(server, 'skillrail/run', { ...noFacts, planDigest: 'x', plan, runId })
  }
  const theirs = async (steps) => await call(server, 'bare/run', steps)

  const cases = {
    '1 run of 200 steps': { steps: 200, work: async (run) => await run(200) },
    '50 runs of 10 steps': {
      steps: 500,
      work: async (run) => await Promise.all(Array.from({ length: 50 }, () => run(10))),
    },
  }
  for (const [name, { steps, work }] of Object.entries(cases)) {
    const times = { ours: [], theirs: [] }
    for (let round = -1; round < rounds; round++) {
      for (const [who, run] of Object.entries({ ours, theirs })) {
        const from = performance.now()
        await work(run)
        if (round >= 0) times[who].push(performance.now() - from)
      }
    }
    const rate = (values) => ((steps / median(values)) * 1000).toFixed(0)
    const ratio = median(times.ours.map((time, round) => time / times.theirs[round]))
    console.log(
      `${name}: ${rate(times.ours)} steps/s, bare SDK ${rate(times.theirs)} steps/s, ratio ${ratio.toFixed(2)}`,
    )
  }
  await worker.close()
  bare.close()
  bare.closeAllConnections?.()
}

async function memory(server) {
  const project = join(base, 'project')
  const skill = join(project, '.skillrail/skills/quick')
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(join(skill, 'scripts'), { recursive: true })
  const head = '---\nname: quick\ndescription: Does nothing. Use when measuring.\n---\n'
  writeFileSync(join(skill, 'SKILL.md'), head)
  writeFileSync(join(skill, 'scripts/run.sh'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  const built = existsSync(join(root, 'dist/cli/bin.cjs'))
  const bin = join(root, built ? 'dist/cli/bin.cjs' : 'src/cli/bin.ts')
  const port = '28999'
  const options = ['--register', `http://127.0.0.1:${port}`, '--admin-url', server.adminUrl]
  const worker = spawn(
    process.execPath,
    [...probed, bin, '--trust-workspace', 'worker', '--quiet', '--port', port, ...options],
    {
      cwd: project,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH, HOME: base },
    },
  )
  const { planRun } = await load('chain/plan')
  const { createDiskLookup } = await load('chain/lookup')
  const { allSteps } = await load('chain/plan-model')
  const lookup = createDiskLookup({
    workspace: project,
    trustOf: () => ({ level: 'trusted', reason: '' }),
  })
  const { plan } = planRun(lookup.load(skill).facts, lookup)
  if (allSteps(plan.root).length !== 1) throw new Error('the skill cannot be planned')
  const request = {
    ...noFacts,
    planDigest: plan.digest,
    plan,
  }
  try {
    await worked(server, port)
    const held = []
    worker.stderr.setEncoding('utf8').on('data', (text) => held.push(text.trim()))
    for (let round = 0; round <= 6; round++) {
      await many(200, 10, async (index) => {
        const runId = `m${round}x${index}`
        const { result } = await call(server, 'skillrail/run', { ...request, runId })
        if (result.status !== 'success') throw new Error(JSON.stringify(result))
      })
      worker.kill('SIGUSR2')
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 500)
    })
    const kilobytes = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))
    const peak = Math.round(Number(kilobytes?.[1]) / 1024)
    console.log(
      `memory of a worker after every 200 runs: ${held.join(', ')} MB held, ${peak} MB resident at most`,
    )
  } finally {
    worker.kill('SIGTERM')
    await once(worker, 'exit')
  }
}

async function register(server, port) {
  const response = await fetch(`${server.adminUrl}/deployments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ uri: `http://127.0.0.1:${port}` }),
  })
  if (!response.ok) throw new Error(await response.text())
}

/** Waits until the server calls the worker at this port. */
async function worked(server, port) {
  for (let round = 0; round < 100; round++) {
    const response = await fetch(`${server.adminUrl}/deployments`)
    if ((await response.text()).includes(`:${port}/`)) return
    await new Promise((resolve) => {
      setTimeout(resolve, 100)
    })
  }
  throw new Error('the worker did not register')
}

async function call(server, path, body) {
  const response = await fetch(`${server.url}/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  })
  if (!response.ok) throw new Error(await response.text())
  return await response.json()
}

async function many(count, limit, work) {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: limit }, lane))
}
