import type * as Zod from 'zod'
import { createRequire } from 'node:module'
import { type Diagnostic, reasonOf, StateFileError, systemCode } from '#core/errors'
import {
  type JournalRecord,
  type JournalSeal,
  type JournalWriter,
  readJournal,
} from '#core/journal-file'
import { decrypted } from '#core/project-state'
import { failedOutput, type StepOutput } from '#exec/output-protocol'
import { sha256, type JsonValue } from '#core/json'
import type {
  Call,
  CancelledStep,
  FinishedOutcome,
  Outcome,
  RunStatus,
  SuspendedOutcome,
} from './engine.ts'
import { runNotFound } from './errors.ts'
import type { Plan } from './plan-model.ts'

/**
 * The format of our journals; since 3 the sums of lines are codes under the user's key. A file of
 * another version is refused and never changed; `runs import` reads 2.
 */
export const journalVersion = 3

export type ChainRecord = Zod.infer<ReturnType<typeof recordSchema>>

export type RunRecord = Extract<ChainRecord, { type: 'run' }>
export type RunRequest = RunRecord['request']
export type DoneRecord = Extract<ChainRecord, { type: 'done' }>
export type GateRecord = Extract<ChainRecord, { type: 'gate' }>
export type ApprovalRecord = Extract<ChainRecord, { type: 'approval' }>
export type ReportRecord = Extract<ChainRecord, { type: 'report' }>

export function recordedOutcome({ outcome, reused }: DoneRecord): DoneRecord['outcome'] {
  return reused && outcome.kind === 'finished' ? { ...outcome, reused } : outcome
}

/** Whether a line is a record of ours, complete in what readers rely on: it could be forged. */
export function isChainRecord(record: JournalRecord): record is ChainRecord & JournalRecord {
  schema ??= recordSchema()
  try {
    return schema.safeParse(record).success
  } catch (error) {
    // Nested so deep that no reader could walk through it.
    if (error instanceof RangeError) return false
    throw error
  }
}

let schema: ReturnType<typeof recordSchema> | undefined

function recordSchema() {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  const text = z.string()
  const texts = z.array(text).readonly()
  const time = text.refine((value) => !Number.isNaN(Date.parse(value)))
  const { plan, output, outcome, runStatus } = valueSchemas(z)
  // Not read as a permission: a project could bring journals, so it is given again each time.
  const confinement = z.looseObject({ sandbox: text }).optional()
  const step = { key: text, at: time }
  /** `key`: step and attempt, level by level. `stateDigest`: of the outputs that the step will see. */
  const gate = { ...step, planDigest: text, stateDigest: text }
  return z.discriminatedUnion('type', [
    z.object({
      type: z.literal('run'),
      version: z.number(),
      runId: text,
      skill: text,
      at: time,
      /** `stepper`: an agent is driven through it. */
      mode: z.enum(['run', 'stepper']),
      /** Secrets masked; `argumentsDigest` is that of the arguments as they were given. */
      arguments: texts,
      argumentsDigest: text,
      requireVerified: z.boolean(),
      /** The skill as the caller named it and the changes to its plan, to plan it again. */
      request: z.object({
        /** Directory of the skill, relative to the workspace where it lies inside. */
        directory: text,
        set: texts,
        from: text.optional(),
        only: text.optional(),
        via: text.optional(),
        /** The model of `--model`, where it is (`--base-url`), and its built-in tools (`--tools`). */
        model: text.optional(),
        baseUrl: text.optional(),
        tools: text.optional(),
      }),
      plan,
      user: text.optional(),
      /** `--yes-gates`: the caller approved every gate in advance. */
      yesGates: z.literal(true).optional(),
      /** It was written elsewhere: it can be shown, and nothing continues it. */
      imported: z.object({ from: text, at: time }).optional(),
      /** The run whose results this one reuses. */
      origin: z.object({ runId: text, kind: z.enum(['retry', 'fork']) }).optional(),
      /** Where scripts that are not trusted run; absent when the caller gave nothing. */
      confinement,
      /** The server that executes it; absent when this machine does. */
      server: z.object({ engine: z.literal('restate'), url: text, adminUrl: text }).optional(),
    }),
    z.object({ type: z.literal('start'), ...step }),
    z.object({ type: z.literal('done'), key: text, outcome, reused: z.literal(true).optional() }),
    z.object({
      type: z.literal('decided'),
      key: text,
      value: z.custom<JsonValue>((value) => value !== undefined),
    }),
    z.object({ type: z.literal('gate'), ...gate, step: text, attempt: z.number().min(0) }),
    /** `person`: at a terminal; `caller`: `--yes-gates` of the run. */
    z.object({
      type: z.literal('approval'),
      ...gate,
      approved: z.boolean(),
      by: z.enum(['person', 'caller']),
      user: text.optional(),
      /** The results that were on the screen; absent where nobody was asked. */
      shown: z.array(z.object({ step: text, status: text, result: text })).optional(),
    }),
    z.object({ type: z.literal('handed'), ...step }),
    z.object({ type: z.literal('report'), ...step, output }),
    z.object({ type: z.literal('resumed'), at: time, plan: plan.optional(), confinement }),
    /** The run ended, was cancelled or interrupted, or waits. The last one counts. */
    z.object({ type: z.literal('status'), status: runStatus, at: time }),
  ])
}

/** What of a journal that was written elsewhere readers could stumble over; ours are sealed. */
function valueSchemas(z: typeof Zod) {
  const text = z.string()
  const count = z.number().min(0)
  const errors = z.array(z.object({ code: text, message: text }))
  const artifacts = z.array(text).optional()
  const finalStatus = z.enum(['success', 'failure', 'critical'])
  const runStatus = z.enum([...finalStatus.options, 'waiting', 'interrupted', 'cancelled'])
  const metrics = z.record(text, z.unknown())
  const answer = { result: text, errors, metrics, artifacts }
  const output = z.object({ ...answer, status: finalStatus, evidence: text })
  const said = { log: text.optional(), hint: text.optional(), sandbox: text.optional() }
  // Milliseconds that a date can have.
  const startedAt = z.number().min(-8.64e15).max(8.64e15)
  const executed: Zod.ZodType = z.object({
    ...answer,
    step: text,
    skill: text,
    status: z.enum([...runStatus.options, 'skipped', 'not_run', 'running']),
    startedAt: text.refine((value) => !Number.isNaN(Date.parse(value))).nullable(),
    durationMs: count,
    evidence: text.nullable(),
    reason: text.optional(),
    ...said,
    get steps() {
      return z.array(executed).optional()
    },
    get tries() {
      return z.array(executed).optional()
    },
    get attempts() {
      return attempts.optional()
    },
  })
  const attempts = z.array(
    z.object({
      attempt: count,
      status: runStatus,
      steps: z.array(executed),
      errors: errors.optional(),
    }),
  )
  const chain = z.object({ status: runStatus, attempts, winner: text.optional() }).optional()
  const left = { durationMs: count.optional(), chain }
  const outcome = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('finished'), output, startedAt, ...left, ...said }),
    z.object({ kind: z.literal('cancelled'), startedAt: startedAt.optional(), ...left }),
  ])
  const step: Zod.ZodType = z.object({
    step: text,
    skill: text,
    path: text,
    digest: text,
    executor: text,
    steps: z.lazy(() => z.array(step).optional()),
  })
  const root = z.object({ policy: z.record(text, z.unknown()), steps: z.array(step) })
  return {
    plan: checked<Plan>(z, z.object({ skill: text, digest: text, root })),
    output: checked<StepOutput>(z, output),
    outcome: checked<FinishedOutcome | ({ kind: 'cancelled' } & CancelledStep)>(z, outcome),
    runStatus,
  }
}

/** A value of a type that is declared elsewhere; `shape` names only what readers rely on. */
function checked<Value>(z: typeof Zod, shape: Zod.ZodType): Zod.ZodCustom<Value, Value> {
  return z.custom<Value>((value) => shape.safeParse(value).success)
}

export type GateFacts = Pick<GateRecord, 'key' | 'planDigest' | 'stateDigest'>

export function gateOf({ key, state }: Pick<Call, 'key' | 'state'>, planDigest: string): GateFacts {
  return { key, planDigest, stateDigest: sha256(JSON.stringify(state)) }
}

export function isAbout(gate: GateFacts, decision: GateFacts | undefined): boolean {
  return (
    decision?.key === gate.key &&
    decision.planDigest === gate.planDigest &&
    decision.stateDigest === gate.stateDigest
  )
}

/** Whether the step was approved; one with a result was, unless that is its rejection. */
export function isApproved(
  gate: GateFacts,
  decision: ApprovalRecord | undefined,
  outcome: Outcome | CancelledStep | undefined,
): boolean {
  if (outcome) return !('rejected' in outcome) || outcome.rejected !== true
  return decision?.approved === true && isAbout(gate, decision)
}

/** What a gate lets become of its step, which was rejected at `now`; undefined when it may start. */
export function passGate(
  gate: GateFacts,
  step: string,
  decision: ApprovalRecord | undefined,
  now: number,
): (Outcome & { kind: 'finished' }) | SuspendedOutcome | undefined {
  if (!isAbout(gate, decision)) return { kind: 'suspended', why: 'approval' }
  if (decision?.approved === true) return undefined
  const output = failedOutput('gate-rejected', `${step} was rejected`)
  return { kind: 'finished', output, startedAt: now, durationMs: 0, rejected: true }
}

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
