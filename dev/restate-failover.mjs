// Two workers behind one address, and one of them is killed in the middle of a step. To record it:
//
//   npm run pictures -- --only restate-failover
//
// Everything is real and on 127.0.0.1: the server, two workers, a balancer of a few lines.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { installServer, startServer } from './restate.mjs'

const bin = fileURLToPath(new URL('../src/cli/bin.ts', import.meta.url))
const ports = { balancer: 19_080, workers: { A: 19_081, B: 19_082 } }
const settings = {
  SKILLRAIL_RESTATE_URL: 'http://127.0.0.1:18080',
  SKILLRAIL_RESTATE_ADMIN_URL: 'http://127.0.0.1:19070',
  SKILLRAIL_WORKSPACE_TRUST: 'trusted',
}
const base = mkdtempSync(join(tmpdir(), 'skillrail-failover-'))
const project = join(base, 'project')
const steps = ['fetch', 'build', 'test', 'package', 'publish']
const workers = {}
let clean = async () => undefined

try {
  await main()
} finally {
  for (const worker of Object.values(workers)) worker.kill('SIGKILL')
  await clean()
  rmSync(base, { recursive: true, force: true })
}

async function main() {
  writeProject()
  const server = await startServer({
    binary: installServer(),
    ingressPort: 18_080,
    adminPort: 19_070,
    nodePort: 15_122,
  })
  const balancer = startBalancer()
  clean = async () => {
    balancer.close()
    await server.stop()
    server.cleanUp()
  }
  const address = `http://127.0.0.1:${ports.balancer}`
  for (const [name, port] of Object.entries(ports.workers)) {
    say(`skillrail runs worker --port ${port} --register ${address}    # worker ${name}`)
    workers[name] = skillrail(
      ['runs', 'worker', '--port', `${port}`, '--register', address],
      'pipe',
    )
    await once(workers[name].stderr, 'data')
  }
  await registered(server)
  say('skillrail run release --engine restate')
  const run = skillrail(['run', 'release', '--engine', 'restate'], 'inherit')
  const pid = await untilStep(3)
  const victim = Object.keys(workers).find((name) => workers[name].pid === pid)
  await sleep(400)
  workers[victim].kill('SIGKILL')
  console.log(`\n# worker ${victim} executes step 3 and is killed now (kill -9)`)
  const [code] = await once(run, 'exit')
  console.log(`\n# exit code ${code}; which worker executed what:`)
  for (const line of executed()) {
    const name = Object.keys(workers).find((worker) => workers[worker].pid === line.worker)
    console.log(`#   ${line.step.padEnd(8)} by worker ${name}`)
  }
  process.exitCode = code ?? 1
}

function writeProject() {
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(join(base, 'home'))
  for (const step of steps) {
    writeSkill(step, '')
    const script = join(project, '.skillrail/skills', step, 'scripts/run.sh')
    mkdirSync(join(script, '..'))
    const text = `#!/bin/sh\necho "${step} $PPID" >> executed\nsleep 1\necho "${step}: done"\n`
    writeFileSync(script, text, { mode: 0o755 })
  }
  writeSkill('release', `metadata:\n  chain: "${steps.join(' ')}"\n`)
}

function writeSkill(name, fields) {
  const directory = join(project, '.skillrail/skills', name)
  mkdirSync(directory, { recursive: true })
  const head = `name: ${name}\ndescription: Does ${name}. Use when releasing.\n${fields}`
  writeFileSync(join(directory, 'SKILL.md'), `---\n${head}---\nDo ${name}.\n`)
}

function skillrail(args, output) {
  return spawn(process.execPath, ['--no-warnings', bin, ...args], {
    cwd: project,
    env: { ...process.env, ...settings, HOME: join(base, 'home') },
    stdio: ['ignore', output, output],
  })
}

/** Gives each connection to the next worker that answers. */
function startBalancer() {
  let turn = 0
  const targets = Object.values(ports.workers)
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    forward(socket, turn++, targets.length)
  })
  function forward(socket, index, left) {
    const target = connect(targets[index % targets.length], '127.0.0.1')
    target.on('connect', () => {
      socket.pipe(target).pipe(socket)
      target.removeAllListeners('error')
      target.on('error', () => socket.destroy())
      target.on('close', () => socket.destroy())
      socket.on('close', () => target.destroy())
    })
    target.on('error', () => {
      if (left > 1) forward(socket, index + 1, left - 1)
      else socket.destroy()
    })
  }
  return server.listen(ports.balancer, '127.0.0.1')
}

async function registered({ adminUrl }) {
  while (!(await fetch(`${adminUrl}/services/skillrail`)).ok) await sleep(100)
}

/** The worker that begins the step with this number. */
async function untilStep(number) {
  for (;;) {
    const line = executed()[number - 1]
    if (line !== undefined) return line.worker
    await sleep(50)
  }
}

function executed() {
  const file = join(project, 'executed')
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => ({ step: line.split(' ')[0] ?? '', worker: Number(line.split(' ')[1]) }))
}

function say(command) {
  console.log(`$ ${command}`)
}
