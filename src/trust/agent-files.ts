import { type Dirent, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { byText, compareText, messageOf, systemCode } from '#core/errors'
import { sha256 } from '#core/json'
import { realPathOf } from '#core/read-files'
import { splitFrontmatter } from '#skill/frontmatter'
import type { ActingPart } from './model.ts'
import { digestFile, unreadableDigest, workspaceRelative } from './skill-files.ts'

/** Folders with files that define subagents, in a project and in the user's home. */
export const agentDirectories: readonly string[] = [
  '.skillrail/agents',
  '.agents/agents',
  '.claude/agents',
  '.mamba/agents',
]

/**
 * Returns the acting parts of the files that define subagents in the given directories of a workspace.
 * The frontmatter acts: tools, model, skills, permissions. The prompt below the frontmatter is text.
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

/** Returns the parts of one file; none for a file without frontmatter, which defines nothing. */
export function agentFileParts(
  workspace: string,
  path: string,
  options: { text: boolean },
): ActingPart[] {
  const base = { owner: '', path: workspaceRelative(workspace, path) }
  const agent = { ...base, kind: 'agent' as const }
  const content = digestFile(realPathOf(path) ?? path)
  if (!content.ok) {
    return [{ ...agent, digest: unreadableDigest, size: 0, problem: content.problem }]
  }
  const { digest, size, text } = content
  // In a file that is too long to be kept as text, every byte counts.
  if (text === undefined) return [{ ...agent, digest, size }]
  const split = splitFrontmatter(text)
  if (!split.found) return []
  const { source } = split
  const acting = { ...agent, digest: sha256(source), size: Buffer.byteLength(source), text: source }
  return options.text ? [acting, { ...base, kind: 'text', digest, size, text }] : [acting]
}

interface AgentFiles {
  /** Absolute, in code-point order; files of a folder precede the files of its subfolders. */
  files: string[]
  problems: { path: string; message: string }[]
}

const limits = { depth: 4, files: 1000 }

/** Lists the Markdown files below a directory of definitions. Does not follow links to directories. */
export function agentFilesIn(directory: string): AgentFiles {
  const result: AgentFiles = { files: [], problems: [] }
  const visit = (place: string, depth: number): void => {
    const folders: string[] = []
    for (const entry of entriesOf(place, result.problems)) {
      if (entry.isDirectory()) folders.push(entry.name)
      else if (/\.md$/i.test(entry.name)) {
        if (result.files.length >= limits.files) {
          const message = `there are more than ${limits.files} files; the rest is not read`
          result.problems.push({ path: place, message })
          return
        }
        result.files.push(join(place, entry.name))
      }
    }
    if (depth === limits.depth) return
    for (const name of folders) visit(join(place, name), depth + 1)
  }
  visit(directory, 0)
  return result
}

function entriesOf(directory: string, problems: AgentFiles['problems']): Dirent[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true })
    return entries.toSorted(byText('name'))
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      const message = `the directory cannot be read: ${code ?? messageOf(error)}`
      problems.push({ path: directory, message })
    }
    return []
  }
}
