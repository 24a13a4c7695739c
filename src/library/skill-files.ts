import { type Dirent, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { byText } from '#core/errors'
import {
  foldersOutsideSkill,
  isInside,
  isLeftBehind,
  readRegularFile,
  realPathOf,
  resolveInside,
  statsOf,
} from '#core/read-files'
import type { SkillFile } from '#skill/model'
import { SkillLoadError } from '#skill/errors'
import type { ResourceTree, SkillInfo } from './model.ts'

/** Lists the files below a skill's directory, in code-point order. */
export function listSkillFiles(directory: string): SkillFile[] {
  return [...walkFiles(directory, true)].toSorted(byText('path'))
}

/** Lists up to `limit` files, without the `SKILL.md` and without nested skills. */
export function listResources(directory: string, limit = 500): ResourceTree {
  const resources: SkillFile[] = []
  for (const file of walkFiles(directory, false)) {
    if (!isSkillFile(file.path)) resources.push(file)
    if (resources.length > limit) break
  }
  const files = resources.slice(0, limit).toSorted(byText('path'))
  return { files, truncated: resources.length > limit }
}

/** Walks level by level, so that a limit leaves out the deepest files. */
function* walkFiles(directory: string, nestedSkills: boolean): Generator<SkillFile, void> {
  let level = ['']
  while (level.length > 0) {
    const next: string[] = []
    for (const parent of level) {
      const entries = entriesOf(parent === '' ? directory : join(directory, parent))
      if (parent !== '' && !nestedSkills && entries.some(({ name }) => isSkillFile(name))) continue
      for (const entry of entries) {
        const path = parent === '' ? entry.name : `${parent}/${entry.name}`
        const isClosed =
          ['.git', 'node_modules'].includes(entry.name) || foldersOutsideSkill.includes(path)
        if (entry.isDirectory() && !isClosed) next.push(path)
        const file = isLeftBehind(entry.name) ? undefined : fileOf(directory, path, entry)
        if (file) yield file
      }
    }
    level = next
  }
}

/** Returns the entries in code-point order; none if the directory cannot be read. */
export function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).toSorted(byText('name'))
  } catch {
    return []
  }
}

/** Reads the stats only when a caller needs them: `validate` needs them only for scripts. */
function fileOf(directory: string, path: string, entry: Dirent): SkillFile | undefined {
  if (!entry.isFile() && !entry.isSymbolicLink()) return undefined
  let cachedStats: Stats | undefined
  const stats = (): Stats | undefined => (cachedStats ??= statsOf(join(directory, path)))
  if (entry.isSymbolicLink()) {
    const target = realPathOf(join(directory, path))
    const isOutside = target === undefined || !isInside(realPathOf(directory) ?? directory, target)
    if (isOutside || !stats()?.isFile()) return undefined
  }
  return {
    path,
    get executable() {
      return process.platform === 'win32' || ((stats()?.mode ?? 0) & 0o111) !== 0
    },
    get size() {
      return stats()?.size ?? 0
    },
  }
}

function isSkillFile(name: string): boolean {
  return name === 'SKILL.md' || name === 'skill.md'
}

/** A larger reference is refused: no model could read it at once. */
export const maxResourceBytes: number = 1024 * 1024

export interface Resource {
  path: string
  text: string
  size: number
}

/** Reads a UTF-8 file whose real path is inside the skill's directory. */
export function readSkillResource({ name, directory }: SkillInfo, path: string): Resource {
  if (directory === '') {
    const message = `Skill ${name} exists only in code and has no files; ${path} cannot be read.`
    throw new SkillLoadError({ code: 'path-missing', message })
  }
  const resolution = resolveInside(directory, path)
  // The resolved path has no links: a link there now appeared after the check.
  const options = { maxBytes: maxResourceBytes, followSymlinks: false }
  const reading = resolution.ok ? readRegularFile(resolution.path, options) : resolution
  if (reading.ok) return { path, text: reading.text, size: reading.size }
  const message = `Resource ${path} of skill ${name} cannot be read: ${reading.message}.`
  throw new SkillLoadError({ code: reading.code, message })
}

const maxListedFiles = 200

/** Returns one line for each file, for a model. */
export function filesText({ files, truncated }: ResourceTree): string {
  const lines = files.slice(0, maxListedFiles).map(({ path, size }) => `${path} (${size} bytes)`)
  if (truncated || files.length > maxListedFiles) lines.push('[There are more files.]')
  return lines.join('\n')
}
