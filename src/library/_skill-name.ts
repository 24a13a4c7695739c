import { basename, dirname } from 'node:path'
import type { Diagnostic } from '../base/index.ts'

export interface SkillName {
  name: string
  diagnostics: readonly Diagnostic[]
}

/**
 * The name by which a skill is known: the one it gives itself, even where that breaks the rules,
 * unless it could be taken for a path. Then, and where there is none, it is the directory's.
 */
export function skillName(written: string | undefined, path: string): SkillName {
  const directory = basename(dirname(path))
  const name = written?.trim()
  if (name === undefined || name === '') {
    const message = `the skill has no name; it is known by that of its directory, ${directory}`
    return { name: directory, diagnostics: [warning('name-missing', path, message)] }
  }
  if (/[\\/\p{Cc}]/u.test(name) || name === '.' || name === '..') {
    const message = `the name ${JSON.stringify(name)} could be taken for a path; the skill is known by that of its directory, ${directory}`
    return { name: directory, diagnostics: [warning('name-unusable', path, message)] }
  }
  if (name === directory) return { name: directory, diagnostics: none }
  const message = `the skill is named ${name} and its directory ${directory}; some clients go by one, some by the other`
  return { name, diagnostics: [warning('name-directory-mismatch', path, message)] }
}

const none: readonly never[] = Object.freeze([])

function warning(code: string, path: string, message: string): Diagnostic {
  const hint = 'Give the skill and its directory the same name, of a-z, 0-9 and hyphens.'
  return { code, severity: 'warning', message, path, hint }
}
