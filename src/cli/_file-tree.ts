import { safeLine } from '../base/index.ts'
import type { ResourceTree } from '../library/index.ts'
import { bytes } from '../base/text.ts'

interface Branch {
  directories: Map<string, Branch>
  files: { name: string; note: string }[]
}

/** Files as a tree, one line each, with sizes. */
export function fileTree({ files, truncated }: ResourceTree): string[] {
  const root = newBranch()
  for (const { path, size, executable } of files) {
    const names = path.split('/')
    const name = names.pop() ?? path
    let branch = root
    for (const directory of names) branch = descend(branch, directory)
    const run = executable && process.platform !== 'win32' ? ', executable' : ''
    branch.files.push({ name, note: bytes(size) + run })
  }
  const lines = linesOf(root, '')
  return truncated ? [...lines, '… and more'] : lines
}

function newBranch(): Branch {
  return { directories: new Map(), files: [] }
}

function descend(branch: Branch, name: string): Branch {
  const known = branch.directories.get(name)
  if (known !== undefined) return known
  const made = newBranch()
  branch.directories.set(name, made)
  return made
}

function linesOf(branch: Branch, indent: string): string[] {
  const directories = Array.from(branch.directories, ([name, below]) => ({
    name: `${name}/`,
    below,
  }))
  const entries: { name: string; note?: string; below?: Branch }[] = [
    ...directories,
    ...branch.files,
  ]
  return entries.flatMap(({ name, note, below }, index) => {
    const last = index === entries.length - 1
    const line = `${indent}${last ? '└── ' : '├── '}${safeLine(name)}${note === undefined ? '' : `  ${note}`}`
    if (below === undefined) return [line]
    return [line, ...linesOf(below, `${indent}${last ? '    ' : '│   '}`)]
  })
}
