import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { acquireFileLock, elsewhereHint, lockHolder } from '#core/file-lock'
import {
  type JournalRecord,
  type JournalSeal,
  type JournalWriter,
  openJournal,
} from '#core/journal-file'
import { encrypt, openSealer } from '#core/project-state'
import { projectStateDirectory, type StatePlace } from '#core/runtime'
import {
  compareText,
  type Diagnostic,
  lookProblem,
  reasonOf,
  SkillrailError,
  systemCode,
  UsageError,
} from '#core/errors'
import { noRuns, RunBusyError } from './errors.ts'
import { type ChainRecord, dataFields, readRunJournal, type RunJournal } from './run-journal.ts'
import { type RunLine, runLine } from './run-line.ts'
import { redactValue } from '#core/redact'
import { maskedData } from './step-result.ts'

/** The journals of the runs of one project, in the user's state directory. */
export interface RunStore {
  directory: string
  pathOf(runId: string): string
  /** All run IDs, newest first. */
  ids(): string[]
  /** Returns the ID of the run that a user names by its ID, by the beginning of an ID, or as `latest`. */
  idOf(name: string): string
  /** Opens a journal. The caller must have the lock of the run. */
  open(runId: string): JournalWriter
  /** Appends to a journal. The caller must have the lock of the run. */
  append(runId: string, ...records: readonly ChainRecord[]): void
  /** @throws {RunNotFoundError | StateFileError} */
  read(runId: string): RunJournal
  /** Reads every run. A run that cannot be read becomes a diagnostic. */
  list(): StoredRuns
  /** Deletes the files of a run, then its journal. Throws the system error if files remain. */
  remove(runId: string): void
}

export interface StoredRuns {
  runs: RunJournal[]
  diagnostics: Diagnostic[]
}

/** @param workspace real path. */
export function openRunStore(workspace: string, place: StatePlace): RunStore {
  const directory = join(projectStateDirectory(workspace, place, { sealed: true }), 'runs')
  const code = openSealer(place)
  const sealOf = (runId: string): JournalSeal => ({ start: `${runId}\0${workspace}\0`, code })

  function pathOf(runId: string): string {
    return join(directory, `${checkedId(runId)}.jsonl`)
  }

  function ids(): string[] {
    const listing = journalIds(directory)
    return Array.isArray(listing) ? listing : []
  }

  function idOf(name: string): string {
    const allIds = ids()
    const [first = name, second] =
      name === 'latest' ? allIds.slice(0, 1) : allIds.filter((id) => id.startsWith(checkedId(name)))
    if (name === 'latest' && allIds.length === 0) throw noRuns()
    if (second === undefined || allIds.includes(name)) return allIds.includes(name) ? name : first
    const message = `${name} is the beginning of several run IDs`
    throw new UsageError({ code: 'run-ambiguous', message, hint: `Such as ${first}, ${second}.` })
  }

  function open(runId: string): JournalWriter {
    const writer = openJournal(pathOf(runId), sealOf(runId))
    const append = writer.append.bind(writer)
    return Object.assign(writer, {
      append: (...records: readonly JournalRecord[]) =>
        append(...records.map((record) => withoutSecrets(record, code))),
    })
  }

  function append(runId: string, ...records: readonly ChainRecord[]): void {
    const writer = open(runId)
    try {
      writer.append(...records.map((record) => ({ ...record })))
    } finally {
      writer.close()
    }
  }

  function read(runId: string): RunJournal {
    return readRunJournal(pathOf(runId), runId, sealOf(runId))
  }

  function list(): StoredRuns {
    const listing = journalIds(directory)
    if (!Array.isArray(listing)) return { runs: [], diagnostics: [listing] }
    const diagnostics: Diagnostic[] = []
    const runs = listing.flatMap((runId) => {
      const path = pathOf(runId)
      try {
        const journal = read(runId)
        diagnostics.push(...journal.diagnostics)
        return journal
      } catch (error) {
        if (!isJustBeginning(path, error)) diagnostics.push(unreadable(path, error))
        return []
      }
    })
    return { runs, diagnostics }
  }

  function remove(runId: string): void {
    const path = pathOf(runId)
    removeTree(join(directory, runId))
    rmSync(path, { force: true })
  }

  return { directory, pathOf, ids, idOf, open, append, read, list, remove }
}

/** Masks secrets in a result. `hidden` is the complete result, encrypted with the user's key. */
function withoutSecrets(record: JournalRecord, code: JournalSeal['code']): JournalRecord {
  const field = dataFields[String(record['type'])]
  const data = field && record[field]
  if (field === undefined || data === undefined) return record
  const maskedResult = redactValue(maskedData(data))
  if (JSON.stringify(maskedResult) === JSON.stringify(data)) return record
  return { ...record, [field]: maskedResult, hidden: encrypt(data, code) }
}

const journalName = /^([0-9a-z]+)\.jsonl$/

function journalIds(directory: string): string[] | Diagnostic {
  try {
    return readdirSync(directory)
      .flatMap((name) => journalName.exec(name)?.[1] ?? [])
      .toSorted((a, b) => compareText(b, a))
  } catch (error) {
    const reason = lookProblem(error)
    if (reason === undefined) return []
    return {
      code: 'runs-unreadable',
      severity: 'error',
      message: `the runs cannot be listed: ${reason}`,
      path: directory,
      hint: 'Make the directory readable.',
    }
  }
}

/** Refuses any text that is not an ID, since an ID becomes part of a path. */
function checkedId(runId: string): string {
  if (/^[0-9a-z]{1,40}$/.test(runId)) return runId
  throw new UsageError({
    code: 'run-id-malformed',
    message: `${JSON.stringify(runId)} is not a run ID`,
    hint: 'skillrail runs list shows the runs of this project.',
  })
}

/** Whether a process has created the journal and not yet written to it. */
function isJustBeginning(path: string, error: unknown): boolean {
  const isEmpty = error instanceof SkillrailError && error.code === 'journal-empty'
  return isEmpty && lockHolder(path) !== undefined
}

function unreadable(path: string, error: unknown): Diagnostic {
  if (!(error instanceof SkillrailError)) throw error
  const { code, message, hint } = error
  return { code, severity: 'error', message, path, hint }
}

export async function removeRuns(
  store: RunStore,
  runIds: readonly string[],
): Promise<{ removed: string[]; diagnostics: Diagnostic[] }> {
  const removedIds: string[] = []
  const diagnostics: Diagnostic[] = []
  for (const runId of runIds) {
    try {
      await withRunLock(store, runId, () => store.remove(runId))
      removedIds.push(runId)
    } catch (error) {
      if (error instanceof RunBusyError) continue
      const message = `the run ${runId} could not be removed: ${reasonOf(error)}`
      const hint = 'Check the permissions of its files.'
      const path = store.pathOf(runId)
      diagnostics.push({ code: 'run-not-removed', severity: 'error', message, path, hint })
    }
  }
  return { removed: removedIds, diagnostics }
}

/** Locks the run for the time of the work. Throws {@link RunBusyError} if another process has the lock. */
export async function withRunLock<T>(
  store: RunStore,
  runId: string,
  work: () => T | Promise<T>,
  line: RunLine = runLine,
): Promise<T> {
  const lock = acquireFileLock(store.pathOf(runId))
  if (!lock.ok) {
    const { pid, host } = lock.holder
    throw new RunBusyError(
      'run-busy',
      `the run ${runId} is being executed by process ${pid} on ${host}`,
      elsewhereHint(store.pathOf(runId), lock.holder) ??
        `Wait for it, end that process, or run: ${line('runs cancel', runId)}`,
    )
  }
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** Removes read-only directories too; does not follow links. Throws if something remains. */
export function removeTree(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true })
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    openDirectories(directory)
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Does not follow links: their targets belong to others. */
function openDirectories(directory: string): void {
  const stats = lstatSync(directory)
  if (!stats.isDirectory()) return
  const mode = stats.mode & 0o7777
  if ((mode & 0o700) !== 0o700) chmodSync(directory, mode | 0o700)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) openDirectories(join(directory, entry.name))
  }
}
