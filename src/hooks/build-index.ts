import { mkdirSync, readdirSync, statSync, unlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import {
  loadConfiguration,
  type Runtime,
  userDirectories,
  writeFileAtomicSync,
} from '../base/index.ts'
import {
  discoverOptionsFrom,
  type DiscoverOptions,
  discoverSkills,
  type Discovery,
  type SkillInfo,
  skillLocations,
  walkDirectories,
  walkLimits,
} from '../library/index.ts'
import { findWorkspace, openTrustStore, readTrustPolicy, skillTrust } from '../trust/index.ts'
import { compilePattern, type PatternPlan } from '../trigger/index.ts'
import {
  currentStamp,
  existenceStamp,
  indexEnd,
  type IndexHead,
  indexTitle,
  type TrustMark,
} from './index-format.ts'
import { indexDirectory, type IndexPlace } from './index-place.ts'

/** The coarsest clock of a file system (FAT): a second change within it can look like none. */
const clockGrainMs = 2000
/** Indexes that are kept; each working directory has one. */
const mostIndexes = 100

/**
 * Reads all skills and writes the index of a working directory. Returns its text; that it could not
 * be written only means that it is made again for the next prompt.
 */
export function buildIndex(runtime: Runtime, place: IndexPlace): string {
  const builtAt = runtime.now()
  const { settings } = loadConfiguration(runtime)
  const options = discoverOptionsFrom(runtime, settings)
  const discovery = discoverSkills(options)
  const lines = [
    ...probeLines(runtime, options, discovery),
    ...skillLines(runtime, options, discovery),
  ]
  const head: IndexHead = {
    key: place.key,
    settled: lines.every((line) => changedAt(line) < builtAt - clockGrainMs),
    repeat: settings.hooks.repeat,
  }
  const text = [indexTitle, JSON.stringify(head), ...lines, indexEnd, ''].join('\n')
  try {
    makeRoom(runtime)
    writeFileAtomicSync(place.path, text, { mode: 0o600 })
  } catch {
    // Read-only or full.
  }
  return text
}

function* probeLines(
  runtime: Runtime,
  options: DiscoverOptions,
  { skills, shadowed, conflicts, broken }: Discovery,
): Generator<string> {
  const files = [
    join(userDirectories(runtime).config, 'config.json'),
    openTrustStore(runtime).path,
    ...[...shadowed, ...conflicts, ...broken].map(({ path }) => path),
  ]
  for (const directory of directoriesUpward(runtime.cwd)) {
    yield line('E', join(directory, '.git'), existenceStamp)
    files.push(join(directory, '.skillrail', 'config.json'))
  }
  const mayHoldSkills = new Set([
    ...broken.map(({ path }) => dirname(path)),
    ...skills.filter(isChain).map((info) => info.directory),
  ])
  for (const { directory, explicit } of skillLocations(runtime, options)) {
    files.push(directory)
    if (currentStamp(directory) === '-') continue
    const limits = explicit ? undefined : walkLimits
    // What lies in a skill is of no interest, unless there may be skills among it.
    const closed = new Set<string>()
    for (const { path, skillFile } of walkDirectories(directory, { limits })) {
      const isSkill = skillFile !== undefined && !mayHoldSkills.has(path)
      if (isSkill || closed.has(dirname(path))) closed.add(path)
      else files.push(path)
    }
  }
  for (const path of new Set(files)) yield line('P', path, currentStamp)
}

function* skillLines(
  runtime: Runtime,
  options: DiscoverOptions,
  { skills }: Discovery,
): Generator<string> {
  const workspace = findWorkspace(runtime.cwd, runtime)
  const { policy } = readTrustPolicy(runtime, { ...options, workspace })
  for (const info of skills) {
    if (/[\t\n]/.test(info.name)) continue
    const { level, code } = skillTrust(info, policy)
    const mark: TrustMark = level !== 'trusted' ? '-' : code === 'workspace-accepted' ? '?' : '+'
    yield `${line('S', info.path, currentStamp)}\t${mark}\t${info.name}`
    for (const { match, inject, line } of info.fields.triggers) {
      const reading = compilePattern(match)
      if (!reading.ok) continue
      const { plan } = reading.pattern
      yield `T${literalOf(plan)}\t${JSON.stringify({ match, inject, line, plan })}`
    }
  }
}

function line(kind: string, path: string, stamp: (path: string) => string): string {
  return /[\t\n]/.test(path) ? '' : `${kind}${path}\t${stamp(path)}`
}

function isChain(info: SkillInfo): boolean {
  return info.fields.chain !== undefined
}

/** A text that is in every prompt that matches; empty where none is certain or can stand in a line. */
function literalOf(plan: PatternPlan): string {
  const texts = plan.engine === 'text' ? [[plan.text]] : plan.required
  const certain = texts.flatMap((clause) => (clause.length === 1 ? clause : []))
  return certain.find((text) => !/[\t\n\r]/.test(text)) ?? ''
}

/** The ctime in a line; the beginning of time where it has none. */
function changedAt(line: string): number {
  const found = /^[PS][^\t]*\t([0-9.]+) /.exec(line)
  return found === null ? 0 : Number(found[1])
}

/** From a directory up to the repository's root, or to the top where there is none. */
function directoriesUpward(from: string): string[] {
  const directories: string[] = []
  for (let directory = resolve(from); ; directory = dirname(directory)) {
    directories.push(directory)
    if (existenceStamp(join(directory, '.git')) === '+' || directory === dirname(directory)) {
      return directories
    }
  }
}

/** Takes away the indexes that were written longest ago. */
function makeRoom(runtime: Runtime): void {
  const directory = indexDirectory(runtime)
  mkdirSync(directory, { recursive: true })
  const names = readdirSync(directory)
  if (names.length < mostIndexes) return
  const files = names.map((name) => join(directory, name))
  const ages = new Map(
    files.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0]),
  )
  const oldest = files.toSorted((a, b) => (ages.get(a) ?? 0) - (ages.get(b) ?? 0))
  for (const file of oldest.slice(0, files.length - mostIndexes / 2)) unlinkSync(file)
}
