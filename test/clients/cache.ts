import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The installed clients: one npm package each, in the version that was last tested. */
export const clientPackages = {
  claude: { name: '@anthropic-ai/claude-code', version: '2.1.332' },
  codex: { name: '@openai/codex', version: '0.171.0' },
  copilot: { name: '@github/copilot', version: '1.0.102' },
  gemini: { name: '@google/gemini-cli', version: '0.61.0' },
  opencode: { name: 'opencode-ai', version: '1.18.33' },
  pi: { name: '@earendil-works/pi-coding-agent', version: '1.6.0' },
  qwen: { name: '@qwen-code/qwen-code', version: '0.24.4' },
} as const

export type TestedClient = keyof typeof clientPackages

/** A client that can be started. */
export interface InstalledClient {
  /** Absolute. */
  program: string
  version: string
}

/**
 * Programs below the package directory that need no install script; the first that exists is
 * started, else the one npm linked.
 */
const nativePrograms: Readonly<Partial<Record<TestedClient, readonly string[]>>> = {
  claude: [`@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`],
  opencode: [`opencode-${process.platform}-${process.arch}/bin/opencode`],
}

/** Outside the project, kept between runs. */
export function clientCacheDirectory(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(cache, 'skillrail-test-clients')
}

/**
 * Installs the real clients from npm, without their install scripts. Nothing of this machine's own
 * clients is used or changed. `latest` takes the newest versions in place of the tried ones.
 */
export function installClients(
  clients: readonly TestedClient[],
  options: { latest: boolean },
): ReadonlyMap<TestedClient, InstalledClient> {
  const directory = clientCacheDirectory()
  mkdirSync(directory, { recursive: true })
  const manifest = join(directory, 'package.json')
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n')
  const wanted = clients
    .filter(
      (client) => options.latest || versionIn(directory, client) !== clientPackages[client].version,
    )
    .map((client) => {
      const { name, version } = clientPackages[client]
      return `${name}@${options.latest ? 'latest' : version}`
    })
  if (wanted.length > 0) {
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...wanted]
    const { status } = spawnSync('npm', args, { cwd: directory, stdio: ['ignore', 2, 2] })
    if (status !== 0) throw new Error(`npm could not install ${wanted.join(' ')}`)
  }
  return new Map(clients.map((client) => [client, installedClient(directory, client)]))
}

function installedClient(directory: string, client: TestedClient): InstalledClient {
  const modules = join(directory, 'node_modules')
  const native = (nativePrograms[client] ?? []).map((path) => join(modules, path))
  const program = native.find((path) => existsSync(path)) ?? join(modules, '.bin', client)
  return { program, version: versionIn(directory, client) ?? 'unknown' }
}

function versionIn(directory: string, client: TestedClient): string | undefined {
  const path = join(directory, 'node_modules', clientPackages[client].name, 'package.json')
  if (!existsSync(path)) return undefined
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
  return String(Reflect.get(Object(value), 'version'))
}
