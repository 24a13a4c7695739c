import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientFolder, sessionFolders } from '#core/client-folders'
import { systemCode } from '#core/errors'
import { isObject, objectOf, parseJson } from '#core/json'
import { findWorkspace } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import type { RailEvent } from '#hooks/rail-hook'
import { splitFrontmatter } from '#skill/frontmatter'
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

/**
 * Returns the file that registers such a hook, or that may register one because it cannot be read: settings,
 * and plugins, skills, commands and subagents with hooks of their own.
 */
function answeringHook(runtime: Runtime): string | undefined {
  const client = clientFolder('claude', runtime)
  const projects = [findWorkspace(runtime.cwd, runtime), runtime.cwd, ...sessionFolders(runtime)]
  const folders = [...new Set([client, ...projects.map((project) => join(project, '.claude'))])]
  const settings = folders.flatMap((folder) =>
    ['settings.json', 'settings.local.json'].map((name) => join(folder, name)),
  )
  const plugins = pluginFolders(join(client, 'plugins', 'installed_plugins.json'))
  if (typeof plugins === 'string') return plugins
  return (
    [...settings, ...managedSettings, ...plugins.flatMap(hookFiles)].find(registersAnswer) ??
    [...folders, ...plugins].flatMap(textsWithFrontmatter).find(hasOwnHooks)
  )
}

const managedSettings = [
  '/etc/claude-code/managed-settings.json',
  '/Library/Application Support/ClaudeCode/managed-settings.json',
]

function hookFiles(plugin: string): string[] {
  const manifest = join(plugin, '.claude-plugin/plugin.json')
  const { hooks } = objectOf(jsonIn(manifest))
  const named = (Array.isArray(hooks) ? hooks : [hooks]).filter((path) => typeof path === 'string')
  return [manifest, join(plugin, 'hooks/hooks.json'), ...named.map((path) => join(plugin, path))]
}

/** Whether a JSON file has the event as a key, or cannot be read. */
function registersAnswer(path: string): boolean {
  const value = jsonIn(path)
  return value === unreadable || hasKey(value, answering)
}

function hasKey(value: unknown, key: string): boolean {
  if (Array.isArray(value)) return value.some((item) => hasKey(item, key))
  return isObject(value) && (key in value || Object.values(value).some((item) => hasKey(item, key)))
}

/** Skills, commands and subagents in a folder of Claude Code or of a plugin. */
function textsWithFrontmatter(folder: string): string[] {
  const skills = namesIn(join(folder, 'skills')).map((name) => join(name, 'SKILL.md'))
  const others = ['agents', 'commands'].flatMap((name) => namesIn(join(folder, name), true))
  return [...skills, ...others.filter((path) => path.endsWith('.md'))]
}

/** Whether the frontmatter of a text names hooks, or cannot be read. An escape could hide the key. */
function hasOwnHooks(path: string): boolean {
  const text = textIn(path)
  if (text === undefined) return false
  if (text === unreadable) return true
  const frontmatter = splitFrontmatter(text)
  return frontmatter.found && /hooks|\\/.test(frontmatter.source)
}

/** Returns the plugins' folders, or the path of their list if it cannot be read. */
function pluginFolders(path: string): string[] | string {
  const value = jsonIn(path)
  return value === unreadable ? path : foldersIn(value)
}

/** Returns every `installPath`, at any depth. */
function foldersIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(foldersIn)
  if (!isObject(value)) return []
  const { installPath } = value
  const folders = typeof installPath === 'string' ? [installPath] : []
  return [...folders, ...Object.values(value).flatMap(foldersIn)]
}

const unreadable = Symbol('unreadable')

function jsonIn(path: string): unknown {
  const text = textIn(path)
  return typeof text === 'string' ? (parseJson(text) ?? unreadable) : text
}

/** Undefined if there is no such file. */
function textIn(path: string): string | typeof unreadable | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return isMissing(error) ? undefined : unreadable
  }
}

/** The paths in a folder; the folder itself if it cannot be listed, because reading it fails then too. */
function namesIn(folder: string, recursive = false): string[] {
  try {
    return readdirSync(folder, { recursive, encoding: 'utf8' }).map((name) => join(folder, name))
  } catch (error) {
    return isMissing(error) ? [] : [`${folder}/unreadable.md`]
  }
}

function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')
}
