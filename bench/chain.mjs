// Measures chains: `node bench/chain.mjs [peers]` where `peers` is a directory whose node_modules
// holds execa. CPU is that of whole processes with their children; the runners take
// turns, and the median of the ratios of each round is printed.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const peers = process.argv[2]
const rounds = Number(process.env.ROUNDS ?? 7)
const count = 100
const root = fileURLToPath(new URL('..', import.meta.url))
const built = existsSync(join(root, 'dist/cli/bin.cjs'))
const bin = join(root, built ? 'dist/cli/bin.cjs' : 'src/cli/bin.ts')
const base = mkdtempSync(join(tmpdir(), 'skillrail-bench-'))

function makeSkills() {
  const skills = join(base, '.skillrail/skills')
  mkdirSync(join(base, '.git'), { recursive: true })
  const names = Array.from({ length: count }, (_, index) => `s${index}`)
  for (const name of names) {
    mkdirSync(join(skills, name, 'scripts'), { recursive: true })
    writeFileSync(
      join(skills, name, 'SKILL.md'),
      `---\nname: ${name}\ndescription: Does nothing. Use when measuring.\n---\nNothing.\n`,
    )
    writeFileSync(join(skills, name, 'scripts/run.sh'), '#!/bin/bash\nexit 0\n', { mode: 0o755 })
  }
  mkdirSync(join(skills, 'all'))
  writeFileSync(
    join(skills, 'all/SKILL.md'),
    `---\nname: all\ndescription: Runs them. Use when measuring.\nmetadata:\n  chain: "${names.join(' ')}"\n---\n`,
  )
  const targets = names.map((name) => `${name}:\n\t@.skillrail/skills/${name}/scripts/run.sh`)
  writeFileSync(
    join(base, 'Makefile'),
    `.PHONY: all ${names.join(' ')}\nall: ${names.join(' ')}\n${targets.join('\n')}\n`,
  )
  const scripts = names.map((name) => join(skills, name, 'scripts/run.sh'))
  writeFileSync(join(base, 'scripts.json'), JSON.stringify(scripts))
  if (peers !== undefined) {
    const execa = pathToFileURL(join(peers, 'node_modules/execa/index.js')).href
    writeFileSync(
      join(base, 'execa.mjs'),
      `import { readFileSync } from 'node:fs'
import { execa } from '${execa}'
for (const script of JSON.parse(readFileSync('scripts.json', 'utf8'))) await execa(script)
`,
    )
  }
}

/** CPU of a command and all its children, in ms. */
function cpu(file, args) {
  const script = 'T=$( { TIMEFORMAT="%U %S"; time "$0" "$@" >/dev/null 2>&1; } 2>&1 ); echo "$T"'
  const text = execFileSync('bash', ['-c', script, file, ...args], { cwd: base, encoding: 'utf8' })
  const [user, system] = text.trim().split(' ').map(Number)
  return (user + system) * 1000
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

function scripts() {
  const node = process.execPath
  const runners = {
    make: () => cpu('make', ['-s', '-j1']),
    skillrail: () =>
      cpu(node, ['--no-warnings', bin, 'run', 'all', '--quiet', '--json', '--trust-workspace']),
    ...(peers === undefined ? {} : { execa: () => cpu(node, ['execa.mjs']) }),
  }
  const samples = Object.fromEntries(Object.keys(runners).map((name) => [name, []]))
  for (const run of Object.values(runners)) run()
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(runners)) samples[name].push(run())
  }
  console.log(`${count} trivial scripts, CPU (${built ? 'built' : 'source'}), ${rounds} rounds`)
  for (const [name, values] of Object.entries(samples)) {
    const ratio = median(values.map((value, round) => value / samples.make[round]))
    console.log(
      `  ${name.padEnd(10)} ${median(values).toFixed(0).padStart(5)} ms  ${ratio.toFixed(2)} x make`,
    )
  }
}

const load = (path) => import(pathToFileURL(join(root, `src/${path}.ts`)).href)

const task = (index) => ({
  step: `s${index}`,
  skill: 's',
  path: 's/SKILL.md',
  trust: 'trusted',
  digest: '',
  tokens: 1,
  executor: 'model',
})

async function journal() {
  const { systemRuntime } = await load('base/index')
  const chain = await load('chain/index')
  const steps = 1000
  const plan = {
    skill: 'noop',
    digest: 'x',
    root: {
      ...task(0),
      step: '',
      executor: 'chain',
      policy: chain.defaultPolicy,
      steps: Array.from({ length: steps }, (_, index) => task(index)),
    },
  }
  // The digest of a file that is not there is part of the plan, so that nothing counts as changed.
  const { skillDigest } = await load('chain/skill-digest')
  for (const step of plan.root.steps) step.digest = skillDigest(join(base, 's'), ['SKILL.md'])
  const output = { status: 'success', result: '', errors: [], metrics: {}, evidence: 'exit-code' }
  const world = {
    runtime: systemRuntime(),
    workspace: base,
    store: chain.openRunStore(base),
    settings: { environment: [], timeout: 0, outputLimit: 1024 },
    executors: [{ kind: 'model', execute: async () => ({ kind: 'output', output }) }],
  }
  const ratios = []
  let engine = 0
  let bare = 0
  for (let round = 0; round < rounds; round++) {
    const from = performance.now()
    await chain.startRun(
      {
        plan,
        arguments: [],
        mode: 'run',
        request: { directory: 's', set: [] },
        requireVerified: false,
      },
      world,
    )
    engine = performance.now() - from
    const file = openSync(join(base, 'bare.jsonl'), 'a')
    const line = `${JSON.stringify({ type: 'done', key: '1:s1', outcome: { kind: 'finished', output, startedAt: 0, durationMs: 0 } })}\n`
    const start = performance.now()
    for (let index = 0; index < steps * 2; index++) {
      writeSync(file, line)
      fdatasyncSync(file)
    }
    bare = performance.now() - start
    closeSync(file)
    ratios.push(engine / bare)
  }
  console.log(
    `${steps} journaled no-op steps: ${engine.toFixed(0)} ms, bare appends of as many records ${bare.toFixed(0)} ms, ratio ${median(ratios).toFixed(2)}`,
  )
}

function resume() {
  const node = process.execPath
  const skillrail = (...args) =>
    spawnSync(node, ['--no-warnings', bin, '--trust-workspace', ...args], {
      cwd: base,
      encoding: 'utf8',
      timeout: 400,
      killSignal: 'SIGKILL',
    })
  const times = []
  for (let round = 0; round < rounds; round++) {
    rmSync(join(base, '.skillrail/runs'), { recursive: true, force: true })
    writeFileSync(join(base, '.skillrail/skills/s99/scripts/run.sh'), '#!/bin/bash\nsleep 3\n', {
      mode: 0o755,
    })
    skillrail('run', 'all')
    const { runs } = JSON.parse(
      spawnSync(node, ['--no-warnings', bin, 'runs', 'list', '--json'], {
        cwd: base,
        encoding: 'utf8',
      }).stdout,
    )
    const before = performance.now()
    const result = JSON.parse(
      spawnSync(
        node,
        ['--no-warnings', bin, '--trust-workspace', 'runs', 'resume', runs[0].runId, '--json'],
        { cwd: base, encoding: 'utf8' },
      ).stdout,
    )
    const wall = performance.now() - before
    const remaining = result.attempts[0].steps
      .slice(runs[0].finishedSteps)
      .reduce((sum, step) => sum + step.durationMs, 0)
    times.push(wall - remaining)
  }
  console.log(`resume after kill -9, beyond the remaining steps: ${median(times).toFixed(0)} ms`)
}

try {
  makeSkills()
  scripts()
  await journal()
  resume()
} finally {
  rmSync(base, { recursive: true, force: true })
}
