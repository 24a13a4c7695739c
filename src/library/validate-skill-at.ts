import { basename, dirname } from 'node:path'
import { readRegularFile } from '../base/index.ts'
import { validateSkill, type Validation } from '../skill/index.ts'
import { skillFileAt } from './find-skill.ts'
import { listSkillFiles } from './list-skill-files.ts'

/** More than any skill has: a file of this size is refused without being read. */
const maxValidatedBytes = 8 * 1024 * 1024

/** Validates the skill in a directory, or of a `SKILL.md`. What cannot be read is a finding too. */
export function validateSkillAt(path: string): Validation {
  const file = skillFileAt(path)
  if (file === undefined) {
    return refused(path, 'skill-file-missing', `there is no SKILL.md at ${path}`)
  }
  const reading = readRegularFile(file, { maxBytes: maxValidatedBytes })
  if (!reading.ok) return refused(file, reading.code, reading.message)
  const directory = dirname(file)
  return validateSkill(reading.text, {
    path: file,
    directoryName: basename(directory),
    files: listSkillFiles(directory),
  })
}

function refused(path: string, code: string, message: string): Validation {
  return {
    name: undefined,
    valid: false,
    diagnostics: [{ code, severity: 'error', message, path }],
  }
}
