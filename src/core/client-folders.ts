import { isAbsolute, join } from 'node:path'
import type { Runtime } from './runtime.ts'

/** The agent clients that Skillrail knows, in alphabetical order. */
export const clientNames = [
  'claude',
  'codex',
  'copilot',
  'cursor',
  'gemini',
  'opencode',
  'pi',
  'qwen',
] as const

export type ClientName = (typeof clientNames)[number]

/** The folder in which a client keeps the user's settings, hooks, skills and plugins. */
interface ClientFolder {
  /** Relative to the user's home, unless a variable moves it. */
  path: string
  /** The client's variables; the first one that is set counts. */
  variables?: readonly FolderVariable[]
  /** Variables that each name an additional folder. */
  further?: readonly string[]
  /** Whether the first variable moves the client's whole home, including `~/.agents/skills`. */
  movesHome?: true
}

interface FolderVariable {
  name: string
  /** The path of the client's folder in the variable's folder; default: the variable's folder itself. */
  below?: string
}

/** Tested with each of these clients, except Cursor (`test/clients/folders.suite.ts`). */
export const clientFolders: Readonly<Record<ClientName, ClientFolder>> = {
  claude: { path: '.claude', variables: [{ name: 'CLAUDE_CONFIG_DIR' }] },
  codex: { path: '.codex', variables: [{ name: 'CODEX_HOME' }] },
  copilot: { path: '.copilot', variables: [{ name: 'COPILOT_HOME' }] },
  cursor: { path: '.cursor' },
  gemini: {
    path: '.gemini',
    variables: [{ name: 'GEMINI_CLI_HOME', below: '.gemini' }],
    movesHome: true,
  },
  opencode: {
    path: '.config/opencode',
    variables: [{ name: 'XDG_CONFIG_HOME', below: 'opencode' }],
    further: ['OPENCODE_CONFIG_DIR'],
  },
  pi: { path: '.pi/agent', variables: [{ name: 'PI_CODING_AGENT_DIR' }] },
  qwen: { path: '.qwen', variables: [{ name: 'QWEN_HOME' }] },
}

/** Every variable that moves a client's folder. */
export const clientVariables: readonly string[] = [
  ...new Set(
    Object.values(clientFolders).flatMap(({ variables = [], further = [] }) => [
      ...variables.map(({ name }) => name),
      ...further,
    ]),
  ),
]

type FolderRuntime = Pick<Runtime, 'env' | 'home'>

/** Returns a client's folder, which the client's variables can move. A relative value is ignored. */
export function clientFolder(client: ClientName, { env, home }: FolderRuntime): string {
  const { path, variables = [] } = clientFolders[client]
  for (const { name, below = '' } of variables) {
    const value = env[name]
    if (value !== undefined && isAbsolute(value)) return join(value, below)
  }
  return join(home, path)
}

/** Returns the folders in which a session of a client began: its agent may have changed the directory. */
export function sessionFolders({ env }: Pick<Runtime, 'env'>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    name.endsWith('_PROJECT_DIR') && value !== undefined && isAbsolute(value) ? [value] : [],
  )
}

/** Returns the additional folders that a client's variables name. */
export function furtherFolders(client: ClientName, { env }: Pick<Runtime, 'env'>): string[] {
  const { further = [] } = clientFolders[client]
  return further.flatMap((name) => {
    const value = env[name]
    return value !== undefined && isAbsolute(value) ? [value] : []
  })
}

/** Returns where a client reads a path relative to the user's home, such as `.agents/skills`. */
export function clientPath(client: ClientName, path: string, runtime: FolderRuntime): string {
  const { path: folder, movesHome } = clientFolders[client]
  if (path === folder || path.startsWith(`${folder}/`)) {
    return join(clientFolder(client, runtime), path.slice(folder.length))
  }
  if (movesHome) return join(clientFolder(client, runtime), '..', path)
  return join(runtime.home, path)
}
