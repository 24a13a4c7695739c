import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { findSkillFolders, type OtherSkill } from '../audit/index.ts'
import type { Diagnostic } from '../base/index.ts'
import { discoverOptionsFrom, discoverSkills, findSkill } from '../library/index.ts'
import { SkillNotFoundError } from '../skill/index.ts'
import type { CommandContext } from './command.ts'

export interface AuditTarget {
  /** Absolute, as it is shown. */
  directory: string
  realDirectory: string
}

/** What is audited, and what is installed besides. */
export interface AuditTargets {
  targets: readonly AuditTarget[]
  others: readonly OtherSkill[]
  diagnostics: readonly Diagnostic[]
}

/**
 * The skills that are named, or all that are installed: also those that are shadowed, in conflict
 * or broken. A folder gives every skill below it.
 *
 * @throws {SkillNotFoundError} if a name or path leads to no skill.
 */
export function auditTargets(context: CommandContext, references: readonly string[]): AuditTargets {
  const options = discoverOptionsFrom(context.runtime, context.settings)
  const discovery = discoverSkills(options)
  const installed = [...discovery.skills, ...discovery.shadowed, ...discovery.conflicts]
  const others = installed.map(({ name, realDirectory }) => ({ name, directory: realDirectory }))
  const diagnostics: Diagnostic[] = []
  const directories =
    references.length === 0
      ? [...installed, ...discovery.broken].map(({ path }) => dirname(path))
      : references.flatMap((reference) => {
          const path = resolve(context.runtime.cwd, reference)
          if (!isPath(reference) && !isDirectory(path)) {
            return [findSkill(reference, { ...options, discovery }).directory]
          }
          const found = foldersAt(path, reference)
          diagnostics.push(...found.diagnostics)
          return [...found.directories]
        })
  const targets = new Map(
    directories.map((directory) => {
      const realDirectory = realpathSync.native(directory)
      return [realDirectory, { directory, realDirectory }]
    }),
  )
  return { targets: [...targets.values()], others, diagnostics }
}

function isPath(reference: string): boolean {
  return /[\\/]/.test(reference) || /^\.{1,2}$/.test(reference) || /^skill\.md$/i.test(reference)
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function foldersAt(path: string, shown: string): ReturnType<typeof findSkillFolders> {
  const isFile = !isDirectory(path) && statSync(path, { throwIfNoEntry: false }) !== undefined
  if (isFile && /^skill\.md$/i.test(basename(path))) {
    return { directories: [dirname(path)], diagnostics: [] }
  }
  if (isDirectory(path)) {
    // A link that a person named is followed; those below it are not.
    const found = findSkillFolders(path)
    if (found.directories.length > 0) return found
  }
  throw new SkillNotFoundError({
    code: 'skill-not-found',
    message: `There is no skill at ${shown}, nor in a folder below it.`,
    hint: 'Give a name, a directory that holds a SKILL.md, or a folder with skills.',
  })
}
