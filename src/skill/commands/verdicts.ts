import { isUtf8 } from 'node:buffer'
import { writeLimit } from '../../core/project-state.ts'
import type { Runtime } from '../../core/runtime.ts'
import { statSync } from 'node:fs'
import { basename, dirname, resolve, sep } from 'node:path'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { messageOf } from '../../core/errors.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { unifiedDiff } from '../../core/unified-diff.ts'
import { writeFileAtomicSync } from '../../core/write-files.ts'
import { findSkillFiles } from '../../library/walk.ts'
import { SkillNotFoundError } from '../errors.ts'
import { type FixChange, fixSkill } from '../fix.ts'
import type { Validation } from '../validate.ts'

export interface SkillVerdict {
  path: string
  name: string | null
  valid: boolean
  isChain?: true
  diagnostics: readonly Diagnostic[]
  changes?: readonly FixChange[] | undefined
  diff?: string | undefined
}

/** Nobody writes larger instructions; the limit keeps a wrong file from filling the memory. */
const maxBytes = 16 * 1024 * 1024

interface ValidationTarget {
  file: string
  path: string
  problem?: Diagnostic | undefined
}

/**
 * The skills at and below the paths, each once, lazily.
 * @throws SkillNotFoundError if a path does not exist or holds no skill.
 */
export function* validationTargets(
  cwd: string,
  paths: readonly string[],
): Generator<ValidationTarget, void> {
  const seen = new Set<string>()
  for (const path of paths.length === 0 ? ['.'] : paths) {
    let found = false
    for (const target of targetsAt(cwd, path)) {
      found = true
      if (seen.has(target.file)) continue
      if (paths.length > 1) seen.add(target.file)
      yield target
    }
    const message = `${path} holds no SKILL.md, nor does a folder below it`
    if (!found) throw notFound(message, 'skillrail new NAME makes a skill.')
  }
}

function* targetsAt(cwd: string, path: string): Generator<ValidationTarget, void> {
  const absolute = resolve(cwd, path)
  const stats = statSync(absolute, { throwIfNoEntry: false })
  if (stats === undefined) {
    const hint = 'Give a skill, a SKILL.md, or a folder with skills below it.'
    throw notFound(`${path} does not exist`, hint)
  }
  if (!stats.isDirectory()) {
    yield { file: absolute, path: shownPath(cwd, absolute) }
    return
  }
  const problems: ValidationTarget[] = []
  const report = (problem: Diagnostic): void => {
    const path = shownPath(cwd, problem.path)
    problems.push({ file: problem.path, path, problem: { ...problem, path } })
  }
  for (const { path: file } of findSkillFiles(absolute, { report })) {
    yield* problems.splice(0)
    yield { file, path: shownPath(cwd, file) }
  }
  yield* problems
}

function notFound(message: string, hint: string): SkillNotFoundError {
  return new SkillNotFoundError({ code: 'skill-not-found', message, hint })
}

/** By its letters, which is many times cheaper than `path.relative` for 10,000 files. */
function shownPath(cwd: string, file: string): string {
  const root = cwd.endsWith(sep) ? cwd : cwd + sep
  return file.startsWith(root) && file.length > root.length ? file.slice(root.length) : file
}

export interface VerdictOptions {
  validate: (
    content: string | Uint8Array,
    options: { path: string; directory: string; directoryName: string },
  ) => Validation
  /** `write` fixes the file and `show` shows how; the verdict is then the one of the fixed text. */
  fix?: 'write' | 'show' | undefined
  runtime: Pick<Runtime, 'cwd' | 'home'>
}

export function verdictOn(target: ValidationTarget, options: VerdictOptions): SkillVerdict {
  const { file, path } = target
  if (target.problem !== undefined) return unreadable(target.problem)
  const reading = readRegularFile(file, { maxBytes, binary: true })
  if (!reading.ok) {
    const { code, message } = reading
    const hint = code === 'file-not-utf8' ? 'Save the file as UTF-8.' : undefined
    return unreadable({ code, severity: 'error', message, path, hint })
  }
  const { bytes } = reading
  const directory = dirname(file)
  const verdict = (content: string | Uint8Array): SkillVerdict => {
    const location = { path, directory, directoryName: basename(directory) }
    const { name = null, valid, isChain, diagnostics } = options.validate(content, location)
    return { path, name, valid, ...(isChain === true ? { isChain } : {}), diagnostics }
  }
  if (options.fix === undefined || !isUtf8(bytes)) return verdict(bytes)
  const text = new TextDecoder('utf8', { ignoreBOM: true }).decode(bytes)
  const { text: fixed, changes } = fixSkill(text)
  const after = verdict(fixed)
  if (changes.length === 0) return after
  if (options.fix === 'show') return { ...after, changes, diff: unifiedDiff(path, text, fixed) }
  try {
    writeFileAtomicSync(file, fixed, { within: writeLimit(file, options.runtime) })
    return { ...after, changes }
  } catch (error) {
    const message = `The file was not written, so ${changes.length} changes are missing: ${messageOf(error)}`
    const unwritten = { code: 'fix-not-written', severity: 'error' as const, message, path }
    return { ...after, valid: false, diagnostics: [...after.diagnostics, unwritten] }
  }
}

function unreadable(problem: Diagnostic): SkillVerdict {
  const valid = problem.severity !== 'error'
  return { path: problem.path, name: null, valid, diagnostics: [problem] }
}
