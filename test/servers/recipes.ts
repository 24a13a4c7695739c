import { fileURLToPath } from 'node:url'
import { type ServerName, serverProgram } from './packages.ts'

/** A server as `.mcp.json` has it. */
export type ServerEntry =
  | { command: string; args: readonly string[]; env: Readonly<Record<string, string>> }
  | { type: 'http' | 'sse'; url: string }

/** Where the things are that servers of a project work on. */
export interface ServerFixture {
  /** The workspace. */
  directory: string
  databaseUrls?: readonly string[] | undefined
  githubUrl?: string | undefined
  graphqlUrl?: string | undefined
}

const preload = fileURLToPath(new URL('loopback-preload.mjs', import.meta.url))
export const chromium = '/usr/bin/chromium'

/** The entries of these servers, below the names that their own pages propose. */
export function serverEntries(
  names: readonly ServerName[],
  fixture: ServerFixture,
): Record<string, ServerEntry> {
  return Object.fromEntries(names.map((name) => [name, recipes[name](fixture)]))
}

const recipes = {
  everything: () => program('everything', ['stdio']),
  filesystem: ({ directory }) => program('filesystem', [directory]),
  memory: ({ directory }) =>
    program('memory', [], { MEMORY_FILE_PATH: `${directory}/memory.jsonl` }),
  'sequential-thinking': () => program('sequential-thinking', []),
  'chrome-devtools': () =>
    program(
      'chrome-devtools',
      [
        '--headless',
        '--isolated',
        '--executablePath',
        chromium,
        '--chromeArg=--no-sandbox',
        '--no-usage-statistics',
        '--viewport=640x400',
      ],
      { CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: '1' },
    ),
  playwright: () =>
    program('playwright', [
      '--headless',
      '--isolated',
      '--no-sandbox',
      '--executable-path',
      chromium,
    ]),
  database: ({ databaseUrls = [] }) => program('database', databaseUrls),
  github: ({ githubUrl = 'http://127.0.0.1:9' }) =>
    program('github', [], {
      GITHUB_PERSONAL_ACCESS_TOKEN: 'any',
      GITHUB_STAND_IN: githubUrl,
      NODE_OPTIONS: `--import=${preload}`,
    }),
  graphql: ({ graphqlUrl = 'http://127.0.0.1:9' }) =>
    program('graphql', [], { ENDPOINT: graphqlUrl, ALLOW_MUTATIONS: 'true' }),
  context7: () => program('context7', []),
} satisfies Record<ServerName, (fixture: ServerFixture) => ServerEntry>

function program(
  server: ServerName,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ServerEntry {
  return { command: serverProgram(server), args, env }
}

/** What starts server-everything as a server of HTTP on loopback. */
export const httpEverything = (
  transport: 'streamableHttp' | 'sse',
): { file: string; args: readonly string[] } => ({
  file: process.execPath,
  args: [`--import=${preload}`, serverProgram('everything'), transport],
})
