import { existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  messageOf,
  readRegularFile,
  type Runtime,
  sha256,
  SkillrailError,
  userDirectories,
  withFileLock,
  writeFileAtomic,
} from '../base/index.ts'
import { findWorkspace } from '../trust/index.ts'
import { adapters, type Platform } from './adapters.ts'
import { fileTexts } from './client-files.ts'
import { type Made, madeFor, withEntry, withoutEntries } from './edit-entries.ts'
import {
  configurationPath,
  hookCommands,
  type HookScope,
  largestInjection,
  partsFor,
} from './registration.ts'
import { installLauncher, launcherName } from './launcher.ts'
import { type InstallRecord, readRecords, recordPath, writeRecords } from './install-record.ts'

export interface InstallOptions {
  scope: HookScope
  /** Show what would be written, and write nothing. */
  dryRun?: boolean | undefined
}

/** What is, or would be, done to one file. */
export interface FileChange {
  platform: Platform
  scope: HookScope
  path: string
  /** Undefined where there is no file. */
  before: string | undefined
  after: string | undefined
  /** The copy of what was there; undefined where nothing was, or nothing was written. */
  backup?: string | undefined
  /** How many parts the hook is registered as. */
  parts: number
}

/**
 * Registers the hook with one client. Idempotent; what others wrote into the file stays.
 *
 * @throws {SkillrailError} `client-configuration-broken` (with the line) or `file-foreign`, and the
 * file is untouched; `hook-unwritable` where a directory cannot be written.
 */
export async function installHook(
  runtime: Runtime,
  platform: Platform,
  options: InstallOptions,
): Promise<FileChange> {
  const change = planInstall(runtime, platform, options.scope)
  if (options.dryRun === true) return change
  try {
    return await withFileLock(recordPath(runtime), async () => {
      await installLauncher(runtime)
      // Another installation may have written while this one waited.
      return await write(runtime, planInstall(runtime, platform, options.scope))
    })
  } catch (error) {
    throw error instanceof SkillrailError ? error : unwritable(change.path, error)
  }
}

function planInstall(runtime: Runtime, platform: Platform, scope: HookScope): FileChange {
  const adapter = adapters[platform]
  const path = configurationPath(adapter, runtime, scope, findWorkspace(runtime.cwd, runtime))
  const { registration, limit } = adapter
  const parts = limit.parts === 1 ? 1 : partsFor(limit, largestInjection(runtime))
  const commands = hookCommands(runtime, platform, scope, parts)
  const before = readConfiguration(path)
  if (registration.kind === 'file') {
    if (before !== undefined && !before.includes(launcherName)) throw foreign(path)
    return {
      platform,
      scope,
      path,
      before,
      after: fileTexts[registration.text](commands[0] ?? ''),
      parts,
    }
  }
  return {
    platform,
    scope,
    path,
    before,
    after: withEntry(before, registration, commands, path),
    parts,
  }
}

async function write(runtime: Runtime, change: FileChange): Promise<FileChange> {
  const { platform, scope, path, before, after = '' } = change
  if (before === after) return change
  const records = readRecords(runtime)
  const known = records.find((record) => record.path === path)
  const others = records.filter((record) => record !== known)
  const isOurLast = known !== undefined && before !== undefined && sha256(before) === known.digest
  const original = isOurLast ? undefined : originalOf(change, known?.made)
  const made = isOurLast ? known.made : madeIn(change, original)
  const backup = isOurLast ? known.backup : await keep(runtime, original)
  const directories = isOurLast ? known.directories : missingDirectories(path)
  await writeFileAtomic(path, after)
  const record: InstallRecord = {
    platform,
    scope,
    path,
    backup,
    digest: sha256(after),
    directories,
    made,
  }
  writeRecords(runtime, [...others, record])
  if (known?.backup != null && known.backup !== backup) rmSync(known.backup, { force: true })
  return { ...change, backup: backup ?? undefined }
}

/** What the file was without us. */
function originalOf(
  { platform, path, before }: FileChange,
  made: Made | undefined,
): string | undefined {
  const { registration } = adapters[platform]
  if (before === undefined) return undefined
  if (registration.kind === 'file') return undefined
  return before.trim() === '' ? before : withoutEntries(before, registration, path, made)
}

function madeIn({ platform, path }: FileChange, original: string | undefined): Made | undefined {
  const { registration } = adapters[platform]
  return registration.kind === 'file' ? undefined : madeFor(original ?? '', registration, path)
}

async function keep(runtime: Runtime, original: string | undefined): Promise<string | null> {
  if (original === undefined) return null
  const path = join(userDirectories(runtime).state, 'hooks', 'backups', runtime.id())
  await writeFileAtomic(path, original, { mode: 0o600 })
  return path
}

/** The directories above a file that do not exist, deepest first. */
function missingDirectories(path: string): string[] {
  const missing: string[] = []
  for (let directory = dirname(path); !existsSync(directory); directory = dirname(directory)) {
    missing.push(directory)
  }
  return missing
}

/** Undefined where there is no file. */
export function readConfiguration(path: string): string | undefined {
  const reading = readRegularFile(path, { maxBytes: 16 * 1024 * 1024 })
  if (reading.ok) return reading.text
  if (reading.code === 'file-missing') return undefined
  throw new SkillrailError({
    code: 'client-configuration-broken',
    message: `${reading.message}; it was not touched`,
    hint: 'Mend or move the file, then run the command again.',
  })
}

function foreign(path: string): SkillrailError {
  return new SkillrailError({
    code: 'file-foreign',
    message: `${path} exists and was not written by skillrail`,
    hint: 'Move it away, then run the command again.',
  })
}

function unwritable(path: string, error: unknown): SkillrailError {
  return new SkillrailError({
    code: 'hook-unwritable',
    message: `the hook for ${path} could not be written: ${messageOf(error)}`,
    hint: 'Give yourself the right to write there; nothing was changed in that file.',
    cause: error,
  })
}
