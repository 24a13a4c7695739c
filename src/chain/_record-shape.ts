import { isObject, type JournalRecord } from '../base/index.ts'
import type { ChainRecord } from './journal-records.ts'

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
