// A Restate server for trying and testing: `npm run restate` starts it on 127.0.0.1, without
// telemetry, in a scratch directory, and ends it whole. Where it is missing it is installed from npm
// into the user's cache (216 MB); it is under the Business Source License 1.1, see docs/scale.md.
//
//   npm run restate [-- --ingress-port 8080 --admin-port 9070 --node-port 5122 --keep DIRECTORY]
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

export const serverVersion = '1.7.12'

/** Without the errors of the server's look for a newer version, which says nothing about a run. */
const logFilter = 'warn,octocrab=off'
const platform = `${process.platform}-${process.arch}`
const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']

if (import.meta.main) await main()

async function main() {
  const { values } = parseArgs({
    options: {
      'ingress-port': { type: 'string', default: '8080' },
      'admin-port': { type: 'string', default: '9070' },
      'node-port': { type: 'string', default: '5122' },
      keep: { type: 'string' },
      install: { type: 'boolean', default: false },
    },
  })
  const binary = installServer()
  if (values.install) return console.log(binary)
  const server = await startServer({
    binary,
    ingressPort: Number(values['ingress-port']),
    adminPort: Number(values['admin-port']),
    nodePort: Number(values['node-port']),
    directory: values.keep,
    output: 'inherit',
  })
  console.log(
    `Restate ${serverVersion}: ingress ${server.url}, admin and web view ${server.adminUrl}/ui`,
  )
  console.log(nextLines(server).join('\n'))
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void server.stop())
  process.exitCode = (await server.ended) === 0 ? 0 : 1
  server.cleanUp()
}

/** What to type next, whole: the addresses too, where they are not the default ones. */
export function nextLines({ url, adminUrl }) {
  const admin = adminUrl === 'http://127.0.0.1:9070' ? '' : ` --admin-url ${adminUrl}`
  const ingress = url === 'http://127.0.0.1:8080' ? '' : ` --url ${url}`
  return [
    'Next, each in a terminal of its own; Ctrl-C ends this server:',
    `  skillrail runs worker --register http://127.0.0.1:9080${admin}`,
    `  skillrail run SKILL --engine restate${ingress}${admin}`,
  ]
}

/** The path of the server's program; undefined where it is not installed. */
export function findServer() {
  const { binary } = placeOfServer()
  return existsSync(binary) ? binary : undefined
}

/** The path of the server's program; installs it where it is missing. */
export function installServer() {
  if (!platforms.includes(platform)) {
    throw new Error(`there is no Restate server for ${platform}, only for ${platforms.join(', ')}`)
  }
  const { directory, name, binary } = placeOfServer()
  if (existsSync(binary)) return binary
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "private": true }\n')
  console.error(`installing ${name}@${serverVersion} (216 MB) into ${directory}`)
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
  const { status } = spawnSync('npm', ['install', ...flags, `${name}@${serverVersion}`], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 600_000,
    shell: process.platform === 'win32',
  })
  if (status !== 0 || !existsSync(binary)) throw new Error(`${name} could not be installed`)
  return binary
}

function placeOfServer() {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const directory = join(cache, 'skillrail', `restate-server-${serverVersion}`)
  // The package of the platform is the program alone; the one above it would bring an install-time
  // reporter, which is not wanted, and a wrapper, which leaves the server behind when it is killed.
  const name = `@restatedev/restate-server-${platform}`
  const binary = join(directory, 'node_modules', name, 'bin', 'restate-server')
  return { directory, name, binary }
}

/**
 * Starts the server and waits until it takes requests. `directory` is kept when it was given.
 * `stop()` ends it in order, `kill()` at once; both wait for its end. `restart()` after either goes
 * on with the same data.
 */
export async function startServer(options) {
  const { binary, ingressPort, adminPort, nodePort, output = 'ignore' } = options
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'skillrail-restate-'))
  const local = (port) => `127.0.0.1:${port}`
  const env = {
    PATH: process.env.PATH,
    HOME: directory,
    RESTATE_BASE_DIR: directory,
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_BIND_ADDRESS: local(nodePort),
    RESTATE_ADVERTISED_ADDRESS: `http://${local(nodePort)}`,
    RESTATE_NODE_NAME: 'skillrail',
    RESTATE_INGRESS__BIND_ADDRESS: local(ingressPort),
    RESTATE_ADMIN__BIND_ADDRESS: local(adminPort),
    RESTATE_LOG_FILTER: process.env.RESTATE_LOG_FILTER ?? logFilter,
    ...options.env,
  }
  let child
  let ended
  const server = {
    url: `http://${local(ingressPort)}`,
    adminUrl: `http://${local(adminPort)}`,
    directory,
    get pid() {
      return child.pid
    },
    get ended() {
      return ended
    },
    async restart() {
      child = spawn(binary, ['--no-logo'], {
        env,
        cwd: directory,
        stdio: ['ignore', output, output],
      })
      // Nothing of ours outlives us, however we end.
      process.once('exit', () => child.kill('SIGKILL'))
      ended = new Promise((resolve) => {
        child.on('exit', (code) => resolve(code))
        child.on('error', () => resolve(1))
      })
      await waitUntilReady(server, ended)
    },
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(timer)
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    cleanUp() {
      if (options.directory === undefined) rmSync(directory, { recursive: true, force: true })
    },
  }
  await server.restart()
  return server
}

async function waitUntilReady(server, ended) {
  const over = ended.then(() => 'over')
  const urls = [`${server.url}/restate/health`, `${server.adminUrl}/health`]
  for (let round = 0; round < 300; round++) {
    const answers = await Promise.allSettled(
      urls.map((url) => fetch(url, { signal: AbortSignal.timeout(2000) })),
    )
    if (answers.every((answer) => answer.status === 'fulfilled' && answer.value.ok)) return
    if ((await Promise.race([sleep(100), over])) === 'over') {
      throw new Error('the Restate server ended while it started')
    }
  }
  throw new Error('the Restate server takes no requests')
}
