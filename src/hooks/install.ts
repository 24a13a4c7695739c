import { existsSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type * as Zod from 'zod'
import { clientFolder } from '#core/client-folders'
import { messageOf, SkillrailError, StateFileError, systemCode } from '#core/errors'
import { withFileLock } from '#core/file-lock'
import { indentedJson, sha256 } from '#core/json'
import { findWorkspace, readRegularFile } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { requireWithin, writeFileAtomic, writeFileAtomicSync } from '#core/write-files'
import { zod } from '#core/zod'
import { TrustStore } from '#trust/store'
import { adapters, launcherName, type Platform, platforms } from './adapters.ts'
import { partsNeeded } from './context.ts'
import { isAsBefore, withEntries, withoutEntries } from './edit-entries.ts'
import {
  configurationPath,
  fileTexts,
  hookCommands,
  type HookScope,
  installLauncher,
  largestInjection,
  launcherDirectory,
  removeLauncher,
} from './registration.ts'
import { cacheDirectory, stateDirectory } from './trigger-cache.ts'

type InstallOptions = { scope: HookScope; dryRun?: boolean | undefined }

export interface FileChange {
  platform: Platform
  scope: HookScope
  path: string
  before: string | undefined
  after: string | undefined
  /** The copy of the former file; undefined if there was none, or nothing was written. */
  backup?: string | undefined
  parts: number
}

export async function installHook(
  runtime: Runtime,
  platform: Platform,
  { scope, dryRun }: InstallOptions,
): Promise<FileChange> {
  const change = planInstall(runtime, platform, scope)
  if (dryRun) return change
  try {
    return await withFileLock(recordPath(runtime), async () => {
      await installLauncher(runtime)
      removeFormerFile(runtime, platform, scope)
      // Another installation may have written while this one waited.
      return await write(runtime, planInstall(runtime, platform, scope))
    })
  } catch (error) {
    if (error instanceof SkillrailError) throw error
    const message = `the hook for ${change.path} could not be written: ${messageOf(error)}`
    const hint = 'Give yourself the right to write there.'
    throw new SkillrailError({ code: 'hook-unwritable', message, hint, cause: error })
  }
}

/** @param size `largest`: size of all references of one skill; `least`: minimum number of parts. */
export function planInstall(
  runtime: Runtime,
  platform: Platform,
  scope: HookScope,
  size: { largest?: number; least?: number } = {},
): FileChange {
  const path = pathOf(runtime, platform, scope)
  const { registration, limit } = adapters[platform]
  const largest = size.largest ?? (limit.parts === 1 ? 0 : largestInjection(runtime))
  const parts = Math.max(size.least ?? 1, partsNeeded(largest, limit))
  const commands = hookCommands(runtime, platform, scope, parts)
  const before = readConfiguration(path)
  const facts = { platform, scope, path, before, parts }
  if (registration.kind === 'entry') {
    return { ...facts, after: withEntries(before, registration, commands, path) }
  }
  if (before !== undefined && !before.includes(launcherName)) {
    const message = `${path} exists and was not written by skillrail`
    const hint = 'Move it away, then run the command again.'
    throw new SkillrailError({ code: 'file-foreign', message, hint })
  }
  return { ...facts, after: fileTexts[registration.text](commands[0] ?? '') }
}

async function write(runtime: Runtime, change: FileChange): Promise<FileChange> {
  const { platform, scope, path, before, after = '' } = change
  if (before === after) return change
  const records = readRecords(runtime)
  const earlierRecord = records.find((record) => record.path === path)
  const others = records.filter((record) => record !== earlierRecord)
  const isOwnFile = adapters[platform].registration.kind === 'file'
  const isOurLast =
    earlierRecord !== undefined &&
    (before === undefined ? isOwnFile : sha256(before) === earlierRecord.digest)
  const { backup, directories } = isOurLast ? earlierRecord : await factsOf(runtime, change)
  await writeFileAtomic(path, after, { within: limitOf(runtime, scope) })
  const digest = sha256(after)
  writeRecords(runtime, [...others, { platform, scope, path, backup, digest, directories }])
  if (earlierRecord?.backup != null && earlierRecord.backup !== backup)
    rmSync(earlierRecord.backup, { force: true })
  return { ...change, backup: backup ?? undefined }
}

/**
 * Returns what an uninstallation needs: the former file, and the directories made for the new one.
 */
async function factsOf(
  runtime: Runtime,
  { platform, path, before }: FileChange,
): Promise<Pick<InstallRecord, 'backup' | 'directories'>> {
  // Missing directories above the file, deepest first.
  const directories: string[] = []
  for (let directory = dirname(path); !existsSync(directory); directory = dirname(directory)) {
    directories.push(directory)
  }
  const isOurs = adapters[platform].registration.kind === 'file'
  if (isOurs || before === undefined) return { backup: null, directories }
  const original = before.trim() === '' ? before : withoutEntries(before, path)
  const backup = join(stateDirectory(runtime), 'backups', runtime.id())
  await writeFileAtomic(backup, original, { mode: 0o600 })
  return { backup, directories }
}

/** Removes the hook. A file that nobody else has changed is restored byte for byte. */
export async function uninstallHook(
  runtime: Runtime,
  platform: Platform,
  { scope, dryRun }: InstallOptions,
): Promise<FileChange> {
  const current = pathOf(runtime, platform, scope)
  const path = existsSync(current) ? current : (formerFile(runtime, platform, scope) ?? current)
  const within = limitOf(runtime, scope)
  if (within !== undefined) requireWithin(within, path)
  const recordOf = (): InstallRecord | undefined =>
    readRecords(runtime).find((candidate) => candidate.path === path)
  const plan = (record: InstallRecord | undefined): FileChange => {
    const before = readConfiguration(path)
    const after = before === undefined ? undefined : textWithout(before, platform, path, record)
    return { platform, path, before, parts: 0, after, scope }
  }
  if (dryRun) return plan(recordOf())
  return await withFileLock(recordPath(runtime), async () => {
    const record = recordOf()
    const change = plan(record)
    const { before, after } = change
    if (path === current) removeFormerFile(runtime, platform, scope)
    if (after !== undefined && after !== before) await writeFileAtomic(path, after)
    if (after === undefined && before !== undefined) {
      rmSync(path, { force: true })
      try {
        for (const directory of record?.directories ?? []) rmdirSync(directory)
      } catch {} // It contains files of another program.
    }
    if (record?.backup != null) rmSync(record.backup, { force: true })
    if (record) {
      const others = readRecords(runtime).filter((candidate) => candidate.path !== path)
      writeRecords(runtime, others)
    }
    // Hooks of other projects can call the same program, so only a user's own last hook takes it away.
    const isOwn = scope === 'user' && before !== after
    if (isOwn && programCallers(runtime).length === 0) removeOwnFiles(runtime)
    return change
  })
}

/** What became of the program that the hooks of all clients and projects call. */
export interface ProgramChange {
  path: string
  /** `none`: it was not there. */
  action: 'removed' | 'kept' | 'none'
  /** The files that still call it. */
  callers: readonly string[]
}

/**
 * Removes the program that all hooks call, unless a file that is known here still calls it.
 *
 * @param without files that do not count, because their hooks would be removed before
 */
export async function uninstallProgram(
  runtime: Runtime,
  { dryRun, without = [] }: { dryRun: boolean; without?: readonly string[] },
): Promise<ProgramChange> {
  const path = launcherDirectory(runtime)
  if (!existsSync(path)) return { path, action: 'none', callers: [] }
  const decide = (): ProgramChange => {
    const callers = programCallers(runtime).filter((caller) => !without.includes(caller))
    return { path, action: callers.length > 0 ? 'kept' : 'removed', callers }
  }
  if (dryRun) return decide()
  return await withFileLock(recordPath(runtime), async () => {
    const change = decide()
    if (change.action === 'removed') removeOwnFiles(runtime)
    return await Promise.resolve(change)
  })
}

/**
 * Returns the files that call the launcher: those that were written here, and those of this project and of every
 * project that the user trusts, which may have come with a clone.
 */
function programCallers(runtime: Runtime): string[] {
  const { acceptances } = new TrustStore(runtime).read()
  const workspaces = new Set([
    findWorkspace(runtime.cwd, runtime),
    ...acceptances.map(({ workspace }) => workspace),
  ])
  const paths = [
    ...readRecords(runtime).map(({ path }) => path),
    ...platforms.flatMap((platform) => [
      configurationPath(platform, runtime, 'user', runtime.cwd),
      ...[...workspaces].map((workspace) =>
        configurationPath(platform, runtime, 'project', workspace),
      ),
    ]),
  ]
  return [...new Set(paths)].filter((path) => {
    const reading = readRegularFile(path, { maxBytes: 16 * 1024 * 1024, keepMark: true })
    return reading.ok ? reading.text.includes(launcherName) : reading.code !== 'file-missing'
  })
}

/** Returns our file under a name from an earlier version; undefined if there is none. */
export function formerFile(
  runtime: Runtime,
  platform: Platform,
  scope: HookScope,
  workspace = findWorkspace(runtime.cwd, runtime),
): string | undefined {
  const { formerFiles } = adapters[platform]
  if (formerFiles === undefined) return undefined
  const folder = scope === 'user' ? clientFolder(platform, runtime) : workspace
  const path = join(folder, formerFiles[scope])
  return readConfiguration(path)?.includes(launcherName) === true ? path : undefined
}

/** Removes the file; its record now belongs to the file that replaces it. */
function removeFormerFile(runtime: Runtime, platform: Platform, scope: HookScope): void {
  const former = formerFile(runtime, platform, scope)
  if (former === undefined) return
  const within = limitOf(runtime, scope)
  if (within !== undefined) requireWithin(within, former)
  rmSync(former)
  const path = pathOf(runtime, platform, scope)
  const records = readRecords(runtime)
  const renamed = records.map((record) => (record.path === former ? { ...record, path } : record))
  if (records.length > 0) writeRecords(runtime, renamed)
}

function textWithout(
  before: string,
  platform: Platform,
  path: string,
  record: InstallRecord | undefined,
): string | undefined {
  const { registration } = adapters[platform]
  const original = (): string | undefined =>
    record?.backup == null ? undefined : readFileSync(record.backup, 'utf8')
  if (sha256(before) === record?.digest) return original()
  if (registration.kind === 'file') return before.includes(launcherName) ? undefined : before
  if (before.trim() === '') return before
  const rest = withoutEntries(before, path, original())
  // Entries of other programs may have been added and removed since.
  const isOver = rest !== before && record !== undefined
  return isOver && isAsBefore(rest, original() ?? '', registration) ? original() : rest
}

/**
 * Removes the launcher, the caches and the records of sessions. The log stays: it is the user's.
 */
function removeOwnFiles(runtime: Runtime): void {
  const directories = ['backups', 'turns', 'sessions'].map((name) =>
    join(stateDirectory(runtime), name),
  )
  for (const directory of [cacheDirectory(runtime), ...directories]) {
    rmSync(directory, { recursive: true, force: true })
  }
  // Records of files that have no hook any more.
  writeRecords(runtime, [])
  removeLauncher(runtime)
}

/** Returns the directory that no link in a project may leave. The user's own files may be links. */
function limitOf(runtime: Runtime, scope: HookScope): string | undefined {
  return scope === 'project' ? findWorkspace(runtime.cwd, runtime) : undefined
}

function pathOf(runtime: Runtime, platform: Platform, scope: HookScope): string {
  const workspace = findWorkspace(runtime.cwd, runtime)
  return configurationPath(platform, runtime, scope, workspace)
}

export function readConfiguration(path: string): string | undefined {
  const reading = readRegularFile(path, { maxBytes: 16 * 1024 * 1024, keepMark: true })
  if (reading.ok) return reading.text
  if (reading.code === 'file-missing') return undefined
  const message = `${reading.message}; it was not touched`
  const hint = 'Fix or move the file, then run the command again.'
  throw new SkillrailError({ code: 'client-configuration-broken', message, hint })
}

type InstallRecord = Zod.infer<ReturnType<typeof recordSchema>>['files'][number]

function recordSchema() {
  const z = zod()
  const file = z.object({
    platform: z.enum(platforms),
    scope: z.enum(['user', 'project']),
    path: z.string(),
    /** The file with the former contents; null if there was no file. */
    backup: z.string().nullable(),
    digest: z.string(),
    directories: z.array(z.string()).default([]),
  })
  return z.object({ version: z.literal(1), files: z.array(file) })
}

function recordPath(runtime: Runtime): string {
  return join(stateDirectory(runtime), 'installed.json')
}

function readRecords(runtime: Runtime): InstallRecord[] {
  const path = recordPath(runtime)
  try {
    return recordSchema().parse(JSON.parse(readFileSync(path, 'utf8'))).files
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    const message = `${path} is damaged, or was written by a newer skillrail`
    const hint = 'Use the newer skillrail, or move the file away.'
    throw new StateFileError({ code: 'install-record-broken', message, hint })
  }
}

function writeRecords(runtime: Runtime, files: readonly InstallRecord[]): void {
  const path = recordPath(runtime)
  if (files.length === 0) rmSync(path, { force: true })
  else writeFileAtomicSync(path, indentedJson({ version: 1, files }), { mode: 0o600 })
}
