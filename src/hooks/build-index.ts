import { readdirSync, statSync, unlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import {
  isInside,
  loadConfiguration,
  makePrivateDirectory,
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
  gramCount,
  gramOf,
  type IndexedTrigger,
  type IndexHead,
  type IndexTables,
  statOf,
  titleLine,
  type TrustMark,
} from './index-format.ts'
import { indexDirectory, type IndexPlace } from './index-place.ts'

/** The coarsest clock of a file system (FAT): a second change within it can look like none. */
const clockGrainMs = 2000
/** Indexes that are kept; each working directory has one. */
const mostIndexes = 100

/**
 * Reads all skills and writes the index of a working directory. Returns it; that it could not be
 * written only means that it is made again for the next prompt.
 */
export function buildIndex(runtime: Runtime, place: IndexPlace): Buffer {
  const builtAt = runtime.now()
  const { settings } = loadConfiguration(runtime)
  const options = discoverOptionsFrom(runtime, settings)
  const discovery = discoverSkills(options)
  const { tables, lines } = tablesOf(runtime, options, discovery)
  const head: IndexHead = {
    key: place.key,
    settled: newestChange(tables) < builtAt - clockGrainMs,
    repeat: settings.hooks.repeat,
  }
  const start = `${JSON.stringify(head)}\n${JSON.stringify(tables)}\n`
  const text = Buffer.from(`${titleLine(Buffer.byteLength(start))}${start}${lines.join('')}`)
  try {
    makeRoom(runtime)
    writeFileAtomicSync(place.path, text, { mode: 0o600 })
  } catch {
    // Read-only or full.
  }
  return text
}

function tablesOf(
  runtime: Runtime,
  options: DiscoverOptions,
  discovery: Discovery,
): { tables: IndexTables; lines: readonly string[] } {
  const { skills } = discovery
  const trust = trustMarks(runtime, options, skills)
  const triggers = skills.flatMap(({ fields }, skill) =>
    fields.triggers.flatMap(({ match, inject, line }) => {
      const reading = compilePattern(match)
      return reading.ok ? [{ skill, match, inject, line, plan: reading.pattern.plan }] : []
    }),
  )
  const lines = triggers.map((trigger) => `${JSON.stringify(trigger satisfies IndexedTrigger)}\n`)
  const tables: IndexTables = {
    probes: probedPaths(runtime, options, discovery).flatMap((path) => [path, currentStamp(path)]),
    existing: directoriesUpward(runtime.cwd).flatMap((directory) => {
      const path = join(directory, '.git')
      return [path, existenceStamp(path)]
    }),
    paths: skills.map(({ path }) => path),
    names: skills.map(({ name }) => name),
    trust: trust.join(''),
    stamps: skills.flatMap(({ path }) => {
      const { ctimeMs = 0, size = 0, ino = 0 } = statOf(path) ?? {}
      return [ctimeMs, size, ino]
    }),
    grams: rarestGrams(triggers.map(({ plan }) => certainTexts(plan))),
    sizes: lines.map((line) => Buffer.byteLength(line) - 1),
  }
  return { tables, lines }
}

/** Files and directories besides the skills that can be used, whose change can change the answer. */
function probedPaths(
  runtime: Runtime,
  options: DiscoverOptions,
  { skills, shadowed, conflicts, broken }: Discovery,
): string[] {
  const files = [
    join(userDirectories(runtime).config, 'config.json'),
    openTrustStore(runtime).path,
    ...[...shadowed, ...conflicts, ...broken].map(({ path }) => path),
    ...directoriesUpward(runtime.cwd).map((directory) =>
      join(directory, '.skillrail', 'config.json'),
    ),
  ]
  const mayHoldSkills = new Set([
    ...broken.map(({ path }) => dirname(path)),
    ...skills.filter(isChain).map((info) => info.directory),
  ])
  for (const { directory, explicit } of skillLocations(runtime, options)) {
    files.push(directory)
    if (statOf(directory) === undefined) continue
    const limits = explicit ? undefined : walkLimits
    // What lies in a skill is of no interest, unless there may be skills among it.
    const closed = new Set<string>()
    for (const { path, skillFile } of walkDirectories(directory, { limits })) {
      const isSkill = skillFile !== undefined && !mayHoldSkills.has(path)
      if (isSkill || closed.has(dirname(path))) closed.add(path)
      else files.push(path)
    }
  }
  return [...new Set(files)]
}

function trustMarks(
  runtime: Runtime,
  options: DiscoverOptions,
  skills: readonly SkillInfo[],
): TrustMark[] {
  const workspace = findWorkspace(runtime.cwd, runtime)
  const { policy } = readTrustPolicy(runtime, { ...options, workspace })
  return skills.map((info) => {
    if (skillTrust(info, policy).level !== 'trusted') return '-'
    // Of a project: what was accepted may have changed, and a lock may say so too.
    const isInProject = info.scope === 'custom' && isInside(policy.workspace, info.realDirectory)
    return info.scope === 'project' || isInProject ? '?' : '+'
  })
}

function isChain(info: SkillInfo): boolean {
  return info.fields.chain !== undefined
}

/** Texts that are all in every prompt that matches. */
function certainTexts(plan: PatternPlan): readonly string[] {
  const clauses = plan.engine === 'text' ? [[plan.text]] : plan.required
  return clauses.flatMap((clause) => (clause.length === 1 ? clause : []))
}

/** For each list of texts the three characters in them that the fewest others have; -1 where none. */
function rarestGrams(texts: readonly (readonly string[])[]): number[] {
  const grams = texts.map((each) => each.flatMap(allGrams))
  const counts = new Uint32Array(gramCount)
  for (const each of grams) for (const gram of new Set(each)) counts[gram] = (counts[gram] ?? 0) + 1
  const countOf = (gram: number): number => counts[gram] ?? 0
  return grams.map((each) =>
    each.reduce((best, gram) => (best < 0 || countOf(gram) < countOf(best) ? gram : best), -1),
  )
}

function allGrams(text: string): number[] {
  return Array.from({ length: Math.max(0, text.length - 2) }, (_, at) => gramOf(text, at))
}

/** The newest ctime of everything that was looked at. */
function newestChange({ probes, stamps }: IndexTables): number {
  const probed = probes
    .filter((_, index) => index % 2 === 1)
    .map((stamp) => Number.parseFloat(stamp))
  const changed = stamps.filter((_, index) => index % 3 === 0)
  return [...probed, ...changed].reduce((newest, at) => (at > newest ? at : newest), 0)
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
  makePrivateDirectory(directory)
  const names = readdirSync(directory)
  if (names.length < mostIndexes) return
  const files = names.map((name) => join(directory, name))
  const ages = new Map(
    files.map((file) => [file, statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0]),
  )
  const oldest = files.toSorted((a, b) => (ages.get(a) ?? 0) - (ages.get(b) ?? 0))
  for (const file of oldest.slice(0, files.length - mostIndexes / 2)) unlinkSync(file)
}
