// Measures chains against make, a loop with execa, nx, and bare appends to a file. CPU is that of
// whole processes with their children; the runners take turns, and the median of the ratios of each
// round is printed. ROUNDS sets the rounds (default 7).
import { execFileSync, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { cachedPackages } from '../cached-packages.mjs'

const peers = cachedPackages('bench', { execa: '9.6.1', nx: '24.0.6' })
// Node parses this file at every start, which hides what is measured.
delete process.env.NODE_EXTRA_CA_CERTS
const rounds = Number(process.env.ROUNDS ?? 7)
const count = 100
const root = fileURLToPath(new URL('../..', import.meta.url))
const built = existsSync(join(root, 'dist/cli/bin.cjs'))
const bin = join(root, built ? 'dist/cli/bin.cjs' : 'src/cli/bin.ts')
const base = mkdtempSync(join(tmpdir(), 'skillrail-bench-'))
process.env.SKILLRAIL_STATE_DIRECTORY = join(base, 'state')

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

/** The same scripts as targets of nx, each after the one before it; nothing is taken from its cache. */
function makeNx() {
  if (peers === undefined || !existsSync(join(peers, 'node_modules/nx'))) return undefined
  const scripts = Array.from(
    { length: count },
    (_, index) => `.skillrail/skills/s${index}/scripts/run.sh`,
  )
  const targets = scripts.map((command, index) => [
    `s${index}`,
    {
      executor: 'nx:run-commands',
      cache: false,
      options: { command },
      dependsOn: index === 0 ? [] : [`s${index - 1}`],
    },
  ])
  mkdirSync(join(base, 'all'))
  symlinkSync(join(peers, 'node_modules'), join(base, 'node_modules'))
  writeFileSync(join(base, 'package.json'), '{ "name": "bench", "private": true }')
  writeFileSync(join(base, 'nx.json'), '{ "analytics": false, "neverConnectToCloud": true }')
  const project = { name: 'all', targets: Object.fromEntries(targets) }
  writeFileSync(join(base, 'all/project.json'), JSON.stringify(project))
  Object.assign(process.env, { NX_DAEMON: 'false', NX_NO_CLOUD: 'true', NX_TUI: 'false', CI: '1' })
  return ['run', `all:s${count - 1}`, '--parallel=1']
}

/** The scripts as those of packages that depend on each other: what nx finds in a workspace by itself. */
function makeNxPackages() {
  const workspace = join(base, 'packages-of-nx')
  const manifest = (folder, value) => {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), JSON.stringify(value))
  }
  manifest(workspace, { name: 'bench', private: true, workspaces: ['packages/*'] })
  for (let index = 0; index < count; index++) {
    manifest(join(workspace, `packages/s${index}`), {
      name: `s${index}`,
      version: '1.0.0',
      scripts: { go: join(base, `.skillrail/skills/s${index}/scripts/run.sh`) },
      dependencies: index === 0 ? {} : { [`s${index - 1}`]: '1.0.0' },
    })
  }
  const settings = { analytics: false, neverConnectToCloud: true }
  const targetDefaults = { go: { dependsOn: ['^go'], cache: false } }
  writeFileSync(join(workspace, 'nx.json'), JSON.stringify({ ...settings, targetDefaults }))
  symlinkSync(join(peers, 'node_modules'), join(workspace, 'node_modules'))
  return { cwd: workspace, args: ['run-many', '-t', 'go', '--parallel=1'] }
}

/** CPU of a command and all its children, in ms. Throws where it fails. */
function cpu(file, args, cwd = base) {
  const script = 'T=$( { TIMEFORMAT="%U %S"; time "$0" "$@" >/dev/null 2>&1; } 2>&1 ) && echo "$T"'
  const text = execFileSync('bash', ['-c', script, file, ...args], { cwd, encoding: 'utf8' })
  const [user, system] = text.trim().split(' ').map(Number)
  return (user + system) * 1000
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

function scripts() {
  const node = process.execPath
  const nx = makeNx()
  const runners = {
    make: () => cpu('make', ['-s', '-j1']),
    skillrail: () =>
      cpu(node, ['--no-warnings', bin, 'run', 'all', '--quiet', '--json', '--trust-workspace']),
    ...(peers === undefined ? {} : { execa: () => cpu(node, ['execa.mjs']) }),
    ...(nx === undefined ? {} : { nx: () => cpu(join(peers, 'node_modules/.bin/nx'), nx) }),
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
  if (nx === undefined) return
  const own = median(samples.skillrail)
  console.log(`  nx, one project: ${(median(samples.nx) / own).toFixed(1)} x skillrail`)
  const packages = makeNxPackages()
  const once = cpu(join(peers, 'node_modules/.bin/nx'), packages.args, packages.cwd)
  console.log(`  nx, scripts of packages, once: ${(once / own).toFixed(0)} x skillrail`)
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
  const { systemRuntime } = await load('core/runtime')
  const chain = { ...(await load('chain/run-store')), ...(await load('chain/run-chain')) }
  const { defaultChainPolicy } = await load('skill/declarations')
  const steps = 200
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
  // The digest of a file that is not there is part of the plan, so that nothing counts as changed.
  const { skillDigest } = await load('chain/lookup')
  for (const step of plan.root.steps) step.digest = skillDigest(join(base, 's'), ['SKILL.md'])
  const output = { status: 'success', result: '', errors: [], metrics: {}, evidence: 'exit-code' }
  const world = {
    runtime: systemRuntime(),
    workspace: base,
    store: chain.openRunStore(base, {
      runtime: systemRuntime(),
      settings: { state: { directory: join(base, 'state') } },
    }),
    settings: { environment: [], timeout: 0, outputLimit: 1024 },
    executors: [{ kind: 'model', execute: async () => ({ kind: 'output', output }) }],
  }
  const bare = (records, each) => {
    const line = `${JSON.stringify({ type: 'done', key: '1:s1', outcome: { kind: 'finished', output, startedAt: 0, durationMs: 0 } })}\n`
    const file = openSync(join(base, 'bare.jsonl'), 'a')
    const from = performance.now()
    for (let index = 0; index < records; index += each) {
      writeSync(file, line.repeat(each))
      fdatasyncSync(file)
    }
    closeSync(file)
    return performance.now() - from
  }
  const run = async () => {
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
    return performance.now() - from
  }
  // A disk that others use too is fast and slow in turns: many short rounds, and their median.
  const samples = []
  for (let round = 0; round < rounds * 4; round++) {
    samples.push({ engine: await run(), each: bare(steps * 2, 1), pairs: bare(steps * 2, 2) })
  }
  const ratio = (name) => median(samples.map((sample) => sample.engine / sample[name])).toFixed(2)
  console.log(
    `${steps} journaled no-op steps (start and done): ${median(samples.map((sample) => sample.engine)).toFixed(0)} ms, ` +
      `${ratio('each')} x bare appends of as many records, ${ratio('pairs')} x those written in pairs`,
  )
}

function resume() {
  const node = process.execPath
  const skillrail = (...args) =>
    spawnSync(node, ['--no-warnings', bin, '--trust-workspace', ...args], {
      cwd: base,
      encoding: 'utf8',
      timeout: 1_500,
      killSignal: 'SIGKILL',
    })
  const times = []
  for (let round = 0; round < rounds; round++) {
    rmSync(join(base, 'state'), { recursive: true, force: true })
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
