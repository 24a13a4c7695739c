import { isObject } from '../core/json.ts'
import type { JournalRecord } from '../core/journal-file.ts'
import type { StepOutput } from '../exec/output-protocol.ts'
import type { JsonValue } from '../skill/model.ts'
import type { CancelledStep, FinishedOutcome, RunStatus } from './engine.ts'
import type { Plan } from './plan-model.ts'

/**
 * The format of our journals; 2 added the sums of lines. A file of another version is refused, never
 * touched. The first line has its version and its sum at the same places in every format from 2 on.
 */
export const journalVersion = 2

/** The first record: everything a run needs to be continued. Times are ISO 8601. */
export interface RunRecord {
  type: 'run'
  version: typeof journalVersion
  runId: string
  skill: string
  at: string
  /** `stepper`: an agent is driven through it. */
  mode: 'run' | 'stepper'
  /** Secrets masked; `argumentsDigest` is that of the arguments as they were given. */
  arguments: readonly string[]
  argumentsDigest: string
  requireVerified: boolean
  /** The skill as the caller named it, and what changed its plan, to plan it again. */
  request: RunRequest
  plan: Plan
  /** The run whose results this one reuses. */
  origin?: { runId: string; kind: 'retry' | 'fork' } | undefined
  /** Where scripts that are not trusted run; absent when the caller gave nothing. */
  confinement?: ConfinementRecord | undefined
  /** The server that executes it; absent when this machine does. */
  server?: ServerRecord | undefined
}

/**
 * A sandbox with what was granted, or `off` after `--unsafe-no-sandbox`. A record only: it is given
 * again with every command, because a project could bring journals of its own.
 */
export type ConfinementRecord =
  | { sandbox: 'off' }
  | {
      sandbox: string
      read: readonly string[]
      write: readonly string[]
      network: boolean
      /** Names alone. */
      environment: readonly string[]
    }

export interface ServerRecord {
  engine: 'restate'
  url: string
  adminUrl: string
}

export interface RunRequest {
  /** Directory of the skill, relative to the workspace where it lies inside. */
  directory: string
  set: readonly string[]
  from?: string | undefined
  only?: string | undefined
  via?: string | undefined
  /** The model of `--model`, where it is (`--base-url`), and its built-in tools (`--tools`). */
  model?: string | undefined
  baseUrl?: string | undefined
  tools?: string | undefined
}

/** A step began: written before anything of it acts. */
interface StartRecord {
  type: 'start'
  key: string
  at: string
}

/** A step ended; its result is final, also after a crash. */
export interface DoneRecord {
  type: 'done'
  key: string
  outcome: FinishedOutcome | ({ kind: 'cancelled' } & CancelledStep)
  /** Taken over from another run. */
  reused?: true | undefined
}

/** The outcome that a record stands for, marked where it was taken over. */
export function recordedOutcome({ outcome, reused }: DoneRecord): DoneRecord['outcome'] {
  return reused === true && outcome.kind === 'finished' ? { ...outcome, reused } : outcome
}

/** A value that the interpreter decided once. */
interface DecidedRecord {
  type: 'decided'
  key: string
  value: JsonValue
}

/** A step waits for a user; `stateDigest` names the outputs that the user is shown. */
export interface GateRecord {
  type: 'gate'
  key: string
  step: string
  attempt: number
  planDigest: string
  stateDigest: string
  at: string
}

/** What a user decided about exactly one gate. */
export interface ApprovalRecord {
  type: 'approval'
  key: string
  approved: boolean
  planDigest: string
  stateDigest: string
  /** `person`: at a terminal; `caller`: `--yes-gates` of the run. */
  by: 'person' | 'caller'
  at: string
}

interface HandedRecord {
  type: 'handed'
  key: string
  at: string
}

export interface ReportRecord {
  type: 'report'
  key: string
  output: StepOutput
  at: string
}

/** The run was taken up again, perhaps with a changed plan. */
interface ResumedRecord {
  type: 'resumed'
  at: string
  plan?: Plan | undefined
  confinement?: ConfinementRecord | undefined
}

/** The run stands: it ended, was cancelled or interrupted, or waits. The last one counts. */
interface StatusRecord {
  type: 'status'
  status: RunStatus
  at: string
}

export type ChainRecord =
  | RunRecord
  | StartRecord
  | DoneRecord
  | DecidedRecord
  | GateRecord
  | ApprovalRecord
  | HandedRecord
  | ReportRecord
  | ResumedRecord
  | StatusRecord

/**
 * Whether a line of a journal is one of our records, with everything that a reader of it relies on:
 * a project can bring journals that nobody here wrote, and none may do more than be refused.
 */
export function isChainRecord(record: JournalRecord): record is ChainRecord & JournalRecord {
  const type = record['type']
  return typeof type === 'string' && (shapes.get(type)?.(record) ?? false)
}

type Check = (value: unknown) => boolean

const text: Check = (value) => typeof value === 'string'
const flag: Check = (value) => typeof value === 'boolean'
const count: Check = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0
const map: Check = (value) => isObject(value)
const time: Check = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value))
const present: Check = (value) => value !== undefined
/** Milliseconds that a date can have. */
const instant: Check = (value) =>
  typeof value === 'number' && !Number.isNaN(new Date(value).getTime())

const texts = listOf(text)
const finalStatus = oneOf('success', 'failure', 'critical')
const runStatus = oneOf('success', 'failure', 'critical', 'waiting', 'interrupted', 'cancelled')

const policy = shape({
  async: flag,
  continueOnError: flag,
  timeout: count,
  maxDepth: count,
  parallelLimit: count,
  validateOnLoad: flag,
  cleanupAfter: flag,
  earlyExitOn: text,
  continueOnSuccess: flag,
  passState: flag,
  retryCount: count,
  retryUntil: text,
  raceMode: flag,
})

const plannedSkill = shape({
  step: text,
  skill: text,
  path: text,
  trust: oneOf('trusted', 'untrusted'),
  digest: text,
  tokens: count,
  executor: oneOf('chain', 'script', 'driven', 'agent', 'model', 'missing', 'none'),
})
const chainParts = shape({ executor: oneOf('chain'), policy, steps: listOf(plannedStep) })

function plannedStep(value: unknown): boolean {
  if (!isObject(value) || !plannedSkill(value)) return false
  return value['executor'] !== 'chain' || chainParts(value)
}

const plan = shape({
  skill: text,
  digest: text,
  root: (value) => plannedStep(value) && chainParts(value),
})

const errors = listOf(shape({ code: text, message: text }))
const output = shape({
  status: finalStatus,
  result: text,
  errors,
  metrics: map,
  evidence: text,
})

const stepStatus = oneOf('skipped', 'not_run', 'cancelled', 'waiting')
const ownStepResult = shape({
  step: text,
  skill: text,
  status: (value) => finalStatus(value) || stepStatus(value),
  result: text,
  errors,
  metrics: map,
  evidence: (value) => value === null || text(value),
  startedAt: (value) => value === null || time(value),
  durationMs: count,
  reason: optional(text),
  log: optional(text),
  sandbox: optional(text),
  hint: optional(text),
})
const innerResults = shape({
  steps: optional(listOf(stepResult)),
  attempts: optional(listOf(attempt)),
})

function stepResult(value: unknown): boolean {
  return ownStepResult(value) && innerResults(value)
}

function attempt(value: unknown): boolean {
  return attemptParts(value)
}

const attemptParts = shape({
  attempt: count,
  status: runStatus,
  steps: listOf(stepResult),
  chain_state: shape({
    previous_outputs: listOf(shape({ step: text, result: text })),
    accumulated_errors: errors,
    total_metrics: map,
  }),
  errors: optional(errors),
})

const left = {
  startedAt: optional(instant),
  durationMs: optional(count),
  chain: optional(shape({ status: runStatus, attempts: listOf(attempt), winner: optional(text) })),
}
const finished = shape({
  ...left,
  kind: oneOf('finished'),
  output,
  startedAt: instant,
  durationMs: count,
  log: optional(text),
  sandbox: optional(text),
  hint: optional(text),
})
const cancelled = shape({ ...left, kind: oneOf('cancelled') })

const keyed = { key: text, at: time }
const gate = { ...keyed, planDigest: text, stateDigest: text }

const shapes: ReadonlyMap<string, Check> = new Map([
  [
    'run',
    shape({
      version: count,
      runId: text,
      skill: text,
      at: time,
      mode: oneOf('run', 'stepper'),
      arguments: texts,
      argumentsDigest: text,
      requireVerified: flag,
      request: shape({
        directory: text,
        set: texts,
        from: optional(text),
        only: optional(text),
        via: optional(text),
        model: optional(text),
        baseUrl: optional(text),
        tools: optional(text),
      }),
      plan,
      origin: optional(shape({ runId: text, kind: oneOf('retry', 'fork') })),
      confinement: optional(shape({ sandbox: text })),
      server: optional(shape({ engine: oneOf('restate'), url: text, adminUrl: text })),
    }),
  ],
  ['start', shape(keyed)],
  ['done', shape({ key: text, outcome: (value) => finished(value) || cancelled(value) })],
  ['decided', shape({ key: text, value: present })],
  ['gate', shape({ ...gate, step: text, attempt: count })],
  ['approval', shape({ ...gate, approved: flag, by: oneOf('person', 'caller') })],
  ['handed', shape(keyed)],
  ['report', shape({ ...keyed, output })],
  ['resumed', shape({ at: time, plan: optional(plan) })],
  ['status', shape({ at: time, status: runStatus })],
])

function shape(members: Readonly<Record<string, Check>>): Check {
  const checks = Object.entries(members)
  return (value) => isObject(value) && checks.every(([name, check]) => check(value[name]))
}

function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every((item) => check(item))
}

function optional(check: Check): Check {
  return (value) => value === undefined || check(value)
}

function oneOf(...choices: readonly string[]): Check {
  return (value) => typeof value === 'string' && choices.includes(value)
}
