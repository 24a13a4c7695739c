import { type Dirent, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compareText } from '../core/diagnostic.ts'
import { isObject, parseJson, sha256 } from '../core/json.ts'
import { messageOf, systemCode } from '../core/errors.ts'
import { realPathOf } from '../core/read-files.ts'
import { splitFrontmatter } from '../skill/frontmatter.ts'
import { digestFile } from './digest-file.ts'
import { entryStats, readLink, unreadableDigest, workspaceRelative } from './skill-files.ts'
import type { ActingKind, ActingPart } from './model.ts'

interface WorkspaceFile {
  path: string
  kind: ActingKind
  /** The top-level keys that act; the whole file where there is no such list. */
  keys?: readonly string[]
}

/** Project files, besides skills, that start servers and programs or decide what may be started. */
const workspaceFiles: readonly WorkspaceFile[] = [
  { path: '.skillrail/config.json', kind: 'configuration' },
  { path: '.skillrail/workflows.json', kind: 'workflow' },
  { path: '.skillrail/tools.json', kind: 'workflow', keys: ['workflows'] },
  { path: '.opencode/agent-skill-tools.json', kind: 'workflow', keys: ['workflows'] },
  { path: '.opencode/skill-tools.json', kind: 'workflow', keys: ['workflows'] },
  { path: '.opencode/mcp-tools.json', kind: 'workflow', keys: ['workflows'] },
  { path: '.mcp.json', kind: 'mcp' },
  { path: '.cursor/mcp.json', kind: 'mcp' },
  { path: '.vscode/mcp.json', kind: 'mcp' },
  { path: '.codex/config.toml', kind: 'mcp' },
  { path: '.gemini/settings.json', kind: 'mcp', keys: ['mcpServers'] },
  { path: 'opencode.json', kind: 'mcp', keys: ['mcp'] },
  { path: 'opencode.jsonc', kind: 'mcp', keys: ['mcp'] },
  { path: '.opencode/opencode.json', kind: 'mcp', keys: ['mcp'] },
  { path: '.opencode/opencode.jsonc', kind: 'mcp', keys: ['mcp'] },
  { path: '.claude/settings.json', kind: 'client-hooks', keys: ['hooks'] },
  { path: '.claude/settings.local.json', kind: 'client-hooks', keys: ['hooks'] },
  { path: '.gemini/settings.json', kind: 'client-hooks', keys: ['hooks'] },
  { path: '.cursor/hooks.json', kind: 'client-hooks' },
  { path: '.codex/hooks.json', kind: 'client-hooks' },
]

/** The acting parts of a workspace that belong to no skill. A file reached by a link is shown so. */
export function workspaceFileParts(workspace: string): ActingPart[] {
  return workspaceFiles.flatMap((file) => readPart(workspace, file) ?? [])
}

const maxSelectedBytes = 16 * 1024 * 1024

function readPart(workspace: string, file: WorkspaceFile): ActingPart | undefined {
  const path = join(workspace, file.path)
  const entry = entryStats(path)
  if (entry.stats === undefined && entry.problem === undefined) return undefined
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
  const content = digestFile(real, file.keys && { textBytes: maxSelectedBytes })
  if (!content.ok) return refused(content.problem)
  const { digest, size, text } = content
  const selected = file.keys && text !== undefined ? selectKeys(text, file.keys) : undefined
  if (selected === undefined) return { ...base, digest, size, text }
  if (selected === '') return undefined
  return { ...base, digest: sha256(selected), size, text: selected }
}

/** The keys as indented JSON, '' where none is there, undefined where the text is not a JSON object. */
function selectKeys(text: string, keys: readonly string[]): string | undefined {
  const value = parseJson(text)
  if (!isObject(value)) return undefined
  const entries = Object.entries(value).filter(([key]) => keys.includes(key))
  if (entries.length === 0) return ''
  return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`
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
    return entries.toSorted((a, b) => compareText(a.name, b.name))
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      const message = `the directory cannot be read: ${code ?? messageOf(error)}`
      found.problems.push({ path: directory, message })
    }
    return []
  }
}
