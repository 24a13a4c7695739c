import { isUtf8 } from 'node:buffer'
import { writeLimit } from '#core/project-state'
import type { Runtime } from '#core/runtime'
import { statSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { cachePath, readCache, writeCache } from '#core/derived-cache'
import { compareDiagnostics, type Diagnostic, errorsIn, hasErrors, messageOf } from '#core/errors'
import { addTo } from '#core/lists'
import { isInside, readRegularFile, realPathOf } from '#core/read-files'
import { unifiedDiff } from '#core/unified-diff'
import { writeFileAtomicSync } from '#core/write-files'
import { type DiscoverOptions, discoverSkills } from '#library/discover'
import { indistinctSkills } from '#library/indistinct'
import { absolutePath, projectOf } from '#library/locations'
import type { SkillInfo } from '#library/model'
import { listSkillFiles } from '#library/skill-files'
import { findSkillFiles } from '#library/walk'
import { IgnoredFolders } from './git-ignored.ts'
import { checkTriggers, idleTriggers } from '#trigger/check'
import { exportProblems } from '#trigger/export-triggers'
import { filesFor, forgetProjectFiles } from '#trigger/project-files'
import { serversFor } from './known-servers.ts'
import { neverSent, type SkillNames } from './never-sent.ts'
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

/** A longer reference is not looked into. */
const maxReferenceBytes = 256 * 1024

interface ValidationTarget {
  file: string
  path: string
  problem?: Diagnostic | undefined
}

/**
 * The skills at and below the paths, each once, lazily; without folders that Git ignores and linked
 * working trees, unless they are named or Skillrail reads skills from them.
 * @param mayBeNone whether a path may hold no skill, as a plugin may
 * @throws SkillNotFoundError if a path does not exist or holds no skill.
 */
export function* validationTargets(
  options: DiscoverOptions,
  paths: readonly string[],
  mayBeNone = false,
): Generator<ValidationTarget, void> {
  const seen = new Set<string>()
  for (const path of paths.length === 0 ? ['.'] : paths) {
    let found = false
    for (const target of targetsAt(options, path)) {
      found = true
      if (seen.has(target.file)) continue
      if (paths.length > 1) seen.add(target.file)
      yield target
    }
    const message = `${path} has no SKILL.md, nor does a folder below it`
    const hint =
      'skillrail new NAME makes a skill. Folders that Git ignores are searched when they are named.'
    if (!found && !mayBeNone) throw notFound(message, hint)
  }
}

function* targetsAt(options: DiscoverOptions, path: string): Generator<ValidationTarget, void> {
  const { cwd } = options.runtime
  const absolute = resolve(cwd, path)
  const stats = statSync(absolute, { throwIfNoEntry: false })
  if (!stats) {
    throw notFound(`${path} does not exist`)
  }
  if (basename(absolute) === 'plugin.json') return yield* targetsAt(options, dirname(path))
  if (!stats.isDirectory()) return yield { file: absolute, path: shownPath(cwd, absolute) }
  const problems: ValidationTarget[] = []
  const report = (problem: Diagnostic) => {
    const path = shownPath(cwd, problem.path)
    problems.push({ file: problem.path, path, problem: { ...problem, path } })
  }
  const ignored = new IgnoredFolders(absolute, options.runtime)
  const walked = new Set<string>()
  const skipped: string[] = []
  const skip = (directory: string) => {
    const isSkipped = ignored.has(directory)
    if (isSkipped) skipped.push(directory)
    return isSkipped
  }
  for (const { path: file, realDirectory } of findSkillFiles(absolute, { report, skip })) {
    walked.add(realDirectory)
    yield* problems.splice(0)
    yield { file, path: shownPath(cwd, file) }
  }
  yield* problems
  if (skipped.length === 0) return
  for (const file of usedSkillFiles(options, absolute)) {
    const isSkipped = skipped.some((directory) => isInside(directory, file))
    const real = realPathOf(dirname(file)) ?? dirname(file)
    if (isSkipped && !walked.has(real)) yield { file, path: shownPath(cwd, file) }
  }
}

/** A project can ignore its own folder of skills: clients read it all the same. */
function usedSkillFiles(options: DiscoverOptions, root: string): string[] {
  const { skills, shadowed, conflicts, broken } = discoverSkills(options)
  const files = [...skills, ...shadowed, ...conflicts, ...broken].map(({ path }) => path)
  return files.filter((file) => isInside(root, file))
}

/**
 * Adds the problems that a skill has because of other skills: several with one name in one place, of which none can be
 * used, and several that cannot be told apart. Every project with a validated skill is searched.
 */
export function withConflicts(
  verdicts: readonly SkillVerdict[],
  options: DiscoverOptions,
): SkillVerdict[] {
  const { runtime } = options
  const fileOf = ({ path }: SkillVerdict) => resolve(runtime.cwd, path)
  const settled = {
    ...options,
    customPaths: options.customPaths?.map((path) => absolutePath(runtime, path)),
  }
  const projects = new Set([
    runtime.cwd,
    ...verdicts.flatMap((one) => projectOf(fileOf(one)) ?? []),
  ])
  const found = new Map<string, Diagnostic[]>()
  for (const cwd of projects) {
    const { skills, conflicts } = discoverSkills({ ...settled, runtime: { ...runtime, cwd } })
    const nameConflicts = conflicts.flatMap((info) =>
      info.diagnostics.filter(({ code }) => code === 'skill-conflict'),
    )
    for (const one of [...nameConflicts, ...indistinctSkills(skills)])
      addTo(found, realPathOf(one.path) ?? one.path, one)
  }
  if (found.size === 0) return [...verdicts]
  return verdicts.map((verdict) => {
    const file = fileOf(verdict)
    const others = found.get(realPathOf(file) ?? file)
    if (!others || verdict.isPlugin) return verdict
    const added = others.map((one) => ({ ...one, path: verdict.path }))
    const valid = verdict.valid && !hasErrors(added)
    return { ...verdict, valid, diagnostics: [...verdict.diagnostics, ...added] }
  })
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
  runtime: Runtime
  /** The names of the installed skills; without them, prompts that no client sends are not reported. */
  skillNames?: SkillNames | undefined
}

interface ValidationPlace extends Pick<VerdictOptions, 'runtime' | 'skillNames'> {
  path: string
  directory: string
  directoryName: string
}

export function validate(
  content: string | Uint8Array,
  { path, directory, directoryName, runtime, skillNames }: ValidationPlace,
): Validation {
  const readFile = (file: string): string | undefined => {
    const reading = readRegularFile(join(directory, file), { maxBytes: maxReferenceBytes })
    return reading.ok ? reading.text : undefined
  }
  const options = { path, directoryName, files: listSkillFiles(directory), readFile }
  const verdict = validateSkill(content, options)
  const text = typeof content === 'string' ? content : Buffer.from(content).toString()
  const { skill } = text.includes('triggers:') ? parseSkill(text, { path }) : {}
  const { triggers = [], name = directoryName } = skill?.fields ?? {}
  if (!skill || triggers.length === 0) return verdict
  const checked = { name, path, directory, triggers, text, body: skill.body }
  const place = { files: filesFor(checked, runtime), servers: serversFor(triggers, runtime) }
  const found = checkTriggers(checked, place).diagnostics.filter(
    ({ severity }) => severity !== 'info',
  )
  const unsent = skillNames ? neverSent(checked, skillNames, runtime) : []
  const all = [...verdict.diagnostics, ...found, ...unsent, ...exportProblems(checked)]
  const diagnostics = all.toSorted(compareDiagnostics)
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

type VerifiedSkill = Pick<SkillInfo, 'path' | 'size' | 'mtimeMs' | 'fields'>

/** The first error of each invalid skill by its `SKILL.md`, cached where possible. */
export async function invalidSkills(
  skills: readonly VerifiedSkill[],
  runtime: Runtime,
): Promise<ReadonlyMap<string, string>> {
  return (await skillProblems(skills, runtime)).errors
}

interface SkillProblems {
  /** The first error of each invalid skill by its `SKILL.md`. */
  errors: ReadonlyMap<string, string>
  /** Why a trigger of a skill cannot fire, by its `SKILL.md`. */
  idle: ReadonlyMap<string, string>
}

/** Returns the errors of skills and their triggers that cannot fire, cached where possible. */
export async function skillProblems(
  skills: readonly VerifiedSkill[],
  runtime: Runtime,
): Promise<SkillProblems> {
  forgetProjectFiles()
  const idle = new Map<string, string>()
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
    const [idleTrigger] = idleTriggers(diagnostics)
    if (idleTrigger) idle.set(file, idleTrigger.message)
  }
  if (rows.some((row) => byFile.get(row.file) !== row)) writeCache(cache, '1', rows)
  const errors = new Map(
    rows.flatMap(({ file, error }) => (error === undefined ? [] : [[file, error]])),
  )
  return { errors, idle }
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
    const { runtime, skillNames } = options
    const location = { path, directory, directoryName: basename(directory), runtime, skillNames }
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
