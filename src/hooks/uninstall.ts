import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type Runtime,
  sha256,
  userDirectories,
  withFileLock,
  writeFileAtomic,
} from '../base/index.ts'
import { findWorkspace } from '../trust/index.ts'
import { adapters, type Platform } from './adapters.ts'
import { isEmptyConfiguration } from './json-edit.ts'
import { withoutEntries } from './edit-entries.ts'
import { configurationPath, type HookScope } from './registration.ts'
import { type FileChange, readConfiguration } from './install.ts'
import { launcherName, removeLauncher } from './launcher.ts'
import { type InstallRecord, readRecords, recordPath, writeRecords } from './install-record.ts'
import { cacheDirectory } from './trigger-cache.ts'

/**
 * Takes the hook out of one client's configuration: byte for byte what was there before where nobody
 * else has changed the file, else only our entry and the lists and objects that were made for it. The
 * launcher goes with the last hook.
 *
 * @throws {SkillrailError} `client-configuration-broken` with the line; the file is untouched.
 */
export async function uninstallHook(
  runtime: Runtime,
  platform: Platform,
  options: { scope: HookScope; dryRun?: boolean | undefined },
): Promise<FileChange> {
  const adapter = adapters[platform]
  const workspace = findWorkspace(runtime.cwd, runtime)
  const path = configurationPath(adapter, runtime, options.scope, workspace)
  const change = (): FileChange => ({
    ...planUninstall(runtime, platform, path),
    scope: options.scope,
  })
  if (options.dryRun === true) return change()
  return await withFileLock(recordPath(runtime), async () => {
    const { before, after, ...rest } = change()
    const records = readRecords(runtime)
    const record = records.find((candidate) => candidate.path === path)
    if (before !== after) {
      if (after === undefined) removeFile(path, record)
      else await writeFileAtomic(path, after)
    }
    if (record?.backup != null) rmSync(record.backup, { force: true })
    const others = records.filter((candidate) => candidate !== record)
    if (record !== undefined) writeRecords(runtime, others)
    if (others.length === 0) removeOwnFiles(runtime)
    return { ...rest, before, after }
  })
}

function planUninstall(
  runtime: Runtime,
  platform: Platform,
  path: string,
): Omit<FileChange, 'scope'> {
  const { registration } = adapters[platform]
  const before = readConfiguration(path)
  const facts = { platform, path, before, parts: 0 }
  if (before === undefined) return { ...facts, after: undefined }
  const record = readRecords(runtime).find((candidate) => candidate.path === path)
  if (record !== undefined && sha256(before) === record.digest) {
    return { ...facts, after: originalIn(record) }
  }
  if (registration.kind === 'file') {
    return { ...facts, after: before.includes(launcherName) ? undefined : before }
  }
  if (before.trim() === '') return { ...facts, after: before }
  const rest = withoutEntries(before, registration, path, record?.made)
  // Others have come and gone: what we began with nothing ends with nothing.
  const isGone = rest !== before && record !== undefined && isEmptyConfiguration(rest)
  const original = isGone ? originalIn(record) : rest
  return { ...facts, after: isGone && isEmptyConfiguration(original ?? '') ? original : rest }
}

/** What was there before us; undefined where there was no file. */
function originalIn({ backup }: InstallRecord): string | undefined {
  return backup === null ? undefined : readFileSync(backup, 'utf8')
}

function removeFile(path: string, record: InstallRecord | undefined): void {
  rmSync(path, { force: true })
  for (const directory of record?.directories ?? []) {
    try {
      rmdirSync(directory)
    } catch {
      return // Somebody else has put something there.
    }
  }
}

/** The launcher, the caches and what sessions were given. The log is the user's. */
function removeOwnFiles(runtime: Runtime): void {
  removeLauncher(runtime)
  rmSync(cacheDirectory(runtime), { recursive: true, force: true })
  const state = dirname(recordPath(runtime))
  for (const name of ['backups', 'turns', 'sessions']) {
    rmSync(join(state, name), { recursive: true, force: true })
  }
  const { data } = userDirectories(runtime)
  if (isEmpty(data)) rmdirSync(data)
}

function isEmpty(directory: string): boolean {
  try {
    return readdirSync(directory).length === 0
  } catch {
    return false
  }
}
