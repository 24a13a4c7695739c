import { type Dirent, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compareText, messageOf, systemCode } from '../base/index.ts'

/** Where files that define subagents lie below a project directory or the user's home. */
export const agentDirectories: readonly string[] = [
  '.skillrail/agents',
  '.agents/agents',
  '.claude/agents',
  '.mamba/agents',
]

export interface AgentFiles {
  /** Absolute, in code-point order; files of one folder before those of folders in it. */
  files: string[]
  problems: { path: string; message: string }[]
}

const limits = { depth: 4, files: 1000 }

/**
 * The Markdown files below a directory of definitions. A link to a file counts; one to a directory
 * is not followed. A directory that does not exist is empty.
 */
export function agentFilesIn(directory: string): AgentFiles {
  const found: AgentFiles = { files: [], problems: [] }
  visit(directory, 0, found)
  return found
}

/** The directories from `from` up to and including `root`. */
export function upTo(from: string, root: string): string[] {
  const directories = [from]
  for (let at = from; at !== root && dirname(at) !== at;) {
    at = dirname(at)
    directories.push(at)
  }
  return directories
}

function visit(directory: string, depth: number, found: AgentFiles): void {
  const folders: string[] = []
  for (const entry of entriesOf(directory, found)) {
    if (entry.isDirectory()) folders.push(entry.name)
    else if (/\.md$/i.test(entry.name)) {
      if (found.files.length >= limits.files) {
        const message = `there are more than ${limits.files} files; the rest is not read`
        found.problems.push({ path: directory, message })
        return
      }
      found.files.push(join(directory, entry.name))
    }
  }
  if (depth >= limits.depth) return
  for (const name of folders) visit(join(directory, name), depth + 1, found)
}

function entriesOf(directory: string, found: AgentFiles): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).toSorted((a, b) =>
      compareText(a.name, b.name),
    )
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      const message = `the directory cannot be read: ${code ?? messageOf(error)}`
      found.problems.push({ path: directory, message })
    }
    return []
  }
}
