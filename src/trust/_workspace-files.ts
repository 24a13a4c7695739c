import { join } from 'node:path'
import { realPathOf, sha256 } from '../base/index.ts'
import { entryStats } from './_entry-stats.ts'
import { digestFile } from './_file-digest.ts'
import { readLink } from './_link.ts'
import { unreadableDigest } from './assess.ts'
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
  return workspaceFiles.flatMap((file) => {
    const part = readPart(workspace, file)
    return part === undefined ? [] : [part]
  })
}

const maxSelectedBytes = 16 * 1024 * 1024

function readPart(workspace: string, file: WorkspaceFile): ActingPart | undefined {
  const base = { owner: '', path: file.path, kind: file.kind, size: 0 }
  const path = join(workspace, file.path)
  const entry = entryStats(path)
  if (entry.kind === 'missing') return undefined
  if (entry.kind === 'unreadable') {
    return { ...base, digest: unreadableDigest, problem: entry.problem }
  }
  const isLink = entry.stats.isSymbolicLink()
  const reading = isLink ? readLink(path) : undefined
  if (reading?.ok === false) return { ...base, digest: unreadableDigest, problem: reading.problem }
  const link = reading === undefined ? {} : { link: reading.target }
  // Of a file that is ours but for some keys those alone act, whatever its size is.
  const textBytes = file.keys === undefined ? undefined : maxSelectedBytes
  const content = digestFile(isLink ? (realPathOf(path) ?? path) : path, undefined, textBytes)
  if (!content.ok) {
    return { ...base, ...link, digest: unreadableDigest, problem: content.problem }
  }
  const { digest, size, text } = content
  const selected = file.keys && text !== undefined ? selectKeys(text, file.keys) : undefined
  if (selected === undefined) return { ...base, ...link, digest, size, text }
  if (selected === '') return undefined
  return { ...base, ...link, digest: sha256(selected), size, text: selected }
}

/** The keys as indented JSON, '' where none is there, undefined where the text is no JSON object. */
function selectKeys(text: string, keys: readonly string[]): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const entries = Object.entries(value).filter(([key]) => keys.includes(key))
  return entries.length === 0
    ? ''
    : `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`
}
