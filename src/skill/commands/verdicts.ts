import { isUtf8 } from 'node:buffer'
import { writeLimit } from '#core/project-state'
import type { Runtime } from '#core/runtime'
import { statSync } from 'node:fs'
import { basename, dirname, resolve, sep } from 'node:path'
import { cachePath, readCache, writeCache } from '#core/derived-cache'
import { compareDiagnostics, type Diagnostic, errorsIn, hasErrors, messageOf } from '#core/errors'
import { readRegularFile } from '#core/read-files'
import { unifiedDiff } from '#core/unified-diff'
import { writeFileAtomicSync } from '#core/write-files'
import type { SkillInfo } from '#library/model'
import { listSkillFiles } from '#library/skill-files'
import { findSkillFiles } from '#library/walk'
import { checkTriggers } from '#trigger/check'
import { SkillNotFoundError } from '#skill/errors'
import { type FixChange, fixSkill } from '#skill/fix'
import { parseSkill } from '#skill/parse'
import { validateSkill, type Validation } from '#skill/validate'

export interface SkillVerdict {
  path: string
  name: string | null
  valid: boolean
  isChain?: true | undefined
  isPlugin?: true
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
 * @param mayBeNone whether a path may hold no skill, as a plugin may
 * @throws SkillNotFoundError if a path does not exist or holds no skill.
 */
export function* validationTargets(
  cwd: string,
  paths: readonly string[],
  mayBeNone = false,
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
    if (!found && !mayBeNone) throw notFound(message, 'skillrail new NAME makes a skill.')
  }
}

function* targetsAt(cwd: string, path: string): Generator<ValidationTarget, void> {
  const absolute = resolve(cwd, path)
  const stats = statSync(absolute, { throwIfNoEntry: false })
  if (!stats) {
    throw notFound(`${path} does not exist`)
  }
  if (basename(absolute) === 'plugin.json') return yield* targetsAt(cwd, dirname(path))
  if (!stats.isDirectory()) return yield { file: absolute, path: shownPath(cwd, absolute) }
  const problems: ValidationTarget[] = []
  const report = (problem: Diagnostic) => {
    const path = shownPath(cwd, problem.path)
    problems.push({ file: problem.path, path, problem: { ...problem, path } })
  }
  for (const { path: file } of findSkillFiles(absolute, { report })) {
    yield* problems.splice(0)
    yield { file, path: shownPath(cwd, file) }
  }
  yield* problems
}

function notFound(message: string, hint?: string): SkillNotFoundError {
  return new SkillNotFoundError({ code: 'skill-not-found', message, hint })
}

/** By its letters, which is many times cheaper than `path.relative` for 10,000 files. */
export function shownPath(cwd: string, file: string): string {
  const root = cwd.endsWith(sep) ? cwd : cwd + sep
  return file.startsWith(root) && file.length > root.length ? file.slice(root.length) : file
}

export interface VerdictOptions {
  validate: typeof validate
  /** `write` fixes the file and `show` shows how; the verdict is then the one of the fixed text. */
  fix?: 'write' | 'show' | undefined
  runtime: Pick<Runtime, 'cwd' | 'home'>
}

export function validate(
  content: string | Uint8Array,
  { path, directory, directoryName }: { path: string; directory: string; directoryName: string },
): Validation {
  const options = { path, directoryName, files: listSkillFiles(directory) }
  const verdict = validateSkill(content, options)
  const text = typeof content === 'string' ? content : Buffer.from(content).toString()
  const { skill } = text.includes('triggers:') ? parseSkill(text, { path }) : {}
  const { triggers = [], name = directoryName } = skill?.fields ?? {}
  if (!skill || triggers.length === 0) return verdict
  const checked = { name, path, directory, triggers, text, body: skill.body }
  const found = checkTriggers(checked).diagnostics.filter(({ severity }) => severity !== 'info')
  const diagnostics = [...verdict.diagnostics, ...found].toSorted(compareDiagnostics)
  return { ...verdict, valid: !hasErrors(diagnostics), diagnostics }
}

export async function withPlan(
  verdict: SkillVerdict,
  file: string,
  cwd: string,
): Promise<SkillVerdict> {
  const { chainProblems } = await import('#chain/plan')
  const problems = chainProblems(dirname(file), cwd)
  const valid = verdict.valid && !hasErrors(problems)
  return { ...verdict, valid, diagnostics: [...verdict.diagnostics, ...problems] }
}

interface KnownVerdict {
  file: string
  size: number
  mtimeMs: number
  error: string | undefined
}

/** The first error of each invalid skill by its `SKILL.md`, cached where possible. */
export async function invalidSkills(
  skills: readonly Pick<SkillInfo, 'path' | 'size' | 'mtimeMs' | 'fields'>[],
  runtime: Runtime,
): Promise<ReadonlyMap<string, string>> {
  const cache = cachePath(runtime, 'library', `verdicts ${runtime.cwd}`)
  const known = readCache<readonly KnownVerdict[]>(cache, '1', [])
  const byFile = new Map(known.map((row) => [row.file, row]))
  const rows: KnownVerdict[] = []
  for (const { path: file, size, mtimeMs, fields } of skills) {
    const before = byFile.get(file)
    const isAlone = fields.chain === undefined && fields.triggers.length === 0
    const isKnown = isAlone && before?.size === size && before.mtimeMs === mtimeMs
    if (isKnown) {
      rows.push(before)
      continue
    }
    const { diagnostics } = await skillVerdict(file, runtime)
    const error = errorsIn(diagnostics)[0]?.message
    rows.push({ file, size, mtimeMs, error })
  }
  if (rows.some((row) => byFile.get(row.file) !== row)) writeCache(cache, '1', rows)
  return new Map(rows.flatMap(({ file, error }) => (error === undefined ? [] : [[file, error]])))
}

export async function skillVerdict(file: string, runtime: Runtime): Promise<SkillVerdict> {
  const verdict = verdictOn({ file, path: file }, { validate, runtime })
  return verdict.isChain ? await withPlan(verdict, file, runtime.cwd) : verdict
}

export function verdictOn(target: ValidationTarget, options: VerdictOptions): SkillVerdict {
  const { file, path } = target
  if (target.problem) return unreadable(target.problem)
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
    return { path, name, valid, isChain: isChain || undefined, diagnostics }
  }
  if (!options.fix || !isUtf8(bytes)) return verdict(bytes)
  const text = new TextDecoder('utf8', { ignoreBOM: true }).decode(bytes)
  const { text: fixed, changes } = fixSkill(text)
  const after = verdict(fixed)
  if (changes.length === 0) return after
  if (options.fix === 'show') return { ...after, changes, diff: unifiedDiff(path, text, fixed) }
  try {
    writeFileAtomicSync(file, fixed, { within: writeLimit(file, options.runtime) })
    return { ...after, changes }
  } catch (error) {
    const message = `The file was not written: ${messageOf(error)}`
    const unwritten = { code: 'fix-not-written', severity: 'error' as const, message, path }
    return { ...after, valid: false, diagnostics: [...after.diagnostics, unwritten] }
  }
}

function unreadable(problem: Diagnostic): SkillVerdict {
  const valid = problem.severity !== 'error'
  return { path: problem.path, name: null, valid, diagnostics: [problem] }
}
