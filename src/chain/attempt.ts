import { failedOutput, type StepOutput, type StepStatus } from '../exec/output-protocol.ts'
import type {
  AttemptResult,
  CancelledStep,
  ChainResult,
  Engine,
  Outcome,
  Running,
  RunResult,
  StepResult,
} from './engine.ts'
import type { EngineCore, Entry } from './journal-engine.ts'
import { isChain, type PlannedChain, type PlannedStep, stepLabel } from './plan-model.ts'
import {
  afterAttempt,
  type AttemptOutcome,
  attemptStatus,
  notStable,
  skipsAfter,
  type Stop,
  stopAfter,
} from './policy.ts'
import {
  cancelledStep,
  notExecuted,
  previousOutputs,
  type ShownRun,
  signatureOf,
  stepResult,
  walkResult,
} from './step-result.ts'
import type { RunJournal } from './run-journal.ts'
import { addOutputs, type ChainState, emptyState } from './state.ts'

interface AttemptScope {
  number: number
  prefix: string
  state: ChainState
}

interface AttemptEnd extends Omit<AttemptResult, 'attempt'> {
  /** The status by the policy, also while `status` says that the run waits. */
  decided: StepStatus
  ended: ChainResult['ended']
  winner: string | undefined
}

async function runAttempt(chain: PlannedChain, engine: Engine, scope: AttemptScope) {
  const { policy, steps } = chain
  const limit = policy.async ? policy.parallelLimit : 1
  const slots = new Map<PlannedStep, StepResult>()
  const running = new Map<string, { step: PlannedStep; handle: Running }>()
  let halt: Halt | undefined
  const parked: { step: PlannedStep; handle: Running }[] = []
  let state = scope.state
  let next = 0

  for (;;) {
    const places = halt === undefined ? limit : 0
    while (placesTaken(policy, running) < places) {
      const step = steps[next++]
      if (step === undefined) break
      if (step.excluded === true) continue
      const handle = begin(chain, step, engine, scope, policy.passState ? state : emptyState)
      running.set(handle.key, { step, handle })
    }
    if (running.size === 0) break
    const { key, outcome } = await engine.firstOf([...running.values()].map((item) => item.handle))
    const ended = running.get(key)
    if (ended === undefined) throw new Error(`the engine answered for ${key}, which does not run`)
    const { step } = ended
    running.delete(key)
    slots.set(step, stepResult(step, outcome))
    // In a group every step sees the state from before the group.
    if (!policy.async) state = addOutputs(state, previousOutputs([slots.get(step)]))
    halt = haltAfter(chain, step, outcome) ?? halt
    if (outcome.kind === 'suspended' && outcome.why !== 'interrupted') parked.push(ended)
    if (halt === undefined || halt.kind === 'suspended') continue
    if (halt.kind === 'won') {
      const { step: winner } = halt
      const key = `${scope.prefix}${scope.number}:winner`
      halt = { kind: 'won', step: await engine.record(key, () => winner) }
    }
    // What waits for a user or a report is given up.
    const started = [...running.values(), ...parked.splice(0)]
    running.clear()
    if (started.length > 0) {
      const left = await engine.cancel(started.map((item) => item.handle))
      started.forEach((item, index) => slots.set(item.step, leftOver(item.step, left[index], halt)))
    }
  }

  for (const step of steps) {
    if (!slots.has(step)) slots.set(step, restOf(step, halt))
  }
  return conclude(chain, scope, slots, halt)
}

/** In a sequence a waiting step blocks the next one. */
function placesTaken(
  { async }: PlannedChain['policy'],
  running: ReadonlyMap<string, { handle: Running }>,
): number {
  if (!async) return running.size
  return [...running.values()].filter(({ handle }) => handle.waited !== true).length
}

function begin(
  chain: PlannedChain,
  step: PlannedStep,
  engine: Engine,
  scope: AttemptScope,
  state: ChainState,
): Running {
  const key = `${scope.prefix}${scope.number}:${stepLabel(step)}`
  const call = { key, attempt: scope.number, state, timeoutMs: chain.policy.timeout * 1000 }
  if (!isChain(step)) return engine.task({ ...call, step })
  return engine.chain({ ...call, step }, (inner) => runChain(step, inner, state, `${key}/`))
}

/** Stop conditions are looked at after every result, and before `continue_on_success`. */
function haltAfter(chain: PlannedChain, step: PlannedStep, outcome: Outcome): Halt | undefined {
  const { policy } = chain
  switch (outcome.kind) {
    case 'finished': {
      const { status } = outcome.output
      if (outcome.rejected === true) return { kind: 'rejected', step: step.step }
      const stop = stopAfter(policy, status)
      if (stop !== undefined && policy.raceMode) return { kind: 'won', step: step.step }
      if (stop !== undefined) return { kind: 'stopped', step: step.step, stop, status }
      return skipsAfter(policy, status) ? { kind: 'skipped', step: step.step, status } : undefined
    }
    case 'cancelled':
      return { kind: 'cancelled' }
    case 'suspended':
      // The rest of a group continues while one of it waits for a user or a report.
      return policy.async && outcome.why !== 'interrupted' ? undefined : { kind: 'suspended' }
  }
}

function leftOver(step: PlannedStep, left: CancelledStep | undefined, halt: Halt | undefined) {
  const reason =
    halt?.kind === 'won'
      ? `${halt.step} had won the race`
      : halt !== undefined && 'step' in halt
        ? `the chain stopped after ${halt.step}`
        : 'the chain was ended'
  return cancelledStep(step, left ?? {}, reason)
}

function conclude(
  chain: PlannedChain,
  scope: AttemptScope,
  slots: ReadonlyMap<PlannedStep, StepResult>,
  halt: Halt | undefined,
): AttemptEnd {
  const results = chain.steps.flatMap((step) => slots.get(step) ?? [])
  const outputs = previousOutputs(results)
  const statuses = outputs.map((output) => output.status)
  const stop = halt?.kind === 'stopped' ? halt.stop : halt?.kind === 'won' ? 'succeeded' : undefined
  const decided = attemptStatus(chain.policy, statuses, stop)
  const ended = endedBy(halt, results)
  const stands = results.some((result) => result.status === 'waiting') ? 'waiting' : 'interrupted'
  return {
    status: ended === 'suspended' ? stands : ended === 'cancelled' ? 'cancelled' : decided,
    steps: results,
    chain_state: addOutputs(scope.state, outputs),
    decided,
    ended,
    winner: halt?.kind === 'won' ? halt.step : undefined,
  }
}

function endedBy(halt: Halt | undefined, results: readonly StepResult[]): ChainResult['ended'] {
  if (halt?.kind === 'rejected' || halt?.kind === 'cancelled' || halt?.kind === 'suspended') {
    return halt.kind
  }
  return results.some((result) => result.status === 'waiting') ? 'suspended' : undefined
}

/** Why nothing more of a chain starts. */
type Halt =
  | { kind: 'stopped'; step: string; stop: Stop; status: StepStatus }
  | { kind: 'won'; step: string }
  | { kind: 'skipped'; step: string; status: StepStatus }
  | { kind: 'rejected'; step: string }
  /** Ended by the chain above. */
  | { kind: 'cancelled' }
  | { kind: 'suspended' }

function restOf(step: PlannedStep, halt: Halt | undefined): StepResult {
  if (step.excluded === true) return notExecuted(step, 'not_run', 'left out of this run')
  return notExecuted(step, halt?.kind === 'skipped' ? 'skipped' : 'not_run', reasonOf(halt))
}

function reasonOf(halt: Halt | undefined): string {
  switch (halt?.kind) {
    case 'stopped':
      return halt.stop === 'succeeded'
        ? `the chain had succeeded with ${halt.step}`
        : `the chain had stopped after ${halt.step} (${halt.status})`
    case 'won':
      return `${halt.step} had won the race`
    case 'skipped':
      return `${halt.step} did not succeed (${halt.status})`
    case 'rejected':
      return `${halt.step} was rejected`
    case 'cancelled':
      return 'the chain was ended'
    case 'suspended':
    case undefined:
      return 'not reached yet'
  }
}

export interface TimeLimit {
  seconds: number
  /** It is that of the setting `run.timeout`, since the chain sets none. */
  isDefault?: boolean
  over(): boolean
  clear(): void
}

/** Longest delay a timer of the platform takes; longer limits are no limit in practice. */
const maxTimerMs = 2_147_483_647

export function timeLimit(core: EngineCore, entry: Entry, startedAt: number): TimeLimit {
  const fallback = entry.kind === 'task' ? (core.defaultTimeoutMs ?? 0) : 0
  const ms = Math.min(entry.call.timeoutMs || fallback, maxTimerMs)
  if (ms === 0) return noLimit
  const counts = core.countsAbsence === true && entry.kind === 'chain'
  const left = counts ? ms - (core.clock.now() - startedAt) : ms
  let over = false
  const end = (): void => {
    over = true
    entry.controller.abort()
  }
  if (left <= 0) end()
  const timer = over ? undefined : setTimeout(end, left)
  const isDefault = entry.call.timeoutMs === 0
  return { seconds: ms / 1000, isDefault, over: () => over, clear: () => clearTimeout(timer) }
}

export const noLimit: TimeLimit = { seconds: 0, over: () => false, clear: () => undefined }

export function overdue(
  limit: Pick<TimeLimit, 'seconds' | 'isDefault'>,
  inVerification = false,
): StepOutput {
  const where = inVerification ? ' while scripts/verify ran' : ''
  const setting = limit.isDefault === true ? ' (the setting run.timeout)' : ''
  const message = `it took longer than ${limit.seconds} s${setting} and was ended${where}`
  return failedOutput('timeout', message)
}

/**
 * The result of a run that a process executes: what started and has not ended is running, the rest
 * has not run. `now` is in milliseconds since the epoch.
 */
export function whileRunning(journal: RunJournal, result: RunResult, now: number): ShownRun {
  const open = new Set(
    walkResult(result)
      .filter(({ key, step }) => step.status === 'cancelled' && !journal.done.has(key))
      .map(({ step }) => step),
  )
  const shown = (step: StepResult): StepResult => {
    const steps = step.steps?.map(shown)
    const below = steps === undefined ? {} : { steps }
    if (!open.has(step)) return { ...step, ...below }
    const { reason: _reason, ...rest } = step
    if (!hasBegun(step)) return { ...rest, ...below, status: 'not_run', reason: 'has not started' }
    const durationMs =
      step.startedAt === null ? 0 : Math.max(0, Math.round(now - Date.parse(step.startedAt)))
    return { ...rest, ...below, status: 'running', durationMs }
  }
  const last = result.attempts.length - 1
  return {
    ...result,
    status: 'running',
    attempts: result.attempts.map((attempt, index) =>
      index < last
        ? attempt
        : { ...attempt, status: 'running', steps: attempt.steps.map((step) => shown(step)) },
    ),
  }
}

function hasBegun({ startedAt, steps = [] }: StepResult): boolean {
  return startedAt !== null || steps.some(hasBegun)
}

/**
 * Runs a planned chain on an engine: the one place that knows the semantics of a chain. It decides
 * on values only. `state` is what the parent passes to a nested chain; `prefix` stands before the
 * keys of its steps.
 */
export async function runChain(
  chain: PlannedChain,
  engine: Engine,
  state: ChainState = emptyState,
  prefix = '',
): Promise<ChainResult> {
  const attempts: AttemptResult[] = []
  const outcomes: AttemptOutcome[] = []
  for (;;) {
    const number = attempts.length + 1
    const { ended, winner, decided, ...attempt } = await runAttempt(chain, engine, {
      number,
      prefix,
      state,
    })
    attempts.push({ attempt: number, ...attempt })
    if (ended !== undefined) return { status: attempt.status, attempts, winner, ended }
    outcomes.push({ status: decided, signature: signatureOf(attempt.steps) })
    const next = afterAttempt(chain.policy, outcomes)
    if (next === 'again') continue
    const error = notStable(chain.policy, outcomes)
    const errors = error === undefined ? {} : { errors: [error] }
    const last = { attempt: number, ...attempt, ...errors }
    return { status: next, attempts: [...attempts.slice(0, -1), last], winner }
  }
}
