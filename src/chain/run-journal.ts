import type { Diagnostic } from '../core/diagnostic.ts'
import {
  type JournalRecord,
  type JournalSeal,
  type JournalWriter,
  readJournal,
} from '../core/journal-file.ts'
import { reasonOf, StateFileError, systemCode } from '../core/errors.ts'
import { decrypted } from '../core/project-state.ts'
import type { JsonValue } from '../skill/model.ts'
import type { RunStatus } from './engine.ts'
import { runNotFound } from './errors.ts'
import {
  type ApprovalRecord,
  type ChainRecord,
  type DoneRecord,
  type GateRecord,
  isChainRecord,
  journalVersion,
  type ReportRecord,
  type RunRecord,
} from './journal-records.ts'
import type { Plan } from './plan-model.ts'

export interface RunJournal {
  path: string
  run: RunRecord
  plan: Plan
  /** By key; `order` is the position in the journal. */
  done: Map<string, DoneRecord & { order: number }>
  decided: Map<string, JsonValue>
  started: Map<string, string>
  gates: Map<string, GateRecord>
  approvals: Map<string, ApprovalRecord>
  handed: Map<string, string>
  reports: Map<string, ReportRecord>
  length: number
  resumptions: number
  /** The last status written; undefined while it runs, and after a crash. */
  status: RunStatus | undefined
  /** When the process that had the run last wrote how it left it; undefined after a crash. */
  pausedAt?: string | undefined
  resumedAt?: string
  updatedAt: string
  diagnostics: readonly Diagnostic[]
}

/** Whether a server may know more of the run than its journal says. */
export function isOpen({ run, status }: RunJournal): boolean {
  return run.server !== undefined && (status === undefined || status === 'waiting')
}

/** Reads the journal of a run. A torn last line is dropped and reported. */
export function readRunJournal(path: string, runId: string, seal: JournalSeal): RunJournal {
  const { records, diagnostics } = readRecords(path, runId, seal)
  return runJournalOf(path, runId, records, diagnostics)
}

/** The journal that has these records. Throws as {@link readRunJournal}. */
export function runJournalOf(
  path: string,
  runId: string,
  records: readonly ChainRecord[],
  diagnostics: readonly Diagnostic[] = [],
): RunJournal {
  const [first, ...rest] = records
  if (!first) throw neverBegan(path)
  if (first.type !== 'run') throw foreign(path, 'it does not begin with the record of a run')
  if (first.runId !== runId) throw foreign(path, `it is that of the run ${first.runId}`)
  const journal: RunJournal = {
    path,
    run: first,
    plan: first.plan,
    done: new Map(),
    decided: new Map(),
    started: new Map(),
    gates: new Map(),
    approvals: new Map(),
    handed: new Map(),
    reports: new Map(),
    length: rest.length,
    resumptions: 0,
    status: undefined,
    updatedAt: first.at,
    diagnostics,
  }
  rest.forEach((record, index) => apply(journal, record, index))
  return journal
}

/** Without a seal: of any journal since version 2, whoever wrote it. Throws as {@link readRunJournal}. */
export function readRecords(path: string, runId: string, seal?: JournalSeal) {
  let reading: ReturnType<typeof readJournal>
  try {
    reading = readJournal(path, seal)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') {
      throw runNotFound(runId)
    }
    if (error instanceof StateFileError) throw error
    throw new StateFileError({
      code: 'journal-unreadable',
      message: `the journal ${path} cannot be read: ${reasonOf(error)}`,
      hint: 'Check its permissions, or move it away.',
      cause: error,
    })
  }
  const oldest = seal ? journalVersion : 2
  refuseOtherVersion(path, oldest, reading.records[0] ?? reading.unsummed)
  const { diagnostics } = reading
  const damage = diagnostics.find((diagnostic) => diagnostic.severity === 'error')
  if (damage) {
    const { code, message, hint } = damage
    throw new StateFileError({ code, message: `${path}: ${message}`, hint })
  }
  const records = reading.records.map((read, index) => {
    const record = seal ? withSecrets(read, seal.code) : read
    if (isChainRecord(record)) return record
    throw foreign(
      path,
      `record ${index + 1} (byte ${reading.offsets[index]})was not written by Skillrail`,
    )
  })
  return { records, diagnostics }
}

/** What `withoutSecrets` of the store has hidden, where it was. */
function withSecrets(
  { hidden, ...record }: JournalRecord,
  code: JournalSeal['code'],
): JournalRecord {
  const field = dataFields[String(record['type'])]
  if (typeof hidden !== 'string' || field === undefined) return record
  return { ...record, [field]: decrypted(hidden, code) }
}

export const dataFields: Readonly<Record<string, string>> = { done: 'outcome', report: 'output' }

function refuseOtherVersion(path: string, oldest: number, first: JournalRecord | undefined): void {
  const version = first?.['version']
  if (first?.['type'] !== 'run' || typeof version !== 'number') return
  if (version >= oldest && version <= journalVersion) return
  const isNewer = version > journalVersion
  throw new StateFileError({
    code: isNewer ? 'journal-newer' : 'journal-older',
    message: `the journal ${path} has version ${version}; this Skillrail reads version ${journalVersion}`,
    hint: isNewer
      ? 'Use the Skillrail that wrote it, or a newer one.'
      : `To read it: skillrail runs import ${path}`,
  })
}

function apply(journal: RunJournal, record: ChainRecord, order: number): void {
  if ('at' in record && typeof record.at === 'string') journal.updatedAt = record.at
  switch (record.type) {
    case 'run':
      throw foreign(journal.path, 'a second run begins in it')
    case 'start':
      journal.started.set(record.key, record.at)
      break
    case 'done':
      // The first result of a step is the result.
      if (!journal.done.has(record.key)) journal.done.set(record.key, { ...record, order })
      break
    case 'decided':
      journal.decided.set(record.key, record.value)
      break
    case 'gate':
      journal.gates.set(record.key, record)
      break
    case 'approval':
      journal.approvals.set(record.key, record)
      break
    case 'handed':
      journal.handed.set(record.key, record.at)
      break
    case 'report':
      journal.reports.set(record.key, record)
      break
    case 'resumed':
      journal.plan = record.plan ?? journal.plan
      journal.status = undefined
      journal.pausedAt = undefined
      journal.resumedAt = record.at
      journal.resumptions++
      break
    case 'status':
      journal.status = record.status
      // A cancellation may come long after the process has gone.
      if (record.status !== 'cancelled') journal.pausedAt = record.at
      break
  }
}

/** The process ended before its first record was whole. */
function neverBegan(path: string): StateFileError {
  return new StateFileError({
    code: 'journal-empty',
    message: `the journal ${path} has no complete record`,
    hint: 'Delete the file, unless a process is just starting the run.',
  })
}

function foreign(path: string, reason: string): StateFileError {
  return new StateFileError({
    code: 'journal-foreign',
    message: `${path} is not a journal of a run: ${reason}`,
    hint: 'Move the file away.',
  })
}

/** Writes the records of a run in order, with as few waits for the disk as its promises allow. */
export interface RecordWriter {
  /** On the disk when it returns, and all that was deferred before it. Without records: only that. */
  append(...records: readonly ChainRecord[]): void
  /**
   * On the disk before anything else is done: with the next record, or at the end of this turn of
   * the event loop. So the result of a step and the start of the next one share one wait. `written`
   * is called then.
   */
  defer(record: ChainRecord, ended: { written(): void; failed(error: unknown): void }): void
}

export function createRecordWriter(journal: JournalWriter): RecordWriter {
  let deferred: { record: ChainRecord; written(): void }[] = []

  function append(...records: readonly ChainRecord[]): void {
    const waiting = deferred
    deferred = []
    if (waiting.length + records.length === 0) return
    const all = [...waiting.map((item) => item.record), ...records]
    journal.append(...all.map((record) => ({ ...record })))
    for (const item of waiting) item.written()
  }

  return {
    append,
    defer(record, { written, failed }) {
      deferred.push({ record, written })
      if (deferred.length > 1) return
      setImmediate(() => {
        try {
          append()
        } catch (error) {
          failed(error)
        }
      })
    },
  }
}
