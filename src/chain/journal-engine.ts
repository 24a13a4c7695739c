import { type Runtime, timeBetween } from '#core/runtime'
import type { ReportedError } from '#exec/output-protocol'
import { noLimit, overdue, timeLimit, type TimeLimit, untilDue } from './attempt.ts'
import type {
  CancelledStep,
  ClockShift,
  ChainCall,
  ChainResult,
  Ended,
  Engine,
  EventListener,
  FinishedOutcome,
  Outcome,
  OutputAnswer,
  Running,
  TaskCall,
} from './engine.ts'
import {
  gateOf,
  type GateRecord,
  isAbout,
  isApproved,
  passGate,
  recordedOutcome,
  type RecordWriter,
  type RunJournal,
} from './run-journal.ts'
import { chainOutput, chainWaitsFor, finishedEvent } from './step-result.ts'
import type { StepRunner } from './step-runner.ts'

/**
 * Creates the engine for one machine, which records to an append-only journal. A step with a recorded
 * result is never executed again; recorded results are replayed in their order. A step starts when
 * something waits for it.
 */
export function createJournalEngine(
  options: JournalEngineOptions,
): Engine & { idle(): Promise<void> } {
  const failureController = new AbortController()
  const signals = options.signal ? [options.signal] : []
  const core: EngineCore = {
    ...options,
    interruptSignal: AbortSignal.any([failureController.signal, ...signals]),
    executions: new Set(),
    failure: undefined,
    order: options.journal.length,
    begunAt: beginningOf(options),
    fail(error) {
      core.failure ??= { error }
      failureController.abort()
    },
  }
  return {
    ...engineFor(core, core.interruptSignal),
    async idle() {
      await Promise.allSettled(core.executions)
    },
  }
}

function engineFor(core: EngineCore, scope: AbortSignal): Engine {
  const entries = new Map<string, Entry>()

  function announce(announcement: Announcement): Running {
    const { key } = announcement.call
    const doneRecord = core.journal.done.get(key)
    const controller = new AbortController()
    entries.set(key, {
      ...announcement,
      key,
      signal: AbortSignal.any([scope, controller.signal]),
      controller,
      outcome: doneRecord ? recordedOutcome(doneRecord) : undefined,
      order: doneRecord?.order ?? Number.POSITIVE_INFINITY,
    })
    return { key, waited: hasWaited(core.journal, key) }
  }

  const find = (running: readonly Running[]): Entry[] =>
    running.flatMap((handle) => entries.get(handle.key) ?? [])

  return {
    task: (call) => announce({ kind: 'task', call }),
    chain: (call, body) => announce({ kind: 'chain', call, body }),
    async firstOf(running): Promise<Ended> {
      const list = find(running)
      for (;;) {
        if (core.failure) throw core.failure.error
        const ready = earliest(list)
        if (ready) return ready
        for (const entry of list) launch(core, entry)
        const pending = endings(list.filter((entry) => entry.outcome === undefined))
        if (pending.length > 0) await Promise.race(pending)
      }
    },
    isOpen(call) {
      const { plan, approvals, done } = core.journal
      const gate = gateOf(call, plan.digest)
      const outcome = done.get(call.key)?.outcome
      const { gate: requiredGate } = call.step
      const isPlain = requiredGate === undefined || requiredGate === true
      if (core.yesGates === true && isPlain) return true
      return isApproved(gate, requiredGate, approvals.get(call.key), outcome)
    },
    async cancel(running) {
      const list = find(running)
      for (const entry of list) entry.controller.abort()
      await Promise.all(endings(list))
      for (const entry of list) endWaiting(core, entry)
      await Promise.all(endings(list))
      if (core.failure) throw core.failure.error
      return list.map((entry) => recordCancelled(core, entry))
    },
    async record(key, decide) {
      const value = decide()
      if (core.journal.decided.get(key) === value) return value
      core.writer?.append({ type: 'decided', key, value })
      core.journal.decided.set(key, value)
      return value
    },
  }
}

/** Whether the step, or one below it, has waited for a user or a report, in any process. */
function hasWaited({ handed, gates }: RunJournal, key: string): boolean {
  return [...handed.keys(), ...gates.keys()].some(
    (waiting) => waiting === key || waiting.startsWith(`${key}/`),
  )
}

function endings(list: readonly Entry[]): Promise<void>[] {
  return list.flatMap((entry) => (entry.ending ? [entry.ending] : []))
}

/** Returns the entry that finished first according to the journal, or the first entry if none can finish. */
function earliest(list: readonly Entry[]): Ended | undefined {
  const finishedEntries = list.filter(({ outcome }) => outcome?.kind === 'finished')
  const canFinish = list.some(({ outcome }) => outcome === undefined)
  const [first = canFinish ? undefined : list[0]] = finishedEntries.toSorted(
    (a, b) => a.order - b.order,
  )
  return first?.outcome ? { key: first.key, outcome: first.outcome } : undefined
}

function recordCancelled(core: EngineCore, entry: Entry): CancelledStep {
  const { outcome, key } = entry
  if (!outcome || outcome.kind === 'suspended') return {}
  const { startedAt, durationMs, clockShiftMs, chain } = outcome
  if (outcome.kind === 'cancelled' && startedAt !== undefined && !core.journal.done.has(key)) {
    core.writer?.append({ type: 'done', key, outcome })
  }
  return { startedAt, durationMs, clockShiftMs, chain }
}

function launch(core: EngineCore, entry: Entry): void {
  if (entry.ending) return
  if (entry.outcome) {
    entry.ending = Promise.resolve()
    return
  }
  const ending = execute(core, entry)
    .then((outcome) => settle(core, entry, outcome))
    .catch((error: unknown) => {
      core.fail(error)
      entry.outcome = interruption
    })
    .finally(() => core.executions.delete(ending))
  core.executions.add(ending)
  entry.ending = ending
}

const interruption = { kind: 'suspended', why: 'interrupted' } as const

/** Ends a step that was cancelled while it waited for a user or a report. */
function endWaiting(core: EngineCore, entry: Entry): void {
  if (entry.outcome && entry.outcome.kind !== 'suspended') return
  entry.outcome = undefined
  entry.ending = undefined
  launch(core, entry)
}

async function execute(core: EngineCore, entry: Entry): Promise<Outcome> {
  const earlyStop = stoppedByParent(core, entry)
  if (earlyStop) return await endedBefore(core, entry, earlyStop)
  const gate = entry.call.step.gate ? atGate(core, entry) : undefined
  if (gate) return gate
  if (entry.kind === 'task' && !core.runner) {
    core.onDue?.(entry.call)
    return displayedOutcome(core, entry)
  }
  const isFirst = core.runner && !core.journal.started.has(entry.key)
  // Always awaited, so that concurrent steps start in their order.
  await (isFirst ? untilDue(entry.call, core.clock, entry.signal) : undefined)
  const lateStop = stoppedByParent(core, entry)
  if (lateStop) return lateStop
  const startedAt = begin(core, entry)
  const limit = core.runner ? limitOf(core, entry, startedAt) : noLimit
  try {
    return entry.kind === 'task'
      ? await executeTask(core, entry, startedAt, limit)
      : await executeChain(core, entry, startedAt, limit)
  } finally {
    limit.clear()
  }
}

function limitOf(core: EngineCore, { kind, call, controller }: Entry, startedAt: number) {
  const isChain = kind === 'chain'
  return timeLimit(call, () => controller.abort(), {
    defaultMs: isChain ? 0 : (core.defaultTimeoutMs ?? 0),
    spent: isChain && core.countsAbsence ? (timeSince(core, startedAt) ?? 0) : 0,
  })
}

function atGate(core: EngineCore, { key, call }: Entry): Outcome | undefined {
  const { journal, writer } = core
  const gate = gateOf(call, journal.plan.digest)
  const now = core.clock.now()
  const at = new Date(now).toISOString()
  const outcome = passGate(gate, call.step, journal.approvals.get(key), now)
  if (outcome?.kind !== 'suspended') return outcome
  // The caller's approval in advance is only for plain gates.
  if (core.yesGates && call.step.gate === true) {
    writer?.append({ type: 'approval', ...gate, approved: true, by: 'caller', at })
    return undefined
  }
  if (!isAbout(gate, journal.gates.get(key))) {
    const { attempt, step } = call
    const record: GateRecord = { type: 'gate', ...gate, step: step.step, attempt, at }
    writer?.append(record)
    journal.gates.set(key, record)
  }
  return outcome
}

/** Returns the outcome of a step that is not continued, with its start in an earlier process. */
async function endedBefore(
  core: EngineCore,
  entry: Entry,
  stopOutcome: StopOutcome,
): Promise<Outcome> {
  const startedAt = beganAt(core, entry.key)
  if (stopOutcome.kind === 'suspended' || startedAt === undefined) return stopOutcome
  if (entry.kind === 'chain') {
    entry.controller.abort()
    return await executeChain(core, entry, startedAt, noLimit)
  }
  const isHanded = core.journal.handed.has(entry.key)
  const durationMs = isHanded ? timeSince(core, startedAt) : undefined
  return { ...stopOutcome, startedAt, durationMs, clockShiftMs: recordedShift(core, entry.key) }
}

async function executeTask(
  core: EngineCore,
  entry: Entry & { kind: 'task' },
  startedAt: number,
  limit: TimeLimit,
): Promise<Outcome> {
  const { call, key, signal } = entry
  const startMs = core.clock.elapsed()
  const { clockShiftMs } = entry
  const answer = await core.runner?.run(call, {
    signal,
    onOutput: (chunk, stream) => {
      const text = core.onEvent ? chunk.toString('utf8') : ''
      core.onEvent?.({ type: 'step-output', key, step: call.step.step, stream, text })
    },
  })
  const durationMs = Math.round(core.clock.elapsed() - startMs)
  const stopOutcome = limit.over() ? undefined : stoppedByParent(core, entry)
  if (!answer) return interruption
  if (stopOutcome) return { ...stopOutcome, startedAt, durationMs, clockShiftMs }
  if (answer.kind === 'pending') return handOut(core, entry, answer.handedAt)
  const { workedMs = 0 } = answer
  const total = workedMs === null ? undefined : durationMs + workedMs
  return finishedOutcome(answer, limit, { startedAt, durationMs: total, clockShiftMs })
}

async function executeChain(
  core: EngineCore,
  entry: Entry & { kind: 'chain' },
  startedAt: number,
  limit: TimeLimit,
): Promise<Outcome> {
  const { call, signal } = entry
  // The wall clock can be set, so it is used only for steps that began in another process.
  const startMs = entry.beganHere ? core.clock.elapsed() : undefined
  const chain = await entry.body(engineFor(core, signal))
  const factsSoFar = () => {
    const elapsedMs = startMs === undefined ? undefined : Math.round(core.clock.elapsed() - startMs)
    const { clockShiftMs } = entry
    return { startedAt, durationMs: elapsedMs ?? timeOfChain(core, startedAt), clockShiftMs, chain }
  }
  const output = { kind: 'output', output: chainOutput(chain) } as const
  if (core.interruptSignal.aborted) return { ...interruption, ...factsSoFar() }
  if (limit.over()) return finishedOutcome(output, limit, factsSoFar())
  if (chain.ended === 'suspended') {
    const why = chain.status === 'waiting' ? chainWaitsFor(chain) : 'interrupted'
    return { kind: 'suspended', why, overdue: lateness(core, call, startedAt), ...factsSoFar() }
  }
  if (chain.ended === 'cancelled' || signal.aborted) return { kind: 'cancelled', ...factsSoFar() }
  if (chain.ended === 'rejected')
    return { ...finishedOutcome(output, limit, factsSoFar()), rejected: true }
  if (call.step.verify !== undefined) {
    // Without a runner nothing verifies the chain, so it has not ended.
    if (!core.runner) return { ...interruption, ...factsSoFar() }
    core.writer?.append()
  }
  const answer = await core.runner?.finishChain(call, output.output, { signal })
  const stopOutcome = limit.over() ? undefined : stoppedByParent(core, entry)
  if (stopOutcome) return { ...stopOutcome, ...factsSoFar() }
  return finishedOutcome(answer ?? output, limit, factsSoFar())
}

function finishedOutcome(
  { output, log, promptDigest, sandbox, hint, notUtf8, ...answer }: OutputAnswer,
  limit: TimeLimit,
  stepFacts: CancelledStep & { startedAt: number },
): FinishedOutcome {
  const durationMs = stepFacts.durationMs ?? null
  const facts = { log, promptDigest, sandbox, hint, notUtf8, ...stepFacts, durationMs }
  if (!limit.over()) return { kind: 'finished', output, shown: answer.shown, ...facts }
  return { kind: 'finished', output: overdue(limit, answer.endedInVerification), ...facts }
}

/** Records a final outcome before it is returned. */
function settle(core: EngineCore, entry: Entry, outcome: Outcome): void {
  const { key } = entry
  entry.outcome = outcome
  const at = new Date(core.clock.now()).toISOString()
  const announce = (): void => announceEnd(core, entry, outcome, at)
  if (outcome.kind !== 'finished' || !core.writer) return announce()
  entry.order = core.order++
  const record = { type: 'done', key, outcome, tree: treeAfter(core, entry, outcome) } as const
  core.journal.done.set(key, { ...record, order: entry.order })
  const callbacks = { written: announce, failed: (error: unknown) => core.fail(error) }
  core.writer.defer(record, callbacks)
}

/** The files on which a step, or the check of a nested chain, succeeded. */
function treeAfter(
  { runner, readTree }: EngineCore,
  { kind, call }: Entry,
  { output }: FinishedOutcome,
): string | undefined {
  const isExecuted = kind === 'task' || call.step.verify !== undefined
  return runner && isExecuted && output.status === 'success' ? readTree?.() : undefined
}

function announceEnd(core: EngineCore, entry: Entry, outcome: Outcome, at: string): void {
  const { key, call, started } = entry
  const { step } = call
  if (outcome.kind === 'suspended' && outcome.why !== 'interrupted') {
    core.onEvent?.({ type: 'step-suspended', key, step: step.step, why: outcome.why, at })
  } else if (outcome.kind === 'finished' || started) {
    core.onEvent?.(finishedEvent(key, step, outcome, at))
  }
}

type StopOutcome = Extract<Outcome, { kind: 'cancelled' | 'suspended' }>

/** Returns the outcome of a step whose run was interrupted or whose chain was ended. */
function stoppedByParent(core: EngineCore, { signal }: Entry): StopOutcome | undefined {
  if (core.interruptSignal.aborted) return interruption
  return signal.aborted ? { kind: 'cancelled' } : undefined
}

/** Returns when a step was handed out or began, also in an earlier process. */
function beganAt({ journal }: EngineCore, key: string): number | undefined {
  const at = journal.handed.get(key) ?? journal.started.get(key)
  return at === undefined ? undefined : Date.parse(at)
}

/** Returns the outcome of a step without a result, in a run that is only displayed. */
function displayedOutcome(core: EngineCore, { key, call }: Entry): Outcome {
  const { handed, resumedAt } = core.journal
  const startedAt = beganAt(core, key)
  const clockShiftMs = recordedShift(core, key)
  if (startedAt !== undefined && handed.has(key)) {
    const late = lateness(core, call, startedAt)
    return { kind: 'suspended', why: 'report', startedAt, overdue: late, clockShiftMs }
  }
  // The duration is unknown after a crash, and for a step that a resume did not reach.
  const resumedMs = resumedAt === undefined ? 0 : Date.parse(resumedAt)
  const isKnown = startedAt !== undefined && startedAt >= resumedMs
  return {
    ...interruption,
    startedAt,
    durationMs: isKnown ? untilPause(core, startedAt) : undefined,
    clockShiftMs,
  }
}

function lateness(
  core: EngineCore,
  { timeoutMs }: TaskCall | ChainCall,
  startedAt: number,
): ReportedError | undefined {
  const counts = core.runner === undefined && core.countsAbsence === true && timeoutMs !== 0
  if (!counts || (timeSince(core, startedAt) ?? 0) <= timeoutMs) return undefined
  return { code: 'timeout', message: `no report came within ${timeoutMs / 1000} s` }
}

/** In a run that is only displayed, time ends with the last recorded state. */
function timeOfChain(core: EngineCore, startedAt: number): number | undefined {
  return core.runner ? timeSince(core, startedAt) : untilPause(core, startedAt)
}

function untilPause({ journal }: EngineCore, startedAt: number): number | undefined {
  const { pausedAt } = journal
  return pausedAt === undefined ? undefined : timeBetween(startedAt, Date.parse(pausedAt))
}

function timeSince({ clock }: EngineCore, startedAt: number): number | undefined {
  return timeBetween(startedAt, clock.now())
}

function beginningOf({ clock, journal }: JournalEngineOptions): EngineCore['begunAt'] {
  const wall = clock.now()
  return { wall, monotonic: clock.elapsed(), isEarlierThanJournal: wall < journal.latestAt }
}

/** The clock shift of a step that an earlier process began. */
function recordedShift({ journal }: EngineCore, key: string): ClockShift {
  return journal.begunEarlier.has(key) ? null : undefined
}

function shiftOf({ begunAt, clock }: EngineCore, now: number): ClockShift {
  if (begunAt.isEarlierThanJournal) return null
  const shift = Math.round(now - begunAt.wall - (clock.elapsed() - begunAt.monotonic))
  return Math.abs(shift) < 1000 ? undefined : shift
}

function begin(core: EngineCore, entry: Entry): number {
  const { key, kind } = entry
  const { started, handed } = core.journal
  const now = core.clock.now()
  const at = new Date(now).toISOString()
  const { step, skill } = entry.call.step
  entry.started = true
  // A nested chain continues where it was; a step that was interrupted starts again.
  const earlierStart = kind === 'chain' || handed.has(key) ? beganAt(core, key) : undefined
  if (earlierStart !== undefined) {
    entry.clockShiftMs = recordedShift(core, key)
    return earlierStart
  }
  if (!core.runner) return now
  entry.beganHere = true
  entry.clockShiftMs = shiftOf(core, now)
  core.writer?.append({ type: 'start', key, at })
  started.set(key, at)
  core.onEvent?.({ type: 'step-started', key, step, skill, chain: kind === 'chain', at })
  return now
}

function handOut(core: EngineCore, { key, clockShiftMs }: Entry, startedAt: number): Outcome {
  if (!core.journal.handed.has(key)) {
    const at = new Date(startedAt).toISOString()
    core.writer?.append({ type: 'handed', key, at })
    core.journal.handed.set(key, at)
  }
  return { kind: 'suspended', why: 'report', startedAt, clockShiftMs }
}

interface JournalEngineOptions {
  journal: RunJournal
  writer?: RecordWriter
  /** Executes steps. Without one, the run is only displayed, or only a decision takes effect. */
  runner?: StepRunner | undefined
  clock: Runtime
  /** Interrupts the run: running steps end without a result, and a resume repeats them. */
  signal?: AbortSignal | undefined
  onEvent?: EventListener | undefined
  /** The caller of the run approves every gate in advance. */
  yesGates?: boolean | undefined
  defaultTimeoutMs?: number
  /** The time-out of a nested chain also counts while no process runs. */
  countsAbsence?: boolean
  /** Returns Git's ID of the working tree. */
  readTree?: (() => string | undefined) | undefined
  /** Without a runner, called for a step that would be executed or handed out now. */
  onDue?: ((call: TaskCall) => void) | undefined
}

interface EngineCore extends JournalEngineOptions {
  interruptSignal: AbortSignal
  executions: Set<Promise<void>>
  /** The journal could not be written: the run stops where it is. */
  failure: { error: unknown } | undefined
  fail(error: unknown): void
  order: number
  /** When this process began to execute the run, by both clocks. */
  begunAt: { wall: number; monotonic: number; isEarlierThanJournal: boolean }
}

type Entry = Announcement & {
  key: string
  controller: AbortController
  /** Aborts with the controller, and when the parent chain ends. */
  signal: AbortSignal
  outcome: Outcome | undefined
  order: number
  ending?: Promise<void> | undefined
  started?: boolean
  /** It was first started by this process. */
  beganHere?: boolean
  clockShiftMs?: ClockShift
}

type Announcement =
  | { kind: 'task'; call: TaskCall }
  | { kind: 'chain'; call: ChainCall; body: (engine: Engine) => Promise<ChainResult> }
