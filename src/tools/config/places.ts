import { isAbsolute, join } from 'node:path'
import type { Runtime } from '../../core/runtime.ts'
import type { ServerClient } from './model.ts'
import {
  claudeProject,
  codex,
  gemini,
  mcpServers,
  openCode,
  type ServerShape,
  vsCodeServers,
} from './shapes.ts'
import type { VariableDialect } from './variables.ts'

/** A file that may name servers. */
export interface ServerPlace {
  client: ServerClient
  /** Whose word it is: only the user's own files act without the workspace being trusted. */
  scope: 'project' | 'user'
  shape: ServerShape
  variables: VariableDialect
  /** Absolute paths; of several the first that names a server takes precedence. */
  paths(home: PlaceContext): readonly string[]
}

export interface PlaceContext {
  /** Real path of the workspace. */
  project: string
  runtime: Pick<Runtime, 'env' | 'home' | 'platform'>
}

/**
 * Every place, the strongest first: what belongs to the project before what belongs to the user, and
 * the order of this table within each. What Claude Code was told for this project alone stands in
 * the user's own file and comes first, as its owner has it.
 */
export const serverPlaces: readonly ServerPlace[] = [
  {
    client: 'claude-code',
    scope: 'user',
    shape: claudeProject,
    variables: 'claude',
    paths: claudeFile,
  },
  inProject('claude-code', mcpServers, 'claude', '.mcp.json'),
  inProject('cursor', mcpServers, 'cursor', '.cursor/mcp.json'),
  inProject('vscode', vsCodeServers, 'vscode', '.vscode/mcp.json'),
  inProject('gemini', gemini, 'gemini', '.gemini/settings.json'),
  inProject('codex', codex, 'none', '.codex/config.toml'),
  inProject(
    'opencode',
    openCode,
    'opencode',
    '.opencode/opencode.jsonc',
    '.opencode/opencode.json',
    'opencode.jsonc',
    'opencode.json',
  ),
  {
    client: 'claude-code',
    scope: 'user',
    shape: mcpServers,
    variables: 'claude',
    paths: claudeFile,
  },
  {
    client: 'claude-desktop',
    scope: 'user',
    shape: mcpServers,
    variables: 'none',
    paths: (at) => applicationFiles(at, 'Claude/claude_desktop_config.json'),
  },
  ofUser('cursor', mcpServers, 'cursor', '.cursor/mcp.json'),
  {
    client: 'vscode',
    scope: 'user',
    shape: vsCodeServers,
    variables: 'vscode',
    paths: (at) => applicationFiles(at, 'Code/User/mcp.json'),
  },
  ofUser('windsurf', mcpServers, 'windsurf', '.codeium/windsurf/mcp_config.json'),
  ofUser('gemini', gemini, 'gemini', '.gemini/settings.json'),
  {
    client: 'codex',
    scope: 'user',
    shape: codex,
    variables: 'none',
    paths: (at) => [
      join(absolute(at, 'CODEX_HOME') ?? join(at.runtime.home, '.codex'), 'config.toml'),
    ],
  },
  {
    client: 'opencode',
    scope: 'user',
    shape: openCode,
    variables: 'opencode',
    paths: openCodeFiles,
  },
]

function inProject(
  client: ServerClient,
  shape: ServerShape,
  variables: VariableDialect,
  ...names: readonly string[]
): ServerPlace {
  const paths = ({ project }: PlaceContext): string[] => names.map((name) => join(project, name))
  return { client, scope: 'project', shape, variables, paths }
}

function ofUser(
  client: ServerClient,
  shape: ServerShape,
  variables: VariableDialect,
  name: string,
): ServerPlace {
  return {
    client,
    scope: 'user',
    shape,
    variables,
    paths: ({ runtime }) => [join(runtime.home, name)],
  }
}

function claudeFile({ runtime }: PlaceContext): string[] {
  const moved = runtime.env['CLAUDE_CONFIG_DIR']
  return [join(moved && isAbsolute(moved) ? moved : runtime.home, '.claude.json')]
}

function openCodeFiles(at: PlaceContext): string[] {
  const { env, home } = at.runtime
  const named = env['OPENCODE_CONFIG']
  const directory = join(absolute(at, 'XDG_CONFIG_HOME') ?? join(home, '.config'), 'opencode')
  return [
    ...(named && isAbsolute(named) ? [named] : []),
    join(directory, 'opencode.jsonc'),
    join(directory, 'opencode.json'),
    join(directory, 'config.json'),
  ]
}

/** Where programs of the desktop keep the user's settings. */
function applicationFiles(at: PlaceContext, name: string): string[] {
  const { home, platform } = at.runtime
  if (platform === 'darwin') return [join(home, 'Library/Application Support', name)]
  if (platform === 'win32')
    return [join(absolute(at, 'APPDATA') ?? join(home, 'AppData/Roaming'), name)]
  return [join(absolute(at, 'XDG_CONFIG_HOME') ?? join(home, '.config'), name)]
}

function absolute({ runtime }: PlaceContext, variable: string): string | undefined {
  const value = runtime.env[variable]
  return value && isAbsolute(value) ? value : undefined
}
