import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The real servers, each in the version that was last tried, and the program npm links for it. */
export const serverPackages = {
  everything: {
    name: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    program: 'mcp-server-everything',
  },
  filesystem: {
    name: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    program: 'mcp-server-filesystem',
  },
  memory: {
    name: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    program: 'mcp-server-memory',
  },
  'sequential-thinking': {
    name: '@modelcontextprotocol/server-sequential-thinking',
    version: '2026.8.31',
    program: 'mcp-server-sequential-thinking',
  },
  'chrome-devtools': {
    name: 'chrome-devtools-mcp',
    version: '1.11.0',
    program: 'chrome-devtools-mcp',
  },
  playwright: { name: '@playwright/mcp', version: '0.0.83', program: 'playwright-mcp' },
  database: {
    name: 'mcp-database-inspector',
    version: '2.1.1',
    program: 'mcp-database-inspector',
  },
  github: {
    name: '@modelcontextprotocol/server-github',
    version: '2025.4.8',
    program: 'mcp-server-github',
  },
  graphql: { name: 'mcp-graphql', version: '2.0.4', program: 'mcp-graphql' },
  context7: { name: '@upstash/context7-mcp', version: '4.1.1', program: 'context7-mcp' },
} as const

/** What else the suites run: an authorization server, and the conformance tests of the protocol. */
const otherPackages = [
  { name: 'oidc-provider', version: '9.13.3' },
  { name: '@modelcontextprotocol/conformance', version: '0.1.16' },
] as const

export type ServerName = keyof typeof serverPackages

/** Outside the project, kept between runs. */
export function serverCacheDirectory(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  return join(cache, 'skillrail-test-servers')
}

/** The program of an installed server; absolute. */
export function serverProgram(server: ServerName): string {
  return join(serverCacheDirectory(), 'node_modules', '.bin', serverPackages[server].program)
}

/**
 * Installs the servers from npm where they are missing, without install scripts or browsers.
 *
 * @param servers default: all of them, and what else the suites run
 */
export function installServers(servers?: readonly ServerName[]): void {
  const directory = serverCacheDirectory()
  mkdirSync(directory, { recursive: true })
  const manifest = join(directory, 'package.json')
  if (!existsSync(manifest)) writeFileSync(manifest, '{ "private": true }\n')
  const packages = servers
    ? servers.map((server) => serverPackages[server])
    : [...Object.values(serverPackages), ...otherPackages]
  const wanted = packages
    .filter(({ name, version }) => installedVersion(directory, name) !== version)
    .map(({ name, version }) => `${name}@${version}`)
  if (wanted.length === 0) return
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...wanted]
  const { status } = spawnSync('npm', args, { cwd: directory, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`npm could not install ${wanted.join(' ')}`)
}

function installedVersion(directory: string, name: string): string | undefined {
  const path = join(directory, 'node_modules', name, 'package.json')
  if (!existsSync(path)) return undefined
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
  return String(Reflect.get(Object(value), 'version'))
}
