import type * as Zod from 'zod'
import { type Diagnostic, reasonOf, StateFileError, systemCode } from '#core/errors'
import { zod } from '#core/zod'
import {
  type JournalRecord,
  type JournalSeal,
  type JournalWriter,
  type JournalReading,
  readJournal,
} from '#core/journal-file'
import { decrypt } from '#core/project-state'
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
import type { Gate } from '#skill/model'
import type { Plan, PlannedStep } from './plan-model.ts'

/**
 * The version of the journal format. Since version 3 the line sums are signed with the user's key. A
 * journal of another version is refused and never changed; `runs import` reads version 2.
 */
export const journalVersion = 3

export type ChainRecord = Zod.infer<ReturnType<typeof recordSchema>>

export type RunRecord = Extract<ChainRecord, { type: 'run' }>
export type RunRequest = RunRecord['request']
export type RemovedGates = NonNullable<RunRecord['removedGates']>
export type DoneRecord = Extract<ChainRecord, { type: 'done' }>
export type GateRecord = Extract<ChainRecord, { type: 'gate' }>
export type ApprovalRecord = Extract<ChainRecord, { type: 'approval' }>
export type ApprovalStrength = NonNullable<ApprovalRecord['strength']>
export type ReportRecord = Extract<ChainRecord, { type: 'report' }>
export type RecordedTree = NonNullable<Extract<ChainRecord, { type: 'status' }>['tree']>

export function recordedOutcome({ outcome, reused }: DoneRecord): DoneRecord['outcome'] {
  return reused && outcome.kind === 'finished' ? { ...outcome, reused } : outcome
}

/** Whether a line is a record with everything that readers need. A forged line may lack it. */
export function isChainRecord(record: JournalRecord): record is ChainRecord & JournalRecord {
  schema ??= recordSchema()
  try {
    return schema.safeParse(record).success
  } catch (error) {
    // The record is nested too deeply for a recursive reader.
    if (error instanceof RangeError) return false
    throw error
  }
}

let schema: ReturnType<typeof recordSchema> | undefined

function recordSchema() {
  const z = zod()
  const text = z.string()
  const texts = z.array(text).readonly()
  const time = text.refine((value) => !Number.isNaN(Date.parse(value)))
  const { plan, output, outcome, runStatus } = valueSchemas(z)
  // Never a permission: a project could contain journals, so every command needs the option again.
  const confinement = z.looseObject({ sandbox: text }).optional()
  const step = { key: text, at: time }
  const removedGates = z.object({ steps: texts, user: text }).optional()
  /** `key`: step, attempt and round of each level. `stateDigest`: digest of the outputs that the step will get. */
  const gate = { ...step, planDigest: text, stateDigest: text }
  /** The working tree when the run ended, or why Git could not read it. */
  const tree = z.union([
    z.object({ problem: text }),
    z.object({
      /** Git's ID of the tree, without proofs. */
      tree: text,
      /** HEAD at that time; null before the first commit. */
      commit: text.nullable(),
      /** Paths that differ from that commit; `paths` has the first ones. */
      uncommitted: z.object({ count: z.number(), paths: texts }),
    }),
  ])
  return z.discriminatedUnion('type', [
    z.object({
      type: z.literal('run'),
      version: z.number(),
      runId: text,
      skill: text,
      at: time,
      /** `stepper`: an agent executes the steps one by one. */
      mode: z.enum(['run', 'stepper']),
      /** With masked secrets; `argumentsDigest` is the digest of the unmasked arguments. */
      arguments: texts,
      argumentsDigest: text,
      requireVerified: z.boolean(),
      /** The skill as the caller named it and the changes to its plan, to plan it again. */
      request: z.object({
        /** Directory of the skill, relative to the workspace if it is inside. */
        directory: text,
        set: texts,
        from: text.optional(),
        only: text.optional(),
        via: text.optional(),
        /** The options `--model`, `--base-url` and `--tools`. */
        model: text.optional(),
        baseUrl: text.optional(),
        tools: text.optional(),
      }),
      plan,
      user: text.optional(),
      /** `--yes-gates`: the caller approved every gate in advance. */
      yesGates: z.literal(true).optional(),
      /** It was written elsewhere: it can be shown, but not continued. */
      imported: z.object({ from: text, at: time }).optional(),
      /** The run whose results this one reuses. */
      origin: z.object({ runId: text, kind: z.enum(['retry', 'fork']) }).optional(),
      /** Gates of that run which a user removed, at a terminal. */
      removedGates,
      /** The agent client whose session executes the run; absent if no hook enforces it. */
      rail: z.object({ client: text, version: text.optional() }).optional(),
      /** The sandbox of untrusted scripts; absent if the caller chose none. */
      confinement,
      /** The server that executes the run; absent if this machine does. */
      server: z.object({ engine: z.literal('restate'), url: text, adminUrl: text }).optional(),
    }),
    z.object({ type: z.literal('start'), ...step }),
    z.object({
      type: z.literal('done'),
      key: text,
      outcome,
      reused: z.literal(true).optional(),
      /** Git's ID of the working tree when the step ended; absent in older journals, and if it was not read. */
      tree: text.optional(),
    }),
    z.object({
      type: z.literal('decided'),
      key: text,
      value: z.custom<JsonValue>((value) => value !== undefined),
    }),
    z.object({ type: z.literal('gate'), ...gate, step: text, attempt: z.number().min(0) }),
    /** `person`: a user; `caller`: `--yes-gates` of the run. */
    z.object({
      type: z.literal('approval'),
      ...gate,
      approved: z.boolean(),
      by: z.enum(['person', 'caller']),
      user: text.optional(),
      /** A prompt in the session of the agent, a question of its client, a terminal, or the view; absent in older journals. */
      channel: z.enum(['prompt', 'client', 'terminal', 'view']).optional(),
      /** How hard it is for an agent to forge the decision. */
      strength: z.enum(['prompted', 'attended', 'signed', 'unknown']).optional(),
      /** Why the user decided so. */
      reason: text.optional(),
      /** The results on the screen; absent if nobody was asked. */
      shown: z.array(z.object({ step: text, status: text, result: text })).optional(),
      /** Of the statement about this approval, by a key of the user's list, with its name there. */
      signature: z.object({ text, signer: text }).optional(),
      /** Digest of the whole text that the user saw. */
      shownDigest: text.optional(),
    }),
    z.object({ type: z.literal('handed'), ...step }),
    z.object({
      type: z.literal('report'),
      ...step,
      output,
      /** The evidence was established before the report: a check passed, or a user accepted the result. */
      isConfirmed: z.literal(true).optional(),
    }),
    z.object({
      type: z.literal('resumed'),
      at: time,
      plan: plan.optional(),
      removedGates,
      confinement,
    }),
    /** The run ended, was cancelled or interrupted, or waits. The last record applies. */
    z.object({ type: z.literal('status'), status: runStatus, at: time, tree: tree.optional() }),
  ])
}

/** Checks the parts that readers need, for journals that were written elsewhere. Others are sealed. */
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
  const execution = {
    log: text.optional(),
    hint: text.optional(),
    sandbox: text.optional(),
    notUtf8: z.literal(true).optional(),
  }
  // The range of a date in milliseconds.
  const startedAt = z.number().min(-8.64e15).max(8.64e15)
  const clockShift = z.number().nullable().optional()
  const stepSchema: Zod.ZodType = z.object({
    ...answer,
    step: text,
    skill: text,
    status: z.enum([...runStatus.options, 'skipped', 'not_run', 'running']),
    startedAt: text.refine((value) => !Number.isNaN(Date.parse(value))).nullable(),
    durationMs: count.nullable(),
    clockShiftMs: clockShift,
    evidence: text.nullable(),
    reason: text.optional(),
    round: count.optional(),
    ...execution,
    get steps() {
      return z.array(stepSchema).optional()
    },
    get tries() {
      return z.array(stepSchema).optional()
    },
    get attempts() {
      return attempts.optional()
    },
  })
  const attempts = z.array(
    z.object({
      attempt: count,
      status: runStatus,
      steps: z.array(stepSchema),
      errors: errors.optional(),
      reworks: z
        .array(
          z.object({ step: text, to: text, reason: text.optional(), steps: z.array(stepSchema) }),
        )
        .optional(),
    }),
  )
  const chain = z.object({ status: runStatus, attempts, winner: text.optional() }).optional()
  const timing = { durationMs: count.nullable().optional(), clockShiftMs: clockShift, chain }
  const outcome = z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('finished'),
      output,
      startedAt,
      rejected: z.literal(true).optional(),
      reason: text.optional(),
      ...timing,
      ...execution,
    }),
    z.object({ kind: z.literal('cancelled'), startedAt: startedAt.optional(), ...timing }),
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
    plan: schemaOf<Plan>(z, z.object({ skill: text, digest: text, root })),
    output: schemaOf<StepOutput>(z, output),
    outcome: schemaOf<FinishedOutcome | ({ kind: 'cancelled' } & CancelledStep)>(z, outcome),
    runStatus,
  }
}

/** Checks a value of a type that is declared elsewhere. `shape` has only the fields that readers need. */
function schemaOf<Value>(z: typeof Zod, shape: Zod.ZodType): Zod.ZodCustom<Value, Value> {
  return z.custom<Value>((value) => shape.safeParse(value).success)
}

/** Identifies a gate: its step, its plan, and the results before it. */
export type GateFacts = Pick<GateRecord, 'key' | 'planDigest' | 'stateDigest'>

export function gateOf({ key, state }: Pick<Call, 'key' | 'state'>, planDigest: string): GateFacts {
  return { key, planDigest, stateDigest: sha256(JSON.stringify(state)) }
}

/** Whether the caller of the run approved its gates in advance. A changed plan loses these approvals. */
export function approvedInAdvance({ run, plan }: Pick<RunJournal, 'run' | 'plan'>): boolean {
  return run.yesGates === true && plan.digest === run.plan.digest
}

/** Whether a decision was made about this gate, with the same plan and results. */
export function isAbout(gate: GateFacts, decision: GateFacts | undefined): boolean {
  return (
    decision?.key === gate.key &&
    decision.planDigest === gate.planDigest &&
    decision.stateDigest === gate.stateDigest
  )
}

/**
 * Whether an approval is as hard to forge as a gate requires. A plain gate accepts an approval from a
 * terminal whose processes cannot be read, as in some containers, but no prompt of unknown origin. Older
 * journals do not contain how hard it was to forge.
 */
export function isStrongEnough(
  gate: Gate | undefined,
  { strength, channel }: Pick<ApprovalRecord, 'strength' | 'channel'>,
): boolean {
  if (gate === undefined) return true
  if (gate === true) return strength !== 'unknown' || channel === 'terminal'
  return strength === 'signed' || strength === gate
}

/** Whether a step was approved. A step with a result was, unless the result is its rejection. */
export function isApproved(
  gate: GateFacts,
  requiredGate: Gate | undefined,
  decision: ApprovalRecord | undefined,
  outcome: Outcome | CancelledStep | undefined,
): boolean {
  if (outcome) return !('rejected' in outcome) || outcome.rejected !== true
  if (decision?.approved !== true) return false
  return isStrongEnough(requiredGate, decision) && isAbout(gate, decision)
}

/** Returns the outcome of a step whose gate is rejected or closed; undefined if the step may start. */
export function passGate(
  gate: GateFacts,
  { step, gate: requiredGate }: Pick<PlannedStep, 'step' | 'gate'>,
  decision: ApprovalRecord | undefined,
  now: number,
): (Outcome & { kind: 'finished' }) | SuspendedOutcome | undefined {
  if (!isAbout(gate, decision)) return { kind: 'suspended', why: 'approval' }
  if (decision?.approved === true) {
    const isOpen = isStrongEnough(requiredGate, decision)
    return isOpen ? undefined : { kind: 'suspended', why: 'approval' }
  }
  const reason = decision?.reason
  const message = `${step} was rejected${reason === undefined ? '' : `: ${reason}`}`
  const output = failedOutput('gate-rejected', message)
  return { kind: 'finished', output, startedAt: now, durationMs: 0, rejected: true, reason }
}

/** A run as its journal records it. All maps have the keys of steps. */
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
  /** The gates that users removed from the run, in their order. */
  removals: readonly (RemovedGates & { at: string })[]
  /** The last recorded status; undefined while the run is running, and after a crash. */
  status: RunStatus | undefined
  /** When the last process recorded that it left the run; undefined after a crash. */
  pausedAt?: string | undefined
  /** The working tree at the end of the run; undefined before its end, and outside a repository. */
  tree?: RecordedTree | undefined
  resumedAt?: string
  updatedAt: string
  /** The latest time of a record, in milliseconds: later than `updatedAt` if the clock was set back. */
  latestAt: number
  /** Steps that began earlier than a previous record: the clock was set back. */
  begunEarlier: Set<string>
  diagnostics: readonly Diagnostic[]
}

/** Whether a server may know more about the run than its journal. */
export function isOpen({ run, status }: RunJournal): boolean {
  return run.server !== undefined && (status === undefined || status === 'waiting')
}

/** Reads the journal of a run. A torn last line is dropped and reported. */
export function readRunJournal(path: string, runId: string, seal: JournalSeal): RunJournal {
  const { records, diagnostics } = readRecords(path, runId, seal)
  return runJournalOf(path, runId, records, diagnostics)
}

/** Returns the journal with these records. Throws as {@link readRunJournal}. */
export function runJournalOf(
  path: string,
  runId: string,
  records: readonly ChainRecord[],
  diagnostics: readonly Diagnostic[] = [],
): RunJournal {
  const [first, ...laterRecords] = records
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
    length: laterRecords.length,
    resumptions: 0,
    removals: removalsOf(first),
    status: undefined,
    updatedAt: first.at,
    latestAt: Date.parse(first.at),
    begunEarlier: new Set(),
    diagnostics,
  }
  laterRecords.forEach((record, index) => apply(journal, record, index))
  return journal
}

/** Without a seal, reads any journal since version 2, whoever wrote it. Throws as {@link readRunJournal}. */
export function readRecords(path: string, runId: string, seal?: JournalSeal) {
  let reading: JournalReading
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
  const records = reading.records.map((rawRecord, index) => {
    const record = seal ? withSecrets(rawRecord, seal.code) : rawRecord
    if (isChainRecord(record)) return record
    throw foreign(
      path,
      `record ${index + 1} (byte ${reading.offsets[index]}) was not written by Skillrail`,
    )
  })
  return { records, diagnostics }
}

/** Restores the secrets that `withoutSecrets` of the store has encrypted. */
function withSecrets(
  { hidden, ...record }: JournalRecord,
  code: JournalSeal['code'],
): JournalRecord {
  const field = dataFields[String(record['type'])]
  if (typeof hidden !== 'string' || field === undefined) return record
  return { ...record, [field]: decrypt(hidden, code) }
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
  if ('at' in record && typeof record.at === 'string') {
    const at = Date.parse(record.at)
    const isBegin = record.type === 'start' || record.type === 'handed'
    if (isBegin && at < journal.latestAt) journal.begunEarlier.add(record.key)
    journal.updatedAt = record.at
    journal.latestAt = Math.max(journal.latestAt, at)
  }
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
      journal.tree = undefined
      journal.resumedAt = record.at
      journal.resumptions++
      journal.removals = [...journal.removals, ...removalsOf(record)]
      break
    case 'status':
      journal.status = record.status
      journal.tree = record.tree
      // A cancellation may come long after the process has gone.
      if (record.status !== 'cancelled') journal.pausedAt = record.at
      break
  }
}

function removalsOf({ removedGates, at }: Pick<RunRecord, 'removedGates' | 'at'>) {
  return removedGates ? [{ ...removedGates, at }] : []
}

/** The process ended while it wrote the first record. */
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

/** Writes the records of a run in order, and waits for the disk as rarely as possible. */
export interface RecordWriter {
  /** Writes these records and all deferred ones before it returns. Without records, only the deferred ones. */
  append(...records: readonly ChainRecord[]): void
  /**
   * Writes a record with the next one, or at the end of this turn of the event loop, and then calls
   * `written`. So the result of a step and the start of the next one share one wait for the disk.
   */
  defer(record: ChainRecord, callbacks: { written(): void; failed(error: unknown): void }): void
}

export function createRecordWriter(journal: JournalWriter): RecordWriter {
  let queue: { record: ChainRecord; written(): void }[] = []

  function append(...records: readonly ChainRecord[]): void {
    const waiting = queue
    queue = []
    if (waiting.length + records.length === 0) return
    const allRecords = [...waiting.map((item) => item.record), ...records]
    journal.append(...allRecords.map((record) => ({ ...record })))
    for (const item of waiting) item.written()
  }

  return {
    append,
    defer(record, { written, failed }) {
      queue.push({ record, written })
      if (queue.length > 1) return
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
