import { existsSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { compareText } from '#core/errors'
import { foldersIn } from '#core/folders'
import { indentedJson, isObject, objectOf, parseJson, sha256 } from '#core/json'
import { readRegularFile, realPathOf, statsOf } from '#core/read-files'
import { withoutMark } from '#core/text'
import { readAuthoredYaml } from '#skill/authored-yaml'
import { FieldReader } from '#skill/field-values'
import type { TriggerDeclaration } from '#skill/model'
import { readTriggers } from '#skill/trigger-declarations'
import type { ActingKind, ActingPart } from './model.ts'
import { manifestKeys } from './runners.ts'
import { serverFiles } from './server-files.ts'
import {
  digestFile,
  entryStats,
  readLink,
  unreadableDigest,
  workspaceRelative,
} from './skill-files.ts'

interface WorkspaceFile {
  path: string
  kind: ActingKind
  /** The only keys of the file that act; default: the whole file. */
  keys?: readonly string[] | undefined
}

const toolCaches = [
  '.opencode/agent-skill-tools.json',
  '.opencode/skill-tools.json',
  '.opencode/mcp-tools.json',
  '.skillrail/tools.json',
]

/** Folder of plugins, in a project and in the user's home. */
export const pluginFolder = '.agents/plugins'

/** The overlay: adds triggers to skills without changing the skills. */
export const triggerOverlay = '.skillrail/triggers.yaml'

/** Settings of Claude Code in a project. */
export const claudeSettings: readonly string[] = [
  '.claude/settings.json',
  '.claude/settings.local.json',
]

/** Settings of Copilot CLI in a project. */
export const copilotSettings: readonly string[] = [
  '.github/copilot/settings.json',
  '.github/copilot/settings.local.json',
]

/** The lists that say which servers Claude Code starts. */
const claudeServerLists = ['disabledMcpjsonServers', 'deniedMcpServers', 'allowedMcpServers']

const maxSelectedBytes = 16 * 1024 * 1024
export const maxOverlayBytes = 1024 * 1024

type FileRow = readonly [path: string, kind: ActingKind, ...keys: string[]]

const fileRows: readonly FileRow[] = [
  ['.skillrail/config.json', 'configuration'],
  [triggerOverlay, 'configuration'],
  ['.skillrail/workflows.json', 'workflow'],
  ...toolCaches.flatMap((path): FileRow[] => [
    [path, 'workflow', 'workflows'],
    [path, 'category', 'categories'],
  ]),
  ['.mcp.json', 'mcp'],
  ['.cursor/mcp.json', 'mcp'],
  ['.vscode/mcp.json', 'mcp'],
  ['.codex/config.toml', 'mcp'],
  ['.gemini/settings.json', 'mcp', 'mcpServers', 'mcp', 'allowMCPServers', 'excludeMCPServers'],
  ['.qwen/settings.json', 'mcp', 'mcpServers', 'mcp', 'allowMCPServers', 'excludeMCPServers'],
  ['.github/mcp.json', 'mcp'],
  ['opencode.json', 'mcp', 'mcp'],
  ['opencode.jsonc', 'mcp', 'mcp'],
  ['.opencode/opencode.json', 'mcp', 'mcp'],
  ['.opencode/opencode.jsonc', 'mcp', 'mcp'],
  ...claudeSettings.map((path): FileRow => [path, 'mcp', ...claudeServerLists]),
  ...copilotSettings.map((path): FileRow => [path, 'mcp', 'disabledMcpServers']),
  ['.claude/settings.json', 'client-hooks', 'hooks'],
  ['.claude/settings.local.json', 'client-hooks', 'hooks'],
  ['.gemini/settings.json', 'client-hooks', 'hooks'],
  ['.qwen/settings.json', 'client-hooks', 'hooks'],
  ['.cursor/hooks.json', 'client-hooks'],
  ['.codex/hooks.json', 'client-hooks'],
]

export const workspaceFiles: readonly WorkspaceFile[] = fileRows.map(([path, kind, ...keys]) => ({
  path,
  kind,
  keys: keys.length === 0 ? undefined : keys,
}))

/** Returns the acting parts of a workspace that belong to no skill. A part can be reached through a link. */
export function workspaceFileParts(workspace: string): ActingPart[] {
  const pluginServers = pluginsIn(join(workspace, pluginFolder))
    .map((path) => `${pluginFolder}/${basename(path)}/mcp.json`)
    .filter((path) => statsOf(join(workspace, path))?.isFile() === true)
    .map((path): WorkspaceFile => ({ path, kind: 'mcp' }))
  const files = [...workspaceFiles, ...pluginServers]
  const fileParts = files.flatMap((file) => readPart(workspace, file) ?? [])
  // A category has an effect only through workflows.
  const hasWorkflows = fileParts.some(({ kind }) => kind === 'workflow')
  const parts = fileParts.filter(({ kind }) => hasWorkflows || kind !== 'category')
  const programs = new Map<string, ActingPart>()
  for (const { kind, path, text } of parts) {
    if (kind !== 'mcp') continue
    const file = readRegularFile(join(workspace, path), { maxBytes: maxSelectedBytes })
    for (const part of programParts(text ?? (file.ok ? file.text : ''), path, workspace)) {
      programs.set(part.path, part)
    }
  }
  return [...parts, ...programs.values()]
}

/** Returns the references that the overlay injects, as parts that are compared in a pinned workspace. */
export function overlayTexts(workspace: string): ActingPart[] {
  const files = overlayReferences(workspace).map((path): WorkspaceFile => ({ path, kind: 'text' }))
  return files.flatMap((file) => readPart(workspace, file) ?? [])
}

/** Returns the references that the overlay names, relative to the workspace. */
export function overlayReferences(workspace: string): string[] {
  const references = overlayTriggers(workspace).map(({ trigger: { inject } }) =>
    posix.join(posix.dirname(triggerOverlay), inject),
  )
  return [...new Set(references)].toSorted(compareText)
}

/** Returns the triggers that the overlay adds to skills. */
export function overlayTriggers(
  workspace: string,
): { skill: string; trigger: TriggerDeclaration }[] {
  const path = join(workspace, triggerOverlay)
  const reading = readRegularFile(path, { maxBytes: maxOverlayBytes })
  if (!reading.ok) return []
  const { root } = readAuthoredYaml(reading.text, { firstLine: 1, path })
  const entries = root?.kind === 'map' ? root.entries : []
  const reader = new FieldReader(path, [])
  return entries.flatMap(({ key, value }) =>
    readTriggers(reader, value).map((trigger) => ({ skill: key.text, trigger })),
  )
}

/** Returns the folders in a folder that have a plugin manifest. */
export function pluginsIn(folder: string): string[] {
  return foldersIn(folder).filter((path) => existsSync(join(path, 'plugin.json')))
}

/** Returns the files that the servers of a configuration start, as far as reading can tell. */
function programParts(configuration: string, path: string, workspace: string): ActingPart[] {
  const kind = 'server-file'
  const files = serverFiles(configuration, path, workspace)
  if (!files) {
    const problem = 'names too many files to verify them'
    return [{ owner: '', path, kind, size: 0, digest: unreadableDigest, problem }]
  }
  return files.flatMap(({ path: file, isPrintable }) => {
    const keys = basename(file) === 'package.json' ? manifestKeys : undefined
    const part = readPart(workspace, { path: workspaceRelative(workspace, file), kind, keys })
    return part ? [isPrintable ? part : { ...part, text: undefined }] : []
  })
}

function readPart(workspace: string, file: WorkspaceFile): ActingPart | undefined {
  const path = join(workspace, file.path)
  const entry = entryStats(path)
  if (!entry.stats && entry.problem === undefined) return undefined
  const isLink = entry.stats?.isSymbolicLink() === true
  const reading = isLink ? readLink(path) : entry
  const link = 'target' in reading ? { link: reading.target } : {}
  const base = { owner: '', path: file.path, kind: file.kind, ...link }
  const refusal = (problem: string): ActingPart => {
    return { ...base, size: 0, digest: unreadableDigest, problem }
  }
  if ('problem' in reading && reading.problem !== undefined) return refusal(reading.problem)
  const realPath = isLink ? (realPathOf(path) ?? path) : path
  // If only some keys act, the file is parsed whatever its size is.
  const content = digestFile(
    realPath,
    file.keys === undefined ? {} : { textBytes: maxSelectedBytes },
  )
  if (!content.ok) return refusal(content.problem)
  const { digest, size, text } = content
  const actingContent = text === undefined ? undefined : actingText(file, withoutMark(text))
  if (actingContent === undefined) return { ...base, digest, size, text }
  if (actingContent === '') return undefined
  return { ...base, digest: sha256(actingContent), size, text: actingContent }
}

/** Returns the acting text of a file: '' if nothing acts, undefined if the whole file acts. */
export function actingText({ kind, keys }: WorkspaceFile, text: string): string | undefined {
  if (keys === undefined) return undefined
  if (kind === 'category') return placementsText(placementsIn(text))
  const value = parseJson(text)
  if (!isObject(value)) return undefined
  const acting = keys.filter((key) => value[key] !== undefined).map((key) => [key, value[key]])
  return acting.length === 0 ? '' : indentedJson(Object.fromEntries(acting))
}

export function placementsText(placements: ReadonlyMap<string, string>): string {
  const sortedPlacements = [...placements].toSorted(([one], [other]) => compareText(one, other))
  return sortedPlacements.length === 0 ? '' : indentedJson(Object.fromEntries(sortedPlacements))
}

/** Returns the category of each tool in a file of categories. */
export function placementsIn(text: string): Map<string, string> {
  const { categories } = objectOf(parseJson(text))
  const placements = new Map<string, string>()
  for (const [name, category] of Object.entries(objectOf(categories))) {
    const tools = isObject(category) ? [category['tools']].flat() : []
    for (const tool of tools) {
      const id = isObject(tool) ? tool['id'] : tool
      // The first category of a tool counts.
      if (typeof id === 'string' && !placements.has(id)) placements.set(id, name)
    }
  }
  return placements
}

/** Returns the category of each tool from the text of a `category` part. */
export function acceptedPlacements(text: string): Map<string, string> {
  const placements = Object.entries(objectOf(parseJson(text)))
  return new Map(placements.map(([id, name]) => [id, String(name)]))
}
