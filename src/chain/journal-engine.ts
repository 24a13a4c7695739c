import { setTimeout as sleep } from 'node:timers/promises'
import type { Runtime } from '../core/runtime.ts'
import type { StepOutput } from '../exec/output-protocol.ts'
import { lateReport } from './agent-executor.ts'
import { noLimit, overdue, timeLimit, type TimeLimit } from './attempt.ts'
import type {
  CancelledStep,
  ChainCall,
  ChainResult,
  Ended,
  Engine,
  EventListener,
  FinishedOutcome,
  Outcome,
  Running,
  StepAnswer,
  TaskCall,
} from './engine.ts'
import { gateOf, isAbout, isApproved, passGate } from './gates.ts'
import { type GateRecord, recordedOutcome } from './journal-records.ts'
import type { RecordWriter, RunJournal } from './run-journal.ts'
import { chainOutput, chainWaitsFor, finishedEvent } from './step-result.ts'
import type { StepRunner } from './step-runner.ts'

interface JournalEngine extends Engine {
  idle(): Promise<void>
}

/**
 * The engine on one machine: an append-only journal. A recorded result is never executed again;
 * replayed results come in the order in which they were recorded. Steps start only when something
 * waits for them.
 */
export function createJournalEngine(options: JournalEngineOptions): JournalEngine {
  const interruption = new AbortController()
  const unlink = options.signal === undefined ? undefined : link(options.signal, interruption)
  const core: EngineCore = {
    ...options,
    interruption,
    launched: new Set(),
    failure: undefined,
    order: options.journal.length,
    engineFor: (scope) => engineFor(core, scope),
  }
  return {
    ...engineFor(core, interruption.signal),
    async idle() {
      await Promise.allSettled(core.launched)
      unlink?.()
    },
  }
}

function engineFor(core: EngineCore, scope: AbortSignal): Engine {
  const entries = new Map<string, Entry>()

  function announce(announced: Announced): Running {
    const { key } = announced.call
    const recorded = core.journal.done.get(key)
    const state = {
      key,
      scope,
      controller: new AbortController(),
      outcome: recorded === undefined ? undefined : recordedOutcome(recorded),
      order: recorded?.order ?? Number.POSITIVE_INFINITY,
    }
    entries.set(key, { ...announced, ...state })
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
        if (core.failure !== undefined) throw core.failure.error
        const ready = earliest(list)
        if (ready !== undefined) return ready
        for (const entry of list) launch(core, entry)
        const pending = endings(list.filter((entry) => entry.outcome === undefined))
        if (pending.length > 0) await Promise.race(pending)
      }
    },
    isOpen(call) {
      const { plan, approvals, done } = core.journal
      const gate = gateOf(call, plan.digest)
      const outcome = done.get(call.key)?.outcome
      return core.yesGates === true || isApproved(gate, approvals.get(call.key), outcome)
    },
    async cancel(running) {
      const list = find(running)
      for (const entry of list) entry.controller.abort()
      await Promise.all(endings(list))
      for (const entry of list) endWaiting(core, entry)
      await Promise.all(endings(list))
      if (core.failure !== undefined) throw core.failure.error
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

/** For a user or a report, it or what is below it, in this process or an earlier one. */
function hasWaited({ handed, gates }: RunJournal, key: string): boolean {
  return [...handed.keys(), ...gates.keys()].some(
    (waiting) => waiting === key || waiting.startsWith(`${key}/`),
  )
}

function endings(list: readonly Entry[]): Promise<void>[] {
  return list.flatMap((entry) => (entry.ending === undefined ? [] : [entry.ending]))
}

/** The one that finished first by the record, else, when nothing can finish any more, any other. */
function earliest(list: readonly Entry[]): Ended | undefined {
  const finished = list.filter(({ outcome }) => outcome?.kind === 'finished')
  const canFinish = list.some(({ outcome }) => outcome === undefined)
  const [first = canFinish ? undefined : list[0]] = finished.toSorted((a, b) => a.order - b.order)
  return first?.outcome === undefined ? undefined : { key: first.key, outcome: first.outcome }
}

function recordCancelled(core: EngineCore, entry: Entry): CancelledStep {
  const { outcome, key } = entry
  if (outcome === undefined || outcome.kind === 'suspended') return {}
  const { startedAt, durationMs, chain } = outcome
  if (outcome.kind === 'cancelled' && startedAt !== undefined && !core.journal.done.has(key)) {
    core.writer?.append({ type: 'done', key, outcome })
  }
  return { startedAt, durationMs, chain }
}

function launch(core: EngineCore, entry: Entry): void {
  if (entry.ending !== undefined) return
  if (entry.outcome !== undefined) {
    entry.ending = Promise.resolve()
    return
  }
  const ending = execute(core, entry)
    .then((outcome) => settle(core, entry, outcome))
    .catch((error: unknown) => {
      fail(core, error)
      entry.outcome = { kind: 'suspended', why: 'interrupted' }
    })
    .finally(() => core.launched.delete(ending))
  core.launched.add(ending)
  entry.ending = ending
}

/** Ends what was told to end while it waited: for a user, or for the report of an agent. */
function endWaiting(core: EngineCore, entry: Entry): void {
  if (entry.outcome !== undefined && entry.outcome.kind !== 'suspended') return
  entry.outcome = undefined
  entry.ending = undefined
  launch(core, entry)
}

async function execute(core: EngineCore, entry: Entry): Promise<Outcome> {
  const stopped = endedFromAbove(core, entry)
  if (stopped !== undefined) return await endedBefore(core, entry, stopped)
  const gate = entry.call.step.gate === true ? atGate(core, entry) : undefined
  if (gate !== undefined) return gate
  if (entry.kind === 'task' && core.runner === undefined) return lookedAt(core, entry)
  await waitFor(core, entry)
  const ended = endedFromAbove(core, entry)
  if (ended !== undefined) return ended
  const startedAt = begin(core, entry)
  const before = core.clock.elapsed()
  const limit = core.runner === undefined ? noLimit : timeLimit(core, entry, startedAt)
  const unlink = link(entry.scope, entry.controller)
  try {
    return entry.kind === 'task'
      ? await executeTask(core, entry, startedAt, before, limit)
      : await executeChain(core, entry, startedAt, limit)
  } finally {
    limit.clear()
    unlink()
  }
}

/** Undefined when a step with a gate may start. */
function atGate(core: EngineCore, { key, call }: Entry): Outcome | undefined {
  const { journal, writer } = core
  const gate = gateOf(call, journal.plan.digest)
  const now = core.clock.now()
  const at = new Date(now).toISOString()
  const outcome = passGate(gate, call.step.step, journal.approvals.get(key), now)
  if (outcome?.kind !== 'suspended') return outcome
  if (core.yesGates === true && writer !== undefined) {
    writer.append({ type: 'approval', ...gate, approved: true, by: 'caller', at })
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

async function waitFor(core: EngineCore, { key, call, scope, controller }: Entry): Promise<void> {
  const { wait } = call
  if (wait === undefined || core.runner === undefined || core.journal.started.has(key)) return
  const left = Math.max(0, wait.since + wait.ms - core.clock.now())
  const signal = AbortSignal.any([scope, controller.signal, core.interruption.signal])
  await sleep(left, undefined, { signal }).catch(() => undefined)
}

/** Not executed any more; a step that started in an earlier process says so. */
async function endedBefore(core: EngineCore, entry: Entry, stopped: Stopped): Promise<Outcome> {
  const { handed, started } = core.journal
  const at = handed.get(entry.key) ?? started.get(entry.key)
  if (stopped.kind === 'suspended' || at === undefined) return stopped
  const startedAt = Date.parse(at)
  if (entry.kind === 'chain') {
    entry.controller.abort()
    return await executeChain(core, entry, startedAt, noLimit)
  }
  const durationMs = handed.has(entry.key) ? Math.max(0, core.clock.now() - startedAt) : undefined
  return { ...stopped, startedAt, durationMs }
}

async function executeTask(
  core: EngineCore,
  entry: Entry & { kind: 'task' },
  startedAt: number,
  before: number,
  limit: TimeLimit,
): Promise<Outcome> {
  const { call, key, controller } = entry
  const answer = await core.runner?.run(call, {
    signal: controller.signal,
    onOutput: (chunk, stream) => {
      const text = core.onEvent === undefined ? '' : chunk.toString('utf8')
      core.onEvent?.({ type: 'step-output', key, step: call.step.step, stream, text })
    },
  })
  const durationMs = Math.round(core.clock.elapsed() - before)
  const stopped = limit.over() ? undefined : endedFromAbove(core, entry)
  if (answer === undefined) return { kind: 'suspended', why: 'interrupted' }
  if (stopped !== undefined) return { ...stopped, startedAt, durationMs }
  if (answer.kind === 'pending') return handOut(core, entry, answer)
  const { log, promptDigest, workedMs = 0, endedInVerification, sandbox, hint } = answer
  const { output, shown } = limit.over() ? { output: overdue(limit, endedInVerification) } : answer
  const worked = durationMs + workedMs
  const facts = { shown, log, promptDigest, sandbox, hint }
  return { kind: 'finished', output, startedAt, durationMs: worked, ...facts }
}

async function executeChain(
  core: EngineCore,
  entry: Entry & { kind: 'chain' },
  startedAt: number,
  limit: TimeLimit,
): Promise<Outcome> {
  const { call, controller } = entry
  const chain = await entry.body(core.engineFor(controller.signal))
  const left = () => ({ startedAt, durationMs: timeOfChain(core, startedAt), chain })
  const finished = (
    output: StepOutput,
    { shown, log, sandbox, hint }: Omit<StepAnswer & { kind: 'output' }, 'kind' | 'output'> = {},
  ): FinishedOutcome => ({ kind: 'finished', output, shown, ...left(), log, sandbox, hint })
  if (core.interruption.signal.aborted) {
    return { kind: 'suspended', why: 'interrupted', ...left() }
  }
  if (limit.over()) return finished(overdue(limit))
  if (chain.ended === 'suspended') {
    const why = chain.status === 'waiting' ? chainWaitsFor(chain) : 'interrupted'
    const isLooked = core.runner === undefined && core.countsAbsence === true
    const late = isLooked ? lateReport(call, core.clock.now() - startedAt) : undefined
    return { kind: 'suspended', why, overdue: late, ...left() }
  }
  if (chain.ended === 'cancelled' || controller.signal.aborted) {
    return { kind: 'cancelled', ...left() }
  }
  const output = chainOutput(chain)
  if (chain.ended === 'rejected') return { ...finished(output), rejected: true }
  if (call.step.verify !== undefined) {
    // Nothing here can verify it, so it is not over.
    if (core.runner === undefined) return { kind: 'suspended', why: 'interrupted', ...left() }
    core.writer?.append()
  }
  const answer = await core.runner?.finishChain(call, output, { signal: controller.signal })
  const stopped = limit.over() ? undefined : endedFromAbove(core, entry)
  if (stopped !== undefined) return { ...stopped, ...left() }
  if (limit.over()) {
    const ended = answer?.kind === 'output' ? answer : undefined
    return finished(overdue(limit, ended?.endedInVerification), { ...ended, shown: undefined })
  }
  return answer?.kind === 'output' ? finished(answer.output, answer) : finished(output)
}

/** Records a final outcome before anybody sees it. */
function settle(core: EngineCore, entry: Entry, outcome: Outcome): void {
  const { key } = entry
  entry.outcome = outcome
  const at = new Date(core.clock.now()).toISOString()
  if (outcome.kind !== 'finished' || core.writer === undefined) {
    announceEnd(core, entry, outcome, at)
    return
  }
  entry.order = core.order++
  core.journal.done.set(key, { type: 'done', key, outcome, order: entry.order })
  core.writer.defer(
    { type: 'done', key, outcome },
    { written: () => announceEnd(core, entry, outcome, at), failed: (error) => fail(core, error) },
  )
}

function fail(core: EngineCore, error: unknown): void {
  core.failure ??= { error }
  core.interruption.abort()
}

function announceEnd(core: EngineCore, entry: Entry, outcome: Outcome, at: string): void {
  const { key, call } = entry
  const { step } = call
  if (outcome.kind === 'suspended' && outcome.why !== 'interrupted') {
    core.onEvent?.({ type: 'step-suspended', key, step: step.step, why: outcome.why, at })
    return
  }
  if (outcome.kind !== 'finished' && entry.started !== true) return
  core.onEvent?.(finishedEvent(key, step, outcome, at))
}

type Stopped = Extract<Outcome, { kind: 'cancelled' | 'suspended' }>

function endedFromAbove(core: EngineCore, entry: Entry): Stopped | undefined {
  if (core.interruption.signal.aborted) return { kind: 'suspended', why: 'interrupted' }
  const ended = entry.scope.aborted || entry.controller.signal.aborted
  return ended ? { kind: 'cancelled' } : undefined
}

/** For a run that is only looked at: where a step stands that has no result. */
function lookedAt(core: EngineCore, { key, call }: Entry): Outcome {
  const handed = core.journal.handed.get(key)
  if (handed !== undefined) {
    const startedAt = Date.parse(handed)
    const late = lateReport(call, core.clock.now() - startedAt)
    return { kind: 'suspended', why: 'report', startedAt, overdue: late }
  }
  const started = core.journal.started.get(key)
  const startedAt = started === undefined ? undefined : Date.parse(started)
  const durationMs = startedAt === undefined ? undefined : timeUntilPause(core, startedAt)
  return { kind: 'suspended', why: 'interrupted', startedAt, durationMs }
}

/** The clock of a run that is only looked at stopped when its end was recorded. */
function timeOfChain(core: EngineCore, startedAt: number): number {
  const { pausedAt } = core.journal
  if (core.runner !== undefined) return Math.max(0, core.clock.now() - startedAt)
  return pausedAt === undefined ? 0 : Math.max(0, Date.parse(pausedAt) - startedAt)
}

/** Undefined after a crash, and for a step that a resume did not reach. */
function timeUntilPause(core: EngineCore, startedAt: number): number | undefined {
  const { pausedAt, resumedAt } = core.journal
  if (pausedAt === undefined) return undefined
  if (resumedAt !== undefined && startedAt < Date.parse(resumedAt)) return undefined
  return Math.max(0, Date.parse(pausedAt) - startedAt)
}

function begin(core: EngineCore, entry: Entry): number {
  const { key, kind } = entry
  const known = core.journal.started.get(key)
  const now = core.clock.now()
  const at = new Date(now).toISOString()
  const { step, skill } = entry.call.step
  entry.started = true
  // A nested chain continues where it was; a step that was interrupted starts anew.
  if (kind === 'chain' && known !== undefined) return Date.parse(known)
  const handed = core.journal.handed.get(key)
  if (handed !== undefined) return Date.parse(handed)
  if (core.runner === undefined) return now
  core.writer?.append({ type: 'start', key, at })
  core.journal.started.set(key, at)
  core.onEvent?.({ type: 'step-started', key, step, skill, chain: kind === 'chain', at })
  return now
}

function handOut(
  core: EngineCore,
  entry: Entry,
  { handedAt }: Extract<StepAnswer, { kind: 'pending' }>,
): Outcome {
  if (!core.journal.handed.has(entry.key)) {
    const at = new Date(handedAt).toISOString()
    core.writer?.append({ type: 'handed', key: entry.key, at })
    core.journal.handed.set(entry.key, at)
  }
  return { kind: 'suspended', why: 'report', startedAt: handedAt }
}

function link(scope: AbortSignal, controller: AbortController): () => void {
  const abort = (): void => controller.abort()
  if (scope.aborted) abort()
  scope.addEventListener('abort', abort, { once: true })
  return () => scope.removeEventListener('abort', abort)
}

interface JournalEngineOptions {
  journal: RunJournal
  writer?: RecordWriter | undefined
  /** Executes steps; undefined for looking only, and where only a decision has to take effect. */
  runner?: StepRunner | undefined
  clock: Pick<Runtime, 'now' | 'elapsed'>
  /** Interrupts the run: what runs is ended and has no result, so that a resume repeats it. */
  signal?: AbortSignal | undefined
  onEvent?: EventListener | undefined
  /** The caller of the run approves every gate in advance. */
  yesGates?: boolean | undefined
  defaultTimeoutMs?: number | undefined
  /** The time-out of a nested chain also counts while no process runs. */
  countsAbsence?: boolean | undefined
}

export interface EngineCore extends JournalEngineOptions {
  interruption: AbortController
  launched: Set<Promise<void>>
  /** The journal could not be written: the run stops where it is. */
  failure: { error: unknown } | undefined
  /** Position of the next record of a result. */
  order: number
  engineFor(scope: AbortSignal): Engine
}

interface EntryBase {
  key: string
  /** Aborted when the chain above is ended. */
  scope: AbortSignal
  controller: AbortController
  outcome: Outcome | undefined
  order: number
  ending?: Promise<void> | undefined
  started?: boolean | undefined
}

type Announced =
  | { kind: 'task'; call: TaskCall }
  | { kind: 'chain'; call: ChainCall; body: (engine: Engine) => Promise<ChainResult> }

export type Entry = EntryBase & Announced
