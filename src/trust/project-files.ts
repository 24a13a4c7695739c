import { type Dirent, existsSync, readdirSync } from 'node:fs'
import { basename, dirname, extname, join, posix, resolve } from 'node:path'
import { byText, compareText, messageOf, systemCode } from '#core/errors'
import { indentedJson, isObject, objectOf, parseJson, sha256 } from '#core/json'
import { isInside, readRegularFile, realPathOf, statsOf } from '#core/read-files'
import { splitFrontmatter } from '#skill/frontmatter'
import type { AcceptedPart, ActingKind, ActingPart } from './model.ts'
import {
  canAct,
  codeExtensions,
  digestFile,
  entryStats,
  fileHead,
  readLink,
  unreadableDigest,
  workspaceRelative,
} from './skill-files.ts'
import type { TrustStore } from './store.ts'

interface WorkspaceFile {
  path: string
  kind: ActingKind
  /** The only key of it that acts; default: all of it does. */
  key?: string | undefined
}

const toolCaches = [
  '.opencode/agent-skill-tools.json',
  '.opencode/skill-tools.json',
  '.opencode/mcp-tools.json',
  '.skillrail/tools.json',
]

/** Where plugins lie, in a project and in the home of the user. */
export const pluginFolder = '.agents/plugins'

/** Adds triggers to skills without a change of them. */
export const triggerOverlay = '.skillrail/triggers.yaml'

type FileRow = readonly [path: string, kind: ActingKind, key?: string]

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
  ['.gemini/settings.json', 'mcp', 'mcpServers'],
  ['opencode.json', 'mcp', 'mcp'],
  ['opencode.jsonc', 'mcp', 'mcp'],
  ['.opencode/opencode.json', 'mcp', 'mcp'],
  ['.opencode/opencode.jsonc', 'mcp', 'mcp'],
  ['.claude/settings.json', 'client-hooks', 'hooks'],
  ['.claude/settings.local.json', 'client-hooks', 'hooks'],
  ['.gemini/settings.json', 'client-hooks', 'hooks'],
  ['.cursor/hooks.json', 'client-hooks'],
  ['.codex/hooks.json', 'client-hooks'],
]

const workspaceFiles = fileRows.map(([path, kind, key]): WorkspaceFile => ({ path, kind, key }))

/** The acting parts of a workspace that belong to no skill. A file reached by a link is shown so. */
export function workspaceFileParts(workspace: string): ActingPart[] {
  const ofPlugins = pluginsIn(join(workspace, pluginFolder))
    .map((path) => `${pluginFolder}/${basename(path)}/mcp.json`)
    .filter((path) => statsOf(join(workspace, path))?.isFile() === true)
    .map((path): WorkspaceFile => ({ path, kind: 'mcp' }))
  const files = [...workspaceFiles, ...ofPlugins]
  const read = files.flatMap((file) => readPart(workspace, file) ?? [])
  // Without workflows a category is a label.
  const hasWorkflows = read.some(({ kind }) => kind === 'workflow')
  const parts = read.filter(({ kind }) => hasWorkflows || kind !== 'category')
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

/** The plugins in a folder: those of its folders that have a manifest. */
export function pluginsIn(folder: string): string[] {
  return foldersIn(folder, 1).filter((path) => existsSync(join(path, 'plugin.json')))
}

/** The folders so many levels below one, in code-point order; none where it cannot be read. */
export function foldersIn(folder: string, depth: number): string[] {
  if (depth === 0) return [folder]
  return foldersIn(folder, depth - 1).flatMap((parent) =>
    namesIn(parent)
      .toSorted(compareText)
      .map((name) => join(parent, name)),
  )
}

function namesIn(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    const folders = entries.filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    return folders.map(({ name }) => name)
  } catch {
    return []
  }
}

const maxSelectedBytes = 16 * 1024 * 1024
const maxLookups = 50_000

/**
 * The files of the workspace that a configuration of servers names and that can act: code, files
 * without an extension, and those of variables. Each word counts that leads to one from the workspace
 * or from a folder that another word names, so that no syntax and no option must be known.
 */
function programParts(configuration: string, path: string, workspace: string): ActingPart[] {
  const kind = 'server-file'
  const text = configuration.replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  const quoted = [...text.matchAll(/"([^"\n]*)"|'([^'\n]*)'/g)].map(
    ([, one, other]) => one ?? other,
  )
  const found = [...quoted, ...text.split(/[\s"'`,=;:|&<>()[\]{}]+/)]
  // `${workspaceFolder}/server.js`, of which a split leaves `/server.js`.
  const plain = found.map((word = '') => word.replace(/^\$\{[^}]*\}/, ''))
  const words = [...new Set(plain.flatMap((word) => [word, word.replace(/^\/*/, './')]))]
  const places = words.slice(0, maxLookups).map((word) => resolve(workspace, word))
  const isFolder = (path: string) => isInside(workspace, path) && statsOf(path)?.isDirectory()
  const own = dirname(join(workspace, path))
  const bases = [...new Set([workspace, own, ...places.filter(isFolder)])]
  if (words.length * bases.length > maxLookups) {
    const problem = 'names too many files to verify them'
    return [{ owner: '', path, kind, size: 0, digest: unreadableDigest, problem }]
  }
  const variables = /"envFile"\s*:\s*"([^"\n]*)"/g
  const open = new Set([...text.matchAll(variables)].map(([, file]) => posix.basename(file ?? '')))
  const files = bases.flatMap((base) => words.flatMap((word) => filesOf(base, word)))
  return files.flatMap((file) => {
    const place = isInside(workspace, file) ? file : (realPathOf(file) ?? file)
    if (!isInside(workspace, place)) return []
    const executable = ((statsOf(place)?.mode ?? 0) & 0o111) !== 0
    const isCode = canAct(place, executable, () => fileHead(place, 2))
    if (!isCode && extname(place) !== '' && !open.has(basename(place))) return []
    const part = readPart(workspace, { path: workspaceRelative(workspace, place), kind })
    // Values of variables are neither kept nor shown.
    return part ? [isCode ? part : { ...part, text: undefined }] : []
  })
}

/** What a word names: a file, `tools/server` without its extension, or the module `tools.server`. */
function filesOf(base: string, word: string): string[] {
  const isFile = (path: string) => statsOf(path)?.isFile() === true
  const path = resolve(base, word)
  if (isFile(path)) return [path]
  if (!/[./]\w/.test(word)) return []
  const stems = [path, resolve(base, word.replaceAll('.', '/'))]
  return stems.flatMap((stem) => codeExtensions.map((end) => `${stem}.${end}`)).filter(isFile)
}

function readPart(workspace: string, file: WorkspaceFile): ActingPart | undefined {
  const path = join(workspace, file.path)
  const entry = entryStats(path)
  if (!entry.stats && entry.problem === undefined) return undefined
  const isLink = entry.stats?.isSymbolicLink() === true
  const reading = isLink ? readLink(path) : entry
  const link = 'target' in reading ? { link: reading.target } : {}
  const base = { owner: '', path: file.path, kind: file.kind, ...link }
  const refused = (problem: string): ActingPart => {
    return { ...base, size: 0, digest: unreadableDigest, problem }
  }
  if ('problem' in reading && reading.problem !== undefined) return refused(reading.problem)
  const real = isLink ? (realPathOf(path) ?? path) : path
  // Of a file that is ours but for some keys those alone act, whatever its size is.
  const content = digestFile(real, file.key === undefined ? {} : { textBytes: maxSelectedBytes })
  if (!content.ok) return refused(content.problem)
  const { digest, size, text } = content
  const selected = text === undefined ? undefined : actingText(file, text)
  if (selected === undefined) return { ...base, digest, size, text }
  if (selected === '') return undefined
  return { ...base, digest: sha256(selected), size, text: selected }
}

/** What acts of a file for one of its keys: '' for nothing, undefined for all of it. */
function actingText({ kind, key }: WorkspaceFile, text: string): string | undefined {
  if (key === undefined) return undefined
  if (kind === 'category') return placementsText(placementsIn(text))
  const value = parseJson(text)
  if (!isObject(value)) return undefined
  return value[key] === undefined ? '' : indentedJson({ [key]: value[key] })
}

function placementsText(placed: ReadonlyMap<string, string>): string {
  const sorted = [...placed].toSorted(([one], [other]) => compareText(one, other))
  return sorted.length === 0 ? '' : indentedJson(Object.fromEntries(sorted))
}

function placementsIn(text: string): Map<string, string> {
  const { categories } = objectOf(parseJson(text))
  const placed = new Map<string, string>()
  for (const [name, category] of Object.entries(objectOf(categories))) {
    const tools = isObject(category) ? [category['tools']].flat() : []
    for (const tool of tools) {
      const id = isObject(tool) ? tool['id'] : tool
      // The first place of a tool counts.
      if (typeof id === 'string' && !placed.has(id)) placed.set(id, name)
    }
  }
  return placed
}

/** The text of a part of the kind `category`: the category of each tool. */
export function acceptedPlacements(text: string): Map<string, string> {
  const placed = Object.entries(objectOf(parseJson(text)))
  return new Map(placed.map(([id, name]) => [id, String(name)]))
}

/**
 * Accepts what the user changed with a command of ours: `edit` is done to what was accepted of one
 * file, '' where nothing was, and nothing else is accepted with it.
 * @param before text of the file until now.
 */
export async function acceptEdit(
  store: TrustStore,
  edited: { workspace: string; path: string; kind: ActingKind; before: string },
  edit: (accepted: string) => string,
): Promise<void> {
  const { workspace, path, kind, before } = edited
  const name = workspaceRelative(workspace, path)
  const file = workspaceFiles.find((one) => one.path === name && one.kind === kind)
  if (!file) return
  const textOf = (text: string) => actingText(file, text) ?? text
  const { pinned = false, skills, parts = [] } = store.find(workspace) ?? { skills: [] }
  const isOther = (part: AcceptedPart) =>
    part.owner !== '' || part.path !== name || part.kind !== kind
  const known = parts.find((part) => !isOther(part))
  const now = textOf(before)
  const isNow = known?.digest === sha256(now)
  const accepted = !known ? '' : isNow ? now : store.texts.read(known.digest)
  if (accepted === undefined) return
  const text = kind === 'category' ? edit(accepted) : textOf(edit(accepted))
  const part = { owner: '', path: name, kind, digest: sha256(text), size: text.length, text }
  const others = parts.filter(isOther)
  await store.accept(workspace, text === '' ? others : [...others, part], { pinned, skills })
}

/** Accepts the new categories of tools; those that differed from accepted ones stay open. */
export async function acceptPlacements(
  store: TrustStore,
  file: { workspace: string; path: string; before: string; after: string },
): Promise<void> {
  const [before, after] = [placementsIn(file.before), placementsIn(file.after)]
  if (!store.read().acceptances.some(({ workspace }) => workspace === file.workspace)) return
  await acceptEdit(store, { ...file, kind: 'category' }, (accepted) => {
    const placed = acceptedPlacements(accepted)
    for (const id of new Set([...before.keys(), ...after.keys()])) {
      const name = after.get(id)
      if (placed.get(id) !== before.get(id)) continue
      if (name === undefined) placed.delete(id)
      else placed.set(id, name)
    }
    return placementsText(placed)
  })
}

/**
 * The acting parts of the files that define subagents, in the given directories of a workspace. What
 * acts is the frontmatter: tools, model, skills, permissions. The prompt below it is text.
 */
export function agentParts(
  workspace: string,
  directories: readonly string[],
  options: { text: boolean },
): ActingPart[] {
  const paths = directories.flatMap((directory) =>
    agentDirectories.flatMap((place) => agentFilesIn(join(directory, place)).files),
  )
  return [...new Set(paths)]
    .toSorted(compareText)
    .flatMap((path) => agentFileParts(workspace, path, options))
}

/** The parts of one file, none where it has no frontmatter and so defines nothing. */
export function agentFileParts(
  workspace: string,
  path: string,
  options: { text: boolean },
): ActingPart[] {
  const base = { owner: '', path: workspaceRelative(workspace, path) }
  const agent = { ...base, kind: 'agent' as const }
  const content = digestFile(realPathOf(path) ?? path)
  const { problem } = content.ok ? {} : content
  if (!content.ok) return [{ ...agent, digest: unreadableDigest, size: 0, problem }]
  const { digest, size, text } = content
  // Too long to be kept as text: then all of it counts.
  if (text === undefined) return [{ ...agent, digest, size }]
  const split = splitFrontmatter(text)
  if (!split.found) return []
  const { source } = split
  const acting = { ...agent, digest: sha256(source), size: Buffer.byteLength(source), text: source }
  return options.text ? [acting, { ...base, kind: 'text', digest, size, text }] : [acting]
}

export const agentDirectories: readonly string[] = [
  '.skillrail/agents',
  '.agents/agents',
  '.claude/agents',
  '.mamba/agents',
]

interface AgentFiles {
  /** Absolute, in code-point order; files of one folder before those of folders in it. */
  files: string[]
  problems: { path: string; message: string }[]
}

const limits = { depth: 4, files: 1000 }

/** The Markdown files below a directory of definitions. A link to a directory is not followed. */
export function agentFilesIn(directory: string): AgentFiles {
  const found: AgentFiles = { files: [], problems: [] }
  const visit = (place: string, depth: number): void => {
    const folders: string[] = []
    for (const entry of entriesOf(place, found)) {
      if (entry.isDirectory()) folders.push(entry.name)
      else if (/\.md$/i.test(entry.name)) {
        if (found.files.length >= limits.files) {
          const message = `there are more than ${limits.files} files; the rest is not read`
          found.problems.push({ path: place, message })
          return
        }
        found.files.push(join(place, entry.name))
      }
    }
    if (depth === limits.depth) return
    for (const name of folders) visit(join(place, name), depth + 1)
  }
  visit(directory, 0)
  return found
}

/** A directory and those above it up to a root. */
export function upTo(from: string, root: string): string[] {
  const above = dirname(from)
  return from === root || above === from ? [from] : [from, ...upTo(above, root)]
}

function entriesOf(directory: string, found: AgentFiles): Dirent[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true })
    return entries.toSorted(byText('name'))
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      const message = `the directory cannot be read: ${code ?? messageOf(error)}`
      found.problems.push({ path: directory, message })
    }
    return []
  }
}
