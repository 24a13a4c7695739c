import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientFolder } from '#core/client-folders'
import { systemCode } from '#core/errors'
import { isObject, parseJson } from '#core/json'
import { findWorkspace } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import type { RailEvent } from '#hooks/rail-hook'
import { isSameProcess, type SenderReader } from './sender.ts'
import type { RailSession } from './session.ts'

/**
 * Returns why the client's question about a call proves nothing. Undefined if the answer counts: the event
 * comes from the chain's process, a user can answer, and no program answers instead.
 */
export function canBeAsked(
  { platform, runtime }: Pick<RailEvent, 'platform' | 'runtime'>,
  { clientProcess }: RailSession,
  senders: SenderReader,
): string | undefined {
  const sender = senders.senderOf(platform, runtime.env)
  if (sender.kind === 'agent') return sender.why
  if (sender.kind === 'unknown' || !clientProcess) return 'the process of the client is not known'
  if (!isSameProcess(sender.process, clientProcess)) {
    return 'the call comes from another process of the client'
  }
  if (platform === 'claude' && runtime.env['CLAUDE_CODE_SESSION_ATTENDED'] === '0') {
    return 'nobody attends this session'
  }
  // Without a terminal its question would have no end.
  if (platform === 'gemini' && !senders.hasTerminal(sender.process)) return 'there is no terminal'
  const place = platform === 'claude' ? answeringHook(runtime) : undefined
  return place && `a hook for PermissionRequest may answer in place of the user (${place})`
}

/** A Claude Code hook for this event can answer its questions; other clients have no such hook. */
const answering = 'PermissionRequest'

/** Returns the file that registers such a hook, or an unreadable one. */
function answeringHook(runtime: Runtime): string | undefined {
  const client = clientFolder('claude', runtime)
  const project = join(findWorkspace(runtime.cwd, runtime), '.claude')
  const folders = new Set([client, project, join(runtime.cwd, '.claude')])
  const files = [...folders].flatMap((folder) =>
    ['settings.json', 'settings.local.json'].map((name) => join(folder, name)),
  )
  const plugins = pluginFolders(join(client, 'plugins', 'installed_plugins.json'))
  return [...files, ...managedSettings, ...plugins.flatMap(hookFiles)].find(mayAnswer)
}

const managedSettings = [
  '/etc/claude-code/managed-settings.json',
  '/Library/Application Support/ClaudeCode/managed-settings.json',
]

function hookFiles(plugin: string): string[] {
  return ['hooks/hooks.json', '.claude-plugin/plugin.json'].map((name) => join(plugin, name))
}

function mayAnswer(path: string): boolean {
  try {
    return readFileSync(path, 'utf8').includes(answering)
  } catch (error) {
    return !isMissing(error)
  }
}

function pluginFolders(path: string): string[] {
  let value: unknown
  try {
    value = parseJson(readFileSync(path, 'utf8'))
  } catch {
    return []
  }
  return foldersIn(value)
}

/** Returns every `installPath`, at any depth. */
function foldersIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(foldersIn)
  if (!isObject(value)) return []
  const { installPath } = value
  const own = typeof installPath === 'string' ? [installPath] : []
  return [...own, ...Object.values(value).flatMap(foldersIn)]
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')
}
