import { realpathSync, statSync } from 'node:fs'
import { type FixChange, fixSkill, type ValidationProfile } from '../skill/index.ts'
import { messageOf, writeFileAtomicSync } from '../base/index.ts'
import { unifiedDiff } from '../base/unified-diff.ts'
import type { SkillVerdict } from './_validate-report.ts'
import { readTarget, validateContent, type ValidationTarget } from './_validate-target.ts'

export interface FixOptions {
  profile: ValidationProfile
  dryRun: boolean
}

/** Mends one file, or shows how; the verdict is the one of the mended text. */
export function fixTarget(target: ValidationTarget, { profile, dryRun }: FixOptions): SkillVerdict {
  const reading = readTarget(target, profile)
  if (reading.text === undefined) return reading.verdict
  const { text, changes } = fixSkill(reading.text)
  const verdict = validateContent(target, text, profile)
  if (changes.length === 0) return verdict
  if (dryRun) return { ...verdict, changes, diff: unifiedDiff(target.path, reading.text, text) }
  const failure = write(target.file, text)
  return failure === undefined ? { ...verdict, changes } : notWritten(verdict, failure, changes)
}

/** Through a link to the file itself, which keeps its mode. */
function write(file: string, text: string): string | undefined {
  try {
    const real = realpathSync(file)
    writeFileAtomicSync(real, text, { mode: statSync(real).mode & 0o777 })
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function notWritten(
  verdict: SkillVerdict,
  failure: string,
  changes: readonly FixChange[],
): SkillVerdict {
  const { path } = verdict
  const message = `The file was not written, so ${changes.length} changes are missing: ${failure}`
  const problem = { code: 'fix-not-written', severity: 'error' as const, message, path }
  return { ...verdict, valid: false, diagnostics: [...verdict.diagnostics, problem] }
}
