import { dirname, join, resolve } from 'node:path'
import { errorsIn } from '#core/errors'
import { findWorkspace, isInside, isPresent, readRegularFile, realPathOf } from '#core/read-files'
import { sessionFolders } from '#core/client-folders'
import { loadConfiguration } from '#core/configuration'
import { forgetOldFiles, makePrivateDirectory, writeFileAtomicSync } from '#core/write-files'
import { type Runtime, userDirectories } from '#core/runtime'
import {
  currentTrust,
  discoverOptionsFrom,
  type DiscoverOptions,
  discoverSkills,
  overlayPaths,
} from '#library/discover'
import type { Discovery, SkillInfo } from '#library/model'
import { skillAt } from '#library/find-skill'
import { pluginPaths, skillLocations } from '#library/locations'
import { limitsOf } from '#library/scan-location'
import { walkDirectories } from '#library/walk'
import { indexDocuments } from '#rank/index'
import { skillDocuments } from '#trigger/examples'
import { matchPrompt } from '#trigger/match'
import { compilePattern } from '#trigger/pattern'
import { overlayReferences, workspaceFiles } from '#trust/workspace-files'
import { TrustStore } from '#trust/store'
import { readTrustPolicy, skillTrust } from '#trust/skill-trust'
import { launcherName } from './adapters.ts'
import { storeIndex } from './example-index.ts'
import {
  beginnings,
  cacheDirectory,
  type CachedTrigger,
  type CacheHeader,
  type CachePlace,
  doesExist,
  indexPath,
  ownPlugin,
  stampOf,
  type TrustMark,
} from './trigger-cache.ts'

/** The coarsest clock of a file system (FAT): a second change within it can go unnoticed. */
const clockGrainMs = 2000
const maxCaches = 100

/** Reads all skills, writes the cache of a working directory if possible, and returns its content. */
export function refreshCache(runtime: Runtime, place: CachePlace): { file: Buffer; index: Buffer } {
  const startedAt = runtime.now()
  const { settings } = loadConfiguration(runtime)
  const options = discoverOptionsFrom(runtime, settings)
  const all = discoverSkills(options)
  const discovery = { ...all, skills: all.skills.filter(isServedBy(ownPlugin(runtime))) }
  const found = discovery.skills.map(acceptedTriggers)
  const now = discovery.skills.map(({ path }) => stampOf(path))
  // A prompt that names such a skill means it, whatever its examples say.
  const examples = discovery.skills.flatMap(({ name, fields }) =>
    fields.triggers.flatMap(({ when }) =>
      when?.kind === 'examples' ? [...when.examples, `${name} skill`] : [],
    ),
  )
  const others = otherPaths(runtime, options, discovery).map(stampOf)
  const newest = [...others, ...now].reduce((time, { changed }) => Math.max(time, changed), 0)
  const header: CacheHeader = {
    key: place.key,
    settled: newest < startedAt - clockGrainMs,
    repeat: settings.hooks.repeat,
    budget: settings.hooks.budget,
    notice: settings.hooks.notice,
    problems: problemsIn(discovery),
    skills: {
      path: now.map(({ path }) => path),
      changed: now.map(({ changed }) => changed),
      size: now.map(({ size }) => size),
      name: discovery.skills.map(({ name }) => name),
      trust: discovery.skills.map(trustMarks(runtime, options)),
      needs: found.map(({ needs }) => needs),
      triggers: found.map(({ triggers }) => kindOf(triggers)),
      chain: discovery.skills.map(({ fields }) =>
        fields.chain === undefined ? 0 : fields.disableModelInvocation ? 2 : 1,
      ),
    },
    workflows: projectsOf(runtime).filter((project) => mayHaveWorkflows(project, runtime, options)),
    examples: { beginnings: ` ${beginnings(examples.join(' ')).join(' ')} `, number: startedAt },
    others,
    existing: directoriesUpward(runtime.cwd).map((directory) => {
      const path = join(directory, '.git')
      return { path, exists: doesExist(path) }
    }),
  }
  const described = discovery.skills.map((info) => ({ ...info, triggers: info.fields.triggers }))
  const { head, file: index } =
    examples.length === 0
      ? { head: '', file: Buffer.alloc(0) }
      : storeIndex(indexDocuments(skillDocuments(described)), startedAt)
  const lines = [header, ...found.map((one) => one.triggers)].map((line) => JSON.stringify(line))
  const file = Buffer.from([...lines, head, ''].join('\n'))
  try {
    const directory = cacheDirectory(runtime)
    makePrivateDirectory(directory)
    forgetOldFiles(directory, startedAt, maxCaches)
    if (index.length > 0) writeFileAtomicSync(indexPath(place.path), index, { mode: 0o600 })
    writeFileAtomicSync(place.path, file, { mode: 0o600 })
  } catch {
    // Read-only or full.
  }
  return { file, index }
}

/** Only the hook of a plugin serves the plugin, whichever folder a client copied it to. */
function isServedBy(own: string | undefined): (info: SkillInfo) => boolean {
  const root = own && realPathOf(own)
  return ({ realDirectory }) => {
    const plugin = dirname(dirname(realDirectory))
    return root === undefined ? !doesExist(join(plugin, launcherName)) : plugin === root
  }
}

export function isStillTrusted(runtime: Runtime, path: string): boolean {
  const { settings } = loadConfiguration(runtime)
  const options = discoverOptionsFrom(runtime, settings)
  return currentTrust(skillAt(path, options), options).level === 'trusted'
}

/** The triggers with a valid pattern, and texts: a prompt that fires one of them contains one of the texts. */
function acceptedTriggers({ fields }: SkillInfo): { triggers: CachedTrigger[]; needs: string[] } {
  const triggers: CachedTrigger[] = []
  const texts = new Set<string>()
  for (const { match, inject, line, when = null, base } of fields.triggers) {
    const reading = when === null ? compilePattern(match) : undefined
    if (reading?.ok === false) continue
    triggers.push([match, inject, line, when, base])
    // The empty text is in every prompt.
    for (const text of reading ? (reading.pattern.required[0] ?? ['']) : []) {
      texts.add(text)
    }
  }
  const all = [...texts]
  // A text that contains another one is redundant.
  const needs = all.filter((text) => !all.some((other) => other !== text && text.includes(other)))
  return { triggers, needs }
}

function kindOf(triggers: readonly CachedTrigger[]): number {
  const kinds = new Set(triggers.map(([, , , when]) => when?.kind))
  if (kinds.has('tool')) return 3
  return kinds.has('paths') || kinds.has('command') ? 2 : Math.min(1, triggers.length)
}

function problemsIn({ broken, skills }: Discovery): string[] {
  const found = broken.flatMap(({ diagnostics }) => diagnostics)
  const own = skills.flatMap(({ path, diagnostics, fields }) => [
    ...diagnostics.filter(({ code }) => code.startsWith('trigger-')),
    ...matchPrompt('-', [{ name: '', directory: '', path, triggers: fields.triggers }]).diagnostics,
  ])
  return errorsIn([...found, ...own]).map(({ path, line, message, hint }) => {
    const place = line === undefined ? path : `${path}:${line}`
    return `${place}: ${message}${hint === undefined ? '' : `. ${hint}`}`
  })
}

/** Files and directories, apart from the usable skills, that can change the answer if they change. */
function otherPaths(
  runtime: Runtime,
  options: DiscoverOptions,
  { skills, shadowed, conflicts, broken }: Discovery,
): string[] {
  const workspace = findWorkspace(runtime.cwd, runtime)
  const files = [
    join(userDirectories(runtime).config, 'config.json'),
    new TrustStore(runtime).path,
    ...overlayPaths(runtime, workspace),
    ...projectsOf(runtime).flatMap((project) =>
      workflowFiles.map(({ path }) => join(project, path)),
    ),
    // Their text counts in a pinned workspace.
    ...overlayReferences(workspace).map((path) => join(workspace, path)),
    ...pluginPaths(runtime),
    ...[...shadowed, ...conflicts, ...broken].map(({ path }) => path),
    ...directoriesUpward(runtime.cwd).map((folder) => join(folder, '.skillrail', 'config.json')),
  ]
  const mayHoldSkills = new Set([
    ...broken.map(({ path }) => dirname(path)),
    ...skills.filter(({ fields }) => fields.chain !== undefined).map((info) => info.directory),
  ])
  for (const location of skillLocations(runtime, options)) {
    const { directory } = location
    files.push(directory)
    if (!doesExist(directory)) continue
    const limits = limitsOf(location)
    // Directories inside a skill do not matter, unless there may be skills among them.
    const closed = new Set<string>()
    for (const { path, skillFile } of walkDirectories(directory, { limits })) {
      const isSkill = skillFile !== undefined && !mayHoldSkills.has(path)
      if (isSkill || closed.has(dirname(path))) closed.add(path)
      else files.push(path)
    }
  }
  return [...new Set(files)]
}

/** The project of the working directory, and that in which the session began. */
function projectsOf(runtime: Runtime): string[] {
  const folders = [runtime.cwd, ...sessionFolders(runtime)]
  return [...new Set(folders.map((folder) => findWorkspace(folder, runtime)))]
}

const workflowFiles = workspaceFiles.filter(({ kind }) => kind === 'workflow')
const largestWorkflowFile = 16 * 1024 * 1024

/** Whether a file of a project may define workflows, or one did that was accepted; also if it cannot be read. */
function mayHaveWorkflows(project: string, runtime: Runtime, options: DiscoverOptions): boolean {
  const { acceptance } = readTrustPolicy(runtime, { ...options, workspace: project }).policy
  if (acceptance?.parts.some(({ kind }) => kind === 'workflow')) return true
  return workflowFiles.some(({ path, keys }) => {
    const file = join(project, path)
    const reading = readRegularFile(file, { maxBytes: largestWorkflowFile })
    if (!reading.ok) return reading.code !== 'file-missing' || isPresent(file)
    // A key can be written with escapes.
    return keys === undefined || /workflows|\\u/.test(reading.text)
  })
}

function trustMarks(runtime: Runtime, options: DiscoverOptions): (info: SkillInfo) => TrustMark {
  const workspace = findWorkspace(runtime.cwd, runtime)
  const { policy } = readTrustPolicy(runtime, { ...options, workspace })
  return (info) => {
    if (skillTrust(info, policy).level !== 'trusted') return '-'
    // In a project, files may differ from the accepted ones or from the lock file.
    const isInProject = info.scope === 'custom' && isInside(policy.workspace, info.realDirectory)
    return info.scope === 'project' || isInProject ? '?' : '+'
  }
}

/** The directories from one up to the root of the repository, or of the disk without a repository. */
function directoriesUpward(from: string): string[] {
  const directories: string[] = []
  for (let directory = resolve(from); ; directory = dirname(directory)) {
    directories.push(directory)
    if (doesExist(join(directory, '.git')) || directory === dirname(directory)) return directories
  }
}
