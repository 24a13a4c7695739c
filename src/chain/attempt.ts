import { setTimeout as sleep } from 'node:timers/promises'
import type { Runtime } from '#core/runtime'
import { failedOutput, type StepOutput, type StepStatus } from '#exec/output-protocol'
import type {
  AttemptResult,
  Call,
  ChainResult,
  Engine,
  FinishedOutcome,
  Outcome,
  Running,
  RunResult,
  StepResult,
} from './engine.ts'
import { conditionOf } from '#skill/declarations'
import { isChain, type PlannedChain, type PlannedStep, stepLabel, unitsOf } from './plan-model.ts'
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
  addOutputs,
  cancelledStep,
  changeSteps,
  type ChainState,
  emptyState,
  isFinal,
  notExecuted,
  previousOutputs,
  type ShownRun,
  signatureOf,
  stepResult,
  walkResult,
} from './step-result.ts'
import type { RunJournal } from './run-journal.ts'

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

interface Going {
  step: PlannedStep
  /** Of the attempts that the option `retry` allows the step; from 1. */
  number: number
  handle: Running
}

class Attempt {
  readonly #chain: PlannedChain
  readonly #engine: Engine
  readonly #scope: AttemptScope
  readonly #slots = new Map<PlannedStep, StepResult>()
  readonly #tries = new Map<PlannedStep, StepResult[]>()
  readonly #running = new Map<string, Going>()
  #parked: Going[] = []
  #halt: Halt | undefined
  #state: ChainState

  constructor(chain: PlannedChain, engine: Engine, scope: AttemptScope) {
    this.#chain = chain
    this.#engine = engine
    this.#scope = scope
    this.#state = scope.state
  }

  async run(): Promise<AttemptEnd> {
    const { policy, steps } = this.#chain
    const late: StepResult[] = []
    for (const unit of unitsOf(steps, policy)) {
      const isLate = this.#halt !== undefined
      const open = unit.filter((step) => this.#isDue(step))
      await this.#runUnit(this.#firstOf(open), unit.length > 1 || policy.async)
      const results = unit.flatMap((step) => this.#slots.get(step) ?? [])
      this.#state = addOutputs(this.#state, previousOutputs(results))
      if (isLate) late.push(...results)
      if (this.#parked.length > 0) this.#halt ??= { kind: 'suspended' }
    }
    for (const step of steps) {
      if (!this.#slots.has(step)) this.#slots.set(step, restOf(step, this.#halt))
    }
    return conclude(this.#chain, this.#scope, this.#slots, this.#halt, late)
  }

  /** Whether a step may run now; one whose condition is false is skipped. */
  #isDue(step: PlannedStep): boolean {
    if (step.excluded || !this.#mayStart(step)) return false
    const reason = unmet(step, this.#chain.steps, this.#slots)
    if (reason !== undefined) this.#slots.set(step, notExecuted(step, 'skipped', reason))
    return reason === undefined
  }

  #mayStart({ always }: PlannedStep): boolean {
    const kind = this.#halt?.kind
    return kind === undefined || (always === true && kind !== 'cancelled' && kind !== 'suspended')
  }

  /** The gates of a group come before all of its steps. */
  #firstOf(open: PlannedStep[]): PlannedStep[] {
    if (this.#chain.policy.async || open.length < 2) return open
    const closed = open.filter(
      (step) => step.gate === true && !this.#engine.isOpen(this.#callOf(step)),
    )
    return closed.length > 0 ? closed : open
  }

  async #runUnit(queue: PlannedStep[], isParallel: boolean): Promise<void> {
    const limit = isParallel ? this.#chain.policy.parallelLimit : 1
    for (;;) {
      while (queue.length > 0 && placesTaken(isParallel, this.#running) < limit) {
        const step = queue.shift()
        if (step && this.#mayStart(step)) this.#begin(step, 1)
      }
      if (this.#running.size === 0) return
      const handles = [...this.#running.values()].map(({ handle }) => handle)
      const { key, outcome } = await this.#engine.firstOf(handles)
      const ended = this.#running.get(key)
      if (!ended) throw new Error(`the engine answered for ${key}, which does not run`)
      this.#running.delete(key)
      if (!this.#beginsAgain(ended, outcome)) await this.#end(ended, outcome, isParallel)
    }
  }

  #callOf(step: PlannedStep, number = 1, before?: Outcome & { kind: 'finished' }) {
    const { prefix, number: attempt } = this.#scope
    const { policy } = this.#chain
    const again = number === 1 ? '' : `.${number}`
    const backoff = (step.backoff ?? 0) * 2 ** (number - 2)
    const wait = { ms: Math.min(backoff, longestBackoff) * 1000, since: endOf(before) }
    return {
      key: `${prefix}${attempt}${again}:${stepLabel(step)}`,
      attempt: step.retry === undefined ? attempt : number,
      state: policy.passState ? this.#state : emptyState,
      timeoutMs: (step.timeout ?? policy.timeout) * 1000,
      wait: !before || backoff === 0 ? undefined : wait,
    }
  }

  #begin(step: PlannedStep, number: number, before?: Outcome & { kind: 'finished' }): void {
    const call = this.#callOf(step, number, before)
    // It was approved before the first of its attempts.
    const planned = number === 1 ? step : { ...step, gate: undefined }
    const handle = isChain(planned)
      ? this.#engine.chain({ ...call, step: planned }, (inner) =>
          runChain(planned, inner, call.state, `${call.key}/`),
        )
      : this.#engine.task({ ...call, step: planned })
    this.#running.set(handle.key, { step, number, handle })
  }

  #beginsAgain({ step, number }: Going, outcome: Outcome): boolean {
    if (outcome.kind !== 'finished' || outcome.rejected) return false
    const isOver = outcome.output.status === 'success' || number >= (step.retry ?? 1)
    if (isOver || !this.#mayStart(step)) return false
    const tries = this.#tries.get(step) ?? []
    this.#tries.set(step, [...tries, stepResult(step, outcome)])
    this.#begin(step, number + 1, outcome)
    return true
  }

  async #end(ended: Going, outcome: Outcome, isParallel: boolean): Promise<void> {
    const { step } = ended
    this.#set(step, stepResult(step, outcome))
    const waits = outcome.kind === 'suspended' && outcome.why !== 'interrupted'
    if (waits) this.#parked.push(ended)
    // The rest of a group continues while one of it waits for a user or a report.
    const found = waits && isParallel ? undefined : haltAfter(this.#chain, step, outcome)
    const isFinal = found?.kind === 'cancelled' || found?.kind === 'suspended'
    if (!found || (this.#halt && !isFinal)) return
    this.#halt = found
    if (found.kind === 'won') {
      const { step: winner } = found
      const key = `${this.#scope.prefix}${this.#scope.number}:winner`
      this.#halt = { kind: 'won', step: await this.#engine.record(key, () => winner) }
    }
    if (found.kind !== 'suspended' && found.kind !== 'skipped') await this.#cancelRest(found)
  }

  /** What waits for a user or a report is given up; what runs always continues after a stop. */
  async #cancelRest(halt: Halt): Promise<void> {
    const started = [...this.#running.values(), ...this.#parked].filter(
      ({ step }) => step.always !== true || halt.kind === 'cancelled',
    )
    this.#parked = this.#parked.filter((item) => !started.includes(item))
    for (const { handle } of started) this.#running.delete(handle.key)
    if (started.length === 0) return
    const left = await this.#engine.cancel(started.map(({ handle }) => handle))
    started.forEach(({ step }, index) => {
      this.#set(step, cancelledStep(step, left[index] ?? {}, reasonOf(this.#halt)))
    })
  }

  #set(step: PlannedStep, result: StepResult): void {
    const { allowFailure } = step
    this.#slots.set(step, { ...result, allowFailure, tries: this.#tries.get(step) })
  }
}

/** Seconds; a backoff is doubled before each further attempt. */
const longestBackoff = 86_400

function endOf(outcome: Pick<FinishedOutcome, 'startedAt' | 'durationMs'> | undefined): number {
  return outcome ? outcome.startedAt + outcome.durationMs : 0
}

function unmet(
  { when }: PlannedStep,
  steps: readonly PlannedStep[],
  slots: ReadonlyMap<PlannedStep, StepResult>,
): string | undefined {
  if (when === undefined) return undefined
  const { step: named, state, not } = conditionOf(when)
  const about = steps.find((step) => stepLabel(step) === named)
  const status = (about && slots.get(about)?.status) ?? 'not_run'
  const states: Partial<Record<string, string>> = { critical: 'failure', not_run: 'skipped' }
  const found = states[status] ?? status
  return (found === state) === not ? `when=${when}: ${named} was ${status}` : undefined
}

/** In a sequence a waiting step blocks the next one. */
function placesTaken(
  isParallel: boolean,
  running: ReadonlyMap<string, { handle: Running }>,
): number {
  if (!isParallel) return running.size
  return [...running.values()].filter(({ handle }) => handle.waited !== true).length
}

/** Stop conditions are looked at after every result, and before `continue_on_success`. */
function haltAfter(chain: PlannedChain, step: PlannedStep, outcome: Outcome): Halt | undefined {
  const { policy } = chain
  switch (outcome.kind) {
    case 'finished': {
      const { status } = outcome.output
      if (outcome.rejected) return { kind: 'rejected', step: step.step }
      if (status !== 'success' && step.allowFailure) return undefined
      const stop = stopAfter(policy, status)
      if (stop && policy.raceMode) return { kind: 'won', step: step.step }
      if (stop) return { kind: 'stopped', step: step.step, stop, status }
      return skipsAfter(policy, status) ? { kind: 'skipped', step: step.step, status } : undefined
    }
    case 'cancelled':
      return { kind: 'cancelled' }
    case 'suspended':
      return { kind: 'suspended' }
  }
}

function conclude(
  { steps, policy }: PlannedChain,
  scope: AttemptScope,
  slots: ReadonlyMap<PlannedStep, StepResult>,
  halt: Halt | undefined,
  late: readonly StepResult[],
): AttemptEnd {
  const results = steps.flatMap((step) => slots.get(step) ?? [])
  const winner = halt?.kind === 'won' ? halt.step : undefined
  const early = winner === undefined ? undefined : 'succeeded'
  const stop = halt?.kind === 'stopped' ? halt.stop : early
  // After an early success only what ran all the same can still fail.
  const counted = stop === 'succeeded' ? late : results
  const decided = attemptStatus(policy, statusesOf(counted), stop)
  const waits = results.some((result) => result.status === 'waiting')
  const ended = endedBy(halt, waits)
  const stands = waits ? 'waiting' : 'interrupted'
  return {
    status: ended === 'suspended' ? stands : ended === 'cancelled' ? 'cancelled' : decided,
    steps: results,
    chain_state: addOutputs(scope.state, previousOutputs(results)),
    decided,
    ended,
    winner,
  }
}

function statusesOf(results: readonly StepResult[]): StepStatus[] {
  return results.flatMap(({ status, allowFailure }) =>
    isFinal(status) && !allowFailure ? [status] : [],
  )
}

function endedBy(halt: Halt | undefined, waits: boolean): ChainResult['ended'] {
  if (halt?.kind === 'rejected' || halt?.kind === 'cancelled' || halt?.kind === 'suspended') {
    return halt.kind
  }
  return waits ? 'suspended' : undefined
}

type Halt =
  | { kind: 'stopped'; step: string; stop: Stop; status: StepStatus }
  | { kind: 'won'; step: string }
  | { kind: 'skipped'; step: string; status: StepStatus }
  | { kind: 'rejected'; step: string }
  /** Ended by the chain above. */
  | { kind: 'cancelled' }
  | { kind: 'suspended' }

function restOf(step: PlannedStep, halt: Halt | undefined): StepResult {
  if (step.excluded) return notExecuted(step, 'not_run', 'left out of this run')
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

/** Longest delay a timer of the platform takes; longer limits never end in practice. */
const maxTimerMs = 2_147_483_647

/** Calls `end` when the time of a step is over, of which `spent` milliseconds have passed. */
export function timeLimit(
  { timeoutMs }: Pick<Call, 'timeoutMs'>,
  end: () => void,
  { defaultMs = 0, spent = 0 } = {},
): TimeLimit {
  const ms = Math.min(timeoutMs || defaultMs, maxTimerMs)
  if (ms === 0) return noLimit
  let over = false
  const finish = (): void => {
    over = true
    end()
  }
  if (spent >= ms) finish()
  const timer = over ? undefined : setTimeout(finish, ms - spent)
  const isDefault = timeoutMs === 0
  return { seconds: ms / 1000, isDefault, over: () => over, clear: () => clearTimeout(timer) }
}

/** Waits until a further attempt may begin, or an abort. */
export async function untilDue(
  { wait }: Pick<Call, 'wait'>,
  clock: Pick<Runtime, 'now'>,
  signal: AbortSignal,
): Promise<void> {
  if (!wait) return
  const left = Math.max(0, wait.since + wait.ms - clock.now())
  await sleep(left, undefined, { signal }).catch(() => undefined)
}

export const noLimit: TimeLimit = { seconds: 0, over: () => false, clear: () => undefined }

export function overdue(
  limit: Pick<TimeLimit, 'seconds' | 'isDefault'>,
  inVerification = false,
): StepOutput {
  const where = inVerification ? ' while scripts/verify ran' : ''
  const setting = limit.isDefault ? ' (the setting run.timeout)' : ''
  const message = `it took longer than ${limit.seconds} s${setting} and was stopped${where}`
  return failedOutput('timeout', message)
}

/** The result of a run that a process executes now; `now` is in milliseconds since the epoch. */
export function whileRunning(journal: RunJournal, result: RunResult, now: number): ShownRun {
  const open = new Set(
    walkResult(result)
      .filter(({ key, step }) => step.status === 'cancelled' && !journal.done.has(key))
      .map(({ step }) => step),
  )
  const last = result.attempts
    .slice(-1)
    .map((attempt) => ({ ...attempt, status: 'running' as const }))
  const shown = changeSteps(last, (step) => {
    if (!open.has(step)) return step
    const { reason: _reason, ...rest } = step
    if (!hasBegun(step)) return { ...rest, status: 'not_run', reason: 'has not started' }
    const { startedAt } = step
    const durationMs = startedAt === null ? 0 : Math.max(0, Math.round(now - Date.parse(startedAt)))
    return { ...rest, status: 'running', durationMs }
  })
  return { ...result, status: 'running', attempts: [...result.attempts.slice(0, -1), ...shown] }
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
    const scope = { number, prefix, state }
    const { ended, winner, decided, ...attempt } = await new Attempt(chain, engine, scope).run()
    attempts.push({ attempt: number, ...attempt })
    if (ended) return { status: attempt.status, attempts, winner, ended }
    outcomes.push({ status: decided, signature: signatureOf(attempt.steps) })
    const next = afterAttempt(chain.policy, outcomes)
    if (next === 'again') continue
    const error = notStable(chain.policy, outcomes)
    const errors = error ? { errors: [error] } : {}
    const last = { attempt: number, ...attempt, ...errors }
    return { status: next, attempts: [...attempts.slice(0, -1), last], winner }
  }
}
