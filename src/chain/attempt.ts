import { setTimeout as sleep } from 'node:timers/promises'
import { type Runtime, timeBetween } from '#core/runtime'
import { failedOutput, type StepOutput, type StepStatus } from '#exec/output-protocol'
import type {
  AttemptResult,
  Call,
  ChainResult,
  Engine,
  FinishedOutcome,
  Outcome,
  Rework,
  Running,
  RunResult,
  StepResult,
} from './engine.ts'
import {
  isChain,
  keyOfExecution,
  maxReworks,
  type PlannedChain,
  type PlannedStep,
  stepLabel,
  unitsOf,
} from './plan-model.ts'
import {
  afterAttempt,
  type AttemptOutcome,
  attemptStatus,
  conditionHolds,
  endsChainAfter,
  stepInCondition,
  notStable,
  type Stop,
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
  /** The status that the policy gives, even while `status` is `waiting` or `interrupted`. */
  policyStatus: StepStatus
  ended: ChainResult['ended']
  winner: string | undefined
}

/** A step that an engine executes now. */
interface RunningStep {
  step: PlannedStep
  /** The number of the step's attempt, from 1; the option `retry` allows more than one. */
  number: number
  handle: Running
}

/** One execution of a chain's steps. */
class Attempt {
  readonly #chain: PlannedChain
  readonly #engine: Engine
  readonly #scope: AttemptScope
  readonly #slots = new Map<PlannedStep, StepResult>()
  readonly #tries = new Map<PlannedStep, StepResult[]>()
  readonly #running = new Map<string, RunningStep>()
  readonly #units: readonly (readonly PlannedStep[])[]
  /** The state before each unit that has begun. A rejection can lead back to it. */
  readonly #states: ChainState[] = []
  readonly #reworks: Rework[] = []
  /** The reason of the last rejection, for the steps up to the unit of the rejected step. */
  #feedback: { text: string; until: number } | undefined
  /** Steps of a group that wait for a user or a report while the others continue. */
  #parked: RunningStep[] = []
  #halt: Halt | undefined
  #state: ChainState

  constructor(chain: PlannedChain, engine: Engine, scope: AttemptScope) {
    this.#chain = chain
    this.#engine = engine
    this.#scope = scope
    this.#state = scope.state
    this.#units = unitsOf(chain.steps, chain.policy)
  }

  async run(): Promise<AttemptEnd> {
    const { policy, steps } = this.#chain
    const late: StepResult[] = []
    for (let at = 0; at < this.#units.length; at++) {
      const unit = this.#units[at] ?? []
      this.#states[at] = this.#state
      const isLate = this.#halt !== undefined
      const open = unit.filter((step) => this.#isDue(step))
      const isParallel = unit.length > 1 || policy.async
      const first = this.#firstOf(open)
      await this.#runUnit([...first], isParallel)
      // If a gate of the group was rejected, only its steps with `always` still run.
      const remainingSteps = this.#halt ? open.filter((step) => !first.includes(step)) : []
      await this.#runUnit(remainingSteps, isParallel)
      if (this.#halt?.kind === 'rework') {
        // The loop continues with the unit to which the rejection leads back.
        at = this.#goBack(this.#halt, at) - 1
        continue
      }
      if (this.#feedback?.until === at) this.#feedback = undefined
      const results = unit.flatMap((step) => this.#slots.get(step) ?? [])
      this.#state = addOutputs(this.#state, previousOutputs(results))
      if (isLate) late.push(...results)
      if (this.#parked.length > 0) this.#halt ??= { kind: 'suspended' }
    }
    for (const step of steps) {
      if (!this.#slots.has(step)) this.#setUnstarted(step, restOf(step, this.#halt))
    }
    const end = conclude(this.#chain, this.#scope, this.#slots, this.#halt, late)
    return this.#reworks.length === 0 ? end : { ...end, reworks: this.#reworks }
  }

  /** The number of the round, from 1. Each rejection that leads back begins another round. */
  get #round(): number {
    return this.#reworks.length + 1
  }

  /** Discards the results since the step to which a rejection leads back. Returns the unit of that step. */
  #goBack({ step, target, reason }: Halt & { kind: 'rework' }, at: number): number {
    const back = this.#unitOf(target)
    const repeatedSteps = this.#units.slice(back, at + 1).flat()
    const steps = repeatedSteps.flatMap((one) => this.#slots.get(one) ?? [])
    for (const one of repeatedSteps) {
      this.#slots.delete(one)
      this.#tries.delete(one)
    }
    this.#reworks.push({ step: step.step, to: target.step, reason, steps })
    this.#state = this.#states[back] ?? this.#scope.state
    this.#feedback = { text: reason ?? `${step.step} was rejected`, until: at }
    this.#halt = undefined
    return back
  }

  #unitOf(step: PlannedStep): number {
    return this.#units.findIndex((unit) => unit.includes(step))
  }

  /** Returns the step from which the chain is repeated after a rejection; undefined if the run ends. */
  #targetOf(step: PlannedStep, outcome: Outcome): PlannedStep | undefined {
    const { rework } = step
    // A rejection in a nested chain concerns the step that was rejected there.
    const isRejected = outcome.kind === 'finished' && outcome.rejected === true && !outcome.chain
    if (rework === undefined || !isRejected || this.#halt) return undefined
    const reworkCount = this.#reworks.filter((one) => one.step === step.step).length
    if (reworkCount >= maxReworks) return undefined
    const earlierSteps = this.#units.slice(0, this.#unitOf(step)).flat()
    return earlierSteps.find((one) => stepLabel(one) === rework && one.excluded !== true)
  }

  /** Whether a step may run now. A step with a false condition is skipped. */
  #isDue(step: PlannedStep): boolean {
    if (step.excluded || !this.#mayStart(step)) return false
    const reason = unmet(step, this.#chain.steps, this.#slots)
    if (reason !== undefined) this.#setUnstarted(step, notExecuted(step, 'skipped', reason))
    return reason === undefined
  }

  #mayStart({ always }: PlannedStep): boolean {
    const kind = this.#halt?.kind
    if (kind === 'cancelled' || kind === 'suspended' || kind === 'rework') return false
    return kind === undefined || always === true
  }

  /** Returns the steps of a group with a closed gate, or all steps: gates come before the other steps. */
  #firstOf(open: PlannedStep[]): PlannedStep[] {
    if (this.#chain.policy.async || open.length < 2) return open
    const gatedSteps = open.filter(
      (step) => step.gate !== undefined && !this.#engine.isOpen({ ...this.#callOf(step), step }),
    )
    return gatedSteps.length > 0 ? gatedSteps : open
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
      const finishedStep = this.#running.get(key)
      if (!finishedStep) throw new Error(`the engine answered for ${key}, which does not run`)
      this.#running.delete(key)
      if (!this.#beginsAgain(finishedStep, outcome))
        await this.#end(finishedStep, outcome, isParallel)
    }
  }

  #callOf(step: PlannedStep, number = 1, previousOutcome?: Outcome & { kind: 'finished' }) {
    const { prefix, number: attempt } = this.#scope
    const { policy } = this.#chain
    const backoff = (step.backoff ?? 0) * 2 ** (number - 2)
    const wait = { ms: Math.min(backoff, longestBackoff) * 1000, since: endOf(previousOutcome) }
    return {
      key: keyOfExecution(prefix, step, { attempt, number, round: this.#round }),
      attempt: step.retry === undefined ? attempt : number,
      state: this.#stateFor(),
      timeoutMs: (step.timeout ?? policy.timeout) * 1000,
      wait: !previousOutcome || backoff === 0 ? undefined : wait,
    }
  }

  /** Without `pass_state`, repeated steps still get the reason of the rejection. */
  #stateFor(): ChainState {
    const state = this.#chain.policy.passState ? this.#state : emptyState
    const feedback = this.#feedback?.text ?? this.#scope.state.feedback
    return feedback === undefined ? state : { ...state, feedback }
  }

  #begin(
    step: PlannedStep,
    number: number,
    previousOutcome?: Outcome & { kind: 'finished' },
  ): void {
    const call = this.#callOf(step, number, previousOutcome)
    // The gate was opened before the first attempt.
    const plannedStep = number === 1 ? step : { ...step, gate: undefined }
    const handle = isChain(plannedStep)
      ? this.#engine.chain({ ...call, step: plannedStep }, (inner) =>
          runChain(plannedStep, inner, call.state, `${call.key}/`),
        )
      : this.#engine.task({ ...call, step: plannedStep })
    this.#running.set(handle.key, { step, number, handle })
  }

  #beginsAgain({ step, number }: RunningStep, outcome: Outcome): boolean {
    if (outcome.kind !== 'finished' || outcome.rejected) return false
    const isOver = outcome.output.status === 'success' || number >= (step.retry ?? 1)
    if (isOver || !this.#mayStart(step)) return false
    const tries = this.#tries.get(step) ?? []
    this.#tries.set(step, [...tries, stepResult(step, outcome)])
    this.#begin(step, number + 1, outcome)
    return true
  }

  async #end(runningStep: RunningStep, outcome: Outcome, isParallel: boolean): Promise<void> {
    const { step } = runningStep
    this.#set(step, stepResult(step, outcome))
    const waits = outcome.kind === 'suspended' && outcome.why !== 'interrupted'
    if (waits) this.#parked.push(runningStep)
    // The other steps of a group continue while one waits for a user or a report.
    const halt = waits && isParallel ? undefined : haltAfter(this.#chain, step, outcome)
    const isFinal = halt?.kind === 'cancelled' || halt?.kind === 'suspended'
    if (!halt || (this.#halt && !isFinal)) return
    const target = this.#targetOf(step, outcome)
    const reason = outcome.kind === 'finished' ? outcome.reason : undefined
    this.#halt = target ? { kind: 'rework', step, target, reason } : halt
    if (halt.kind === 'won') {
      const { step: winner } = halt
      const key = `${this.#scope.prefix}${this.#scope.number}:winner`
      this.#halt = { kind: 'won', step: await this.#engine.record(key, () => winner) }
    }
    if (halt.kind !== 'suspended' && halt.kind !== 'skipped') await this.#cancelRest(this.#halt)
  }

  /** Cancels the other started steps, also waiting ones. After a stop, steps with `always` continue. */
  async #cancelRest({ kind }: Halt): Promise<void> {
    const endsAll = kind === 'cancelled' || kind === 'rework'
    const startedSteps = [...this.#running.values(), ...this.#parked].filter(
      ({ step }) => step.always !== true || endsAll,
    )
    this.#parked = this.#parked.filter((item) => !startedSteps.includes(item))
    for (const { handle } of startedSteps) this.#running.delete(handle.key)
    if (startedSteps.length === 0) return
    const cancellations = await this.#engine.cancel(startedSteps.map(({ handle }) => handle))
    startedSteps.forEach(({ step }, index) => {
      this.#set(step, cancelledStep(step, cancellations[index] ?? {}, reasonOf(this.#halt)))
    })
  }

  #set(step: PlannedStep, result: StepResult): void {
    const { allowFailure } = step
    this.#setUnstarted(step, { ...result, allowFailure, tries: this.#tries.get(step) })
  }

  #setUnstarted(step: PlannedStep, result: StepResult): void {
    this.#slots.set(step, this.#round === 1 ? result : { ...result, round: this.#round })
  }
}

/** Maximum of a backoff in seconds; it doubles before each further attempt. */
const longestBackoff = 86_400

function endOf(outcome: Pick<FinishedOutcome, 'startedAt' | 'durationMs'> | undefined): number {
  return outcome ? outcome.startedAt + (outcome.durationMs ?? 0) : 0
}

/** Returns why the condition of a step is false; undefined if the step may run. */
function unmet(
  { when }: PlannedStep,
  steps: readonly PlannedStep[],
  slots: ReadonlyMap<PlannedStep, StepResult>,
): string | undefined {
  if (when === undefined) return undefined
  const conditionStep = stepInCondition(when)
  const about = steps.find((step) => stepLabel(step) === conditionStep)
  const status = (about && slots.get(about)?.status) ?? 'not_run'
  return conditionHolds(when, status) ? undefined : `when=${when}: ${conditionStep} was ${status}`
}

/** In a sequence, a waiting step blocks the next one; in a group it takes no place. */
function placesTaken(
  isParallel: boolean,
  running: ReadonlyMap<string, { handle: Running }>,
): number {
  if (!isParallel) return running.size
  return [...running.values()].filter(({ handle }) => handle.waited !== true).length
}

/** Returns why a chain ends after an outcome of a step; undefined if it continues. */
function haltAfter(chain: PlannedChain, step: PlannedStep, outcome: Outcome): Halt | undefined {
  const { policy } = chain
  switch (outcome.kind) {
    case 'finished': {
      const { status } = outcome.output
      const isRejected = outcome.rejected === true
      const end = endsChainAfter(policy, step, { status, isRejected })
      if (end === undefined) return undefined
      if (end === 'rejected' || end === 'won') return { kind: end, step: step.step }
      if (end === 'skipped') return { kind: end, step: step.step, status }
      return { kind: 'stopped', step: step.step, stop: end, status }
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
  // After an early success only the steps that ran later can still fail.
  const countedResults = stop === 'succeeded' ? late : results
  const policyStatus = attemptStatus(policy, statusesOf(countedResults), stop)
  const waits = results.some((result) => result.status === 'waiting')
  const ended = endedBy(halt, waits)
  const suspendedStatus = waits ? 'waiting' : 'interrupted'
  return {
    status:
      ended === 'suspended' ? suspendedStatus : ended === 'cancelled' ? 'cancelled' : policyStatus,
    steps: results,
    chain_state: addOutputs(scope.state, previousOutputs(results)),
    policyStatus,
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

/** Why a chain starts no further steps. */
type Halt =
  | { kind: 'stopped'; step: string; stop: Stop; status: StepStatus }
  | { kind: 'won'; step: string }
  | { kind: 'skipped'; step: string; status: StepStatus }
  | { kind: 'rejected'; step: string }
  /** A rejection leads back to the step `target`. */
  | { kind: 'rework'; step: PlannedStep; target: PlannedStep; reason: string | undefined }
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
    case 'rework':
      return `${halt.step.step} was rejected`
    case 'cancelled':
      return 'the chain was ended'
    case 'suspended':
    case undefined:
      return 'not reached yet'
  }
}

export interface TimeLimit {
  seconds: number
  /** The limit comes from the setting `run.timeout`, because the chain has none. */
  isDefault?: boolean
  over(): boolean
  clear(): void
}

/** The longest delay of a timer. Longer limits are never reached in practice. */
const maxTimerMs = 2_147_483_647

/** Calls `end` at the time limit of a step, which began `spent` milliseconds ago. */
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

/** Waits until a further attempt may begin, or until an abort. */
export async function untilDue(
  { wait }: Pick<Call, 'wait'>,
  clock: Pick<Runtime, 'now'>,
  signal: AbortSignal,
): Promise<void> {
  if (!wait) return
  const remainingMs = Math.max(0, wait.since + wait.ms - clock.now())
  await sleep(remainingMs, undefined, { signal }).catch(() => undefined)
}

export const noLimit: TimeLimit = { seconds: 0, over: () => false, clear: () => undefined }

export function overdue(
  limit: Pick<TimeLimit, 'seconds' | 'isDefault'>,
  inVerification = false,
): StepOutput {
  const phase = inVerification ? ' while its check ran' : ''
  const setting = limit.isDefault ? ' (the setting run.timeout)' : ''
  const message = `it took longer than ${limit.seconds} s${setting} and was stopped${phase}`
  return failedOutput('timeout', message)
}

/** Returns the result of a run that a process executes now; `now` is in milliseconds since the epoch. */
export function whileRunning(journal: RunJournal, result: RunResult, now: number): ShownRun {
  const open = new Set(
    walkResult(result)
      .filter(({ key, step }) => step.status === 'cancelled' && !journal.done.has(key))
      .map(({ step }) => step),
  )
  const last = result.attempts
    .slice(-1)
    .map((attempt) => ({ ...attempt, status: 'running' as const }))
  const shownAttempts = changeSteps(last, (step) => {
    if (!open.has(step)) return step
    const { reason: _reason, ...facts } = step
    if (!hasBegun(step)) return { ...facts, status: 'not_run', reason: 'has not started' }
    const { startedAt } = step
    const time = startedAt === null ? 0 : timeBetween(Date.parse(startedAt), now)
    const durationMs = time === undefined ? null : Math.round(time)
    return { ...facts, status: 'running', durationMs }
  })
  return {
    ...result,
    status: 'running',
    attempts: [...result.attempts.slice(0, -1), ...shownAttempts],
  }
}

function hasBegun({ startedAt, steps = [] }: StepResult): boolean {
  return startedAt !== null || steps.some(hasBegun)
}

/**
 * Runs a planned chain on an engine. Only this file knows the semantics of a chain, and it decides on
 * values only. `state` is the state that the parent passes to a nested chain; the keys of its steps
 * begin with `prefix`.
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
    const { ended, winner, policyStatus, ...attempt } = await new Attempt(
      chain,
      engine,
      scope,
    ).run()
    attempts.push({ attempt: number, ...attempt })
    if (ended) return { status: attempt.status, attempts, winner, ended }
    outcomes.push({ status: policyStatus, signature: signatureOf(attempt.steps) })
    const next = afterAttempt(chain.policy, outcomes)
    if (next === 'again') continue
    const error = notStable(chain.policy, outcomes)
    const errors = error ? { errors: [error] } : {}
    const last = { attempt: number, ...attempt, ...errors }
    return { status: next, attempts: [...attempts.slice(0, -1), last], winner }
  }
}
