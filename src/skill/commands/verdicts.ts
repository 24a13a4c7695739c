import { isUtf8 } from 'node:buffer'
import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, resolve, sep } from 'node:path'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { messageOf } from '../../core/errors.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { unifiedDiff } from '../../core/unified-diff.ts'
import { writeFileAtomicSync } from '../../core/write-files.ts'
import { listSkillFiles } from '../../library/skill-files.ts'
import { findSkillFiles } from '../../library/walk.ts'
import { SkillNotFoundError } from '../errors.ts'
import { type FixChange, fixSkill } from '../fix.ts'
import type { ValidationProfile } from '../model.ts'
import { validateSkill } from '../validate.ts'

/** What `validate` says about one file. */
export interface SkillVerdict {
  path: string
  name: string | null
  valid: boolean
  diagnostics: readonly Diagnostic[]
  changes?: readonly FixChange[] | undefined
  /** With `--dry-run`. */
  diff?: string | undefined
}

/** Nobody writes larger instructions; the limit keeps a wrong file from filling the memory. */
const maxBytes = 16 * 1024 * 1024

/** A file to validate, or what was found in the place of one. */
interface ValidationTarget {
  /** Absolute. */
  file: string
  /** As it is shown: relative to the working directory where it lies below it. */
  path: string
  problem?: Diagnostic | undefined
}

/**
 * The skills at and below the paths, each once, lazily.
 *
 * @throws SkillNotFoundError if a path does not exist or holds no skill.
 */
export function* validationTargets(
  cwd: string,
  paths: readonly string[],
): Generator<ValidationTarget, void> {
  const seen = new Set<string>()
  for (const path of paths.length === 0 ? ['.'] : paths) {
    const absolute = resolve(cwd, path)
    let found = 0
    for (const target of targetsAt(cwd, path, absolute)) {
      found++
      if (paths.length > 1 && seen.has(target.file)) continue
      if (paths.length > 1) seen.add(target.file)
      yield target
    }
    if (found === 0) throw noSkill(path)
  }
}

function* targetsAt(
  cwd: string,
  path: string,
  absolute: string,
): Generator<ValidationTarget, void> {
  const stats = statSync(absolute, { throwIfNoEntry: false })
  if (stats === undefined) throw missing(path)
  if (!stats.isDirectory()) {
    yield { file: absolute, path: shownPath(cwd, absolute) }
    return
  }
  const problems: Diagnostic[] = []
  const report = (problem: Diagnostic): void => void problems.push(problem)
  for (const { path: file } of findSkillFiles(absolute, { report })) {
    yield* problems.splice(0).map((problem) => broken(cwd, problem))
    yield { file, path: shownPath(cwd, file) }
  }
  yield* problems.map((problem) => broken(cwd, problem))
}

/** What the file says and whether it is valid. Never throws for what is in the file. */
export function validateTarget(target: ValidationTarget, profile: ValidationProfile): SkillVerdict {
  if (target.problem !== undefined) return unreadable(target, target.problem)
  const reading = readRegularFile(target.file, { maxBytes, binary: true })
  if (!reading.ok) return unreadable(target, fileProblem(target.path, reading))
  return validateContent(target, reading.bytes, profile)
}

function validateContent(
  { file, path }: ValidationTarget,
  content: string | Uint8Array,
  profile: ValidationProfile,
): SkillVerdict {
  const directory = dirname(file)
  const {
    name = null,
    valid,
    diagnostics,
  } = validateSkill(content, {
    path,
    directoryName: basename(directory),
    profile,
    files: profile === 'spec' ? listSkillFiles(directory) : undefined,
  })
  return { path, name, valid, diagnostics }
}

/** The text of a target, or the verdict on a file that has none. */
function readTarget(
  target: ValidationTarget,
  profile: ValidationProfile,
): { text: string } | { text?: undefined; verdict: SkillVerdict } {
  if (target.problem !== undefined) return { verdict: unreadable(target, target.problem) }
  const reading = readRegularFile(target.file, { maxBytes, binary: true })
  if (reading.ok && isUtf8(reading.bytes))
    return { text: new TextDecoder('utf8', { ignoreBOM: true }).decode(reading.bytes) }
  if (reading.ok) return { verdict: validateContent(target, reading.bytes, profile) }
  return { verdict: unreadable(target, fileProblem(target.path, reading)) }
}

function unreadable({ path }: ValidationTarget, problem: Diagnostic): SkillVerdict {
  const diagnostics = [problem]
  return { path, name: null, valid: problem.severity !== 'error', diagnostics }
}

function fileProblem(
  path: string,
  { code, message }: { code: string; message: string },
): Diagnostic {
  const hint = code === 'file-not-utf8' ? 'Save the file as UTF-8.' : undefined
  return { code, severity: 'error', message, path, hint }
}

function broken(cwd: string, problem: Diagnostic): ValidationTarget {
  const path = shownPath(cwd, problem.path)
  return { file: problem.path, path, problem: { ...problem, path } }
}

/** By its letters, which is many times cheaper than `path.relative` for 10,000 files. */
function shownPath(cwd: string, file: string): string {
  const root = cwd.endsWith(sep) ? cwd : cwd + sep
  return file.startsWith(root) && file.length > root.length ? file.slice(root.length) : file
}

function missing(path: string): SkillNotFoundError {
  return new SkillNotFoundError({
    code: 'skill-not-found',
    message: `${path} does not exist`,
    hint: 'Give a skill, a SKILL.md, or a folder with skills below it.',
  })
}

function noSkill(path: string): SkillNotFoundError {
  return new SkillNotFoundError({
    code: 'skill-not-found',
    message: `${path} holds no SKILL.md, nor does a folder below it`,
    hint: 'skillrail new NAME makes a skill.',
  })
}

interface FixOptions {
  profile: ValidationProfile
  dryRun: boolean
}

/** Fixes one file, or shows how; the verdict is the one of the fixed text. */
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
