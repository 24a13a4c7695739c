import { type Diagnostic, hasErrors } from '../base/index.ts'
import type { SkillFiles, ValidationProfile } from './model.ts'
import { readFrontmatter } from './parse.ts'
import { validateReference } from './validate-reference.ts'
import { validateSpec } from './validate-spec.ts'

export interface ValidateOptions {
  /** The path of the `SKILL.md`, for the diagnostics. */
  path: string
  /** The last part of the directory's path; undefined leaves out the rule that compares it. */
  directoryName: string | undefined
  /** Default `spec`. */
  profile?: ValidationProfile | undefined
  /** All files of the skill; without them the advice about files is left out. */
  files?: SkillFiles | undefined
}

export interface Validation {
  /** The name as written, where it could be read. */
  name: string | undefined
  /** Whether there is no error; warnings and advice do not count. */
  valid: boolean
  diagnostics: Diagnostic[]
}

/**
 * The verdict on one `SKILL.md`, by the written specification or as the reference validator gives
 * it. Pass the bytes of the file where you have them: only they show whether it is UTF-8.
 *
 * @example
 * validateSkill(bytes, { path: 'a/SKILL.md', directoryName: 'a', profile: 'reference' }).valid
 */
export function validateSkill(content: string | Uint8Array, options: ValidateOptions): Validation {
  const { path, directoryName, profile = 'spec', files } = options
  if (profile === 'reference') {
    const { name, diagnostics } = validateReference(content, { path, directoryName })
    return { name, valid: !hasErrors(diagnostics), diagnostics }
  }
  const reading = readFrontmatter(content, path)
  if (!reading.ok) {
    const { diagnostics } = reading
    return { name: undefined, valid: !hasErrors(diagnostics), diagnostics }
  }
  const { root, split } = reading
  const { body, bodyLine } = split
  const spec = validateSpec({ root, path, directoryName, body, bodyLine, files })
  const diagnostics = [...reading.diagnostics, ...spec.diagnostics]
  return { name: spec.fields.name, valid: !hasErrors(diagnostics), diagnostics }
}
