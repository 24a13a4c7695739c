import { isAbsolute, join } from 'node:path'
import type { Runtime } from '../../core/runtime.ts'
import type { ServerSource } from './model.ts'
import { claudeProject, type ServerShape, shapes } from './shapes.ts'

/** A file that may name servers. */
export interface ServerPlace extends Pick<ServerSource, 'client' | 'scope' | 'path'> {
  shape: ServerShape
}

/**
 * Every place, in the order of precedence: files of the project before those of the user. The servers
 * that Claude Code has for this project alone are in the user's own file and come first, as Claude
 * Code has it.
 *
 * @param project real path of the workspace
 */
export function serverPlaces(
  project: string,
  { env, home, platform }: Pick<Runtime, 'env' | 'home' | 'platform'>,
): ServerPlace[] {
  const of = (client: ServerSource['client'], scope: ServerSource['scope'], ...paths: string[]) =>
    paths.map((path): ServerPlace => ({ client, scope, path, shape: shapes[client] }))
  const ofProject = (client: ServerSource['client'], ...names: string[]) =>
    of(client, 'project', ...names.map((name) => join(project, name)))
  const ofUser = (client: ServerSource['client'], ...names: string[]) =>
    of(client, 'user', ...names.map((name) => join(home, name)))

  const claude = of(
    'claude-code',
    'user',
    join(absolute('CLAUDE_CONFIG_DIR') ?? home, '.claude.json'),
  )
  const config = absolute('XDG_CONFIG_HOME') ?? join(home, '.config')
  const openCode = ['opencode.jsonc', 'opencode.json', 'config.json']
  const named = absolute('OPENCODE_CONFIG')
  return [
    ...claude.map((place) => ({ ...place, shape: claudeProject(project) })),
    ...ofProject('claude-code', '.mcp.json'),
    ...ofProject('cursor', '.cursor/mcp.json'),
    ...ofProject('vscode', '.vscode/mcp.json'),
    ...ofProject('gemini', '.gemini/settings.json'),
    ...ofProject('codex', '.codex/config.toml'),
    ...ofProject('opencode', '.opencode/opencode.jsonc', '.opencode/opencode.json'),
    ...ofProject('opencode', 'opencode.jsonc', 'opencode.json'),
    ...claude,
    ...of('claude-desktop', 'user', join(applications(), 'Claude/claude_desktop_config.json')),
    ...ofUser('cursor', '.cursor/mcp.json'),
    ...of('vscode', 'user', join(applications(), 'Code/User/mcp.json')),
    ...ofUser('windsurf', '.codeium/windsurf/mcp_config.json'),
    ...ofUser('gemini', '.gemini/settings.json'),
    ...of('codex', 'user', join(absolute('CODEX_HOME') ?? join(home, '.codex'), 'config.toml')),
    ...of('opencode', 'user', ...(named === undefined ? [] : [named])),
    ...of('opencode', 'user', ...openCode.map((name) => join(config, 'opencode', name))),
  ]

  /** Where desktop programs keep the user's settings. */
  function applications(): string {
    if (platform === 'darwin') return join(home, 'Library/Application Support')
    return platform === 'win32' ? (absolute('APPDATA') ?? join(home, 'AppData/Roaming')) : config
  }

  function absolute(variable: string): string | undefined {
    const value = env[variable]
    return value && isAbsolute(value) ? value : undefined
  }
}
