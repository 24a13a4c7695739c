import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { compareText, type Diagnostic, messageOf } from '../base/index.ts'

/** Directories of skills, and what stood in the way of finding more. */
export interface SkillFolders {
  directories: readonly string[]
  diagnostics: readonly Diagnostic[]
}

const most = { depth: 24, directories: 50_000 }

/**
 * The outermost directories with a `SKILL.md`, in code-point order. Unlike discovery it follows no
 * link: a folder that a stranger made may link to the whole disk. Links to directories are named.
 */
export function findSkillFolders(root: string): SkillFolders {
  const directories: string[] = []
  const diagnostics: Diagnostic[] = []
  const report = (path: string, message: string): void =>
    void diagnostics.push({ code: 'not-analysed', severity: 'warning', path, message })
  const waiting = [{ path: root, depth: 0 }]
  let visited = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, depth } = next
    if (++visited > most.directories) {
      report(path, `more than ${most.directories} directories; the others were not looked at`)
      break
    }
    try {
      const entries = readdirSync(path, { withFileTypes: true })
      if (entries.some(({ name }) => /^skill\.md$/i.test(name))) {
        directories.push(path)
        continue
      }
      if (depth === most.depth)
        report(path, `lies ${most.depth} levels deep, and was not looked at`)
      for (const entry of entries) {
        const child = join(path, entry.name)
        if (entry.isSymbolicLink()) report(child, 'is a link; name its target to have it audited')
        const isSkipped = entry.name === '.git' || entry.name === 'node_modules'
        if (!entry.isDirectory() || isSkipped || depth === most.depth) continue
        waiting.push({ path: child, depth: depth + 1 })
      }
    } catch (error) {
      report(path, `cannot be read: ${messageOf(error)}`)
    }
  }
  return { directories: directories.toSorted(compareText), diagnostics }
}
