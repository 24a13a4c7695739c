import type { Context, InvocationPromise, RestatePromise, Serde } from '@restatedev/restate-sdk'
import { failedOutput } from '#exec/output-protocol'
import type { JsonValue } from '#core/json'
import { overdue } from '#chain/attempt'
import type {
  Call,
  CancelledStep,
  ChainCall,
  Ended,
  Engine,
  FinishedOutcome,
  Outcome,
  Running,
  SuspendedOutcome,
  TaskCall,
} from '#chain/engine'
import {
  type ApprovalRecord,
  gateOf,
  type GateRecord,
  isApproved,
  passGate,
} from '#chain/run-journal'
import {
  handlerNames,
  type NestedAnswer,
  type NestedRequest,
  type Pass,
  type RunFacts,
  serviceName,
} from './protocol.ts'
import type { Sdk, StepExecution } from './step-execution.ts'

interface Entry {
  key: string
  /** Of a step; a nested chain has an invocation. */
  controller?: AbortController
  call?: InvocationPromise<NestedAnswer>
  /** Of a step it rejects only by the cancellation of the whole invocation. */
  outcome: RestatePromise<Outcome>
  /** The first of the outcome and the limit. */
  bounded: RestatePromise<Outcome | 'overdue'>
  seconds?: number
  instant?: FinishedOutcome
  stands?: SuspendedOutcome
}

/**
 * The engine on a Restate invocation. A step is a recorded run, a nested chain an invocation of its
 * own; the server keeps the order of results for a replay. Only promises of the invocation are
 * awaited here, which makes the order repeatable.
 */
export class RestateEngine implements Engine {
  readonly #parts: EngineParts
  readonly #entries = new Map<string, Entry>()
  #ended = false

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  task(call: TaskCall): Running {
    const closed = this.#closed(call)
    if (closed) return closed
    const { key } = call
    const { context, execution } = this.#parts
    const controller = new AbortController()
    const execute = async (): Promise<Outcome> => await execution.execute(call, controller.signal)
    const outcome = context
      .run(key, execute, execution.patience)
      .map((found, failure) => found ?? this.#failed('no-worker', failure))
    this.#entries.set(key, { key, controller, outcome, bounded: outcome })
    return { key }
  }

  #closed(call: TaskCall | ChainCall): Running | undefined {
    const { sdk, facts, gates, begunAt, now } = this.#parts
    const { key, step, attempt } = call
    if (!step.gate || facts.yesGates) return undefined
    const gate = gateOf(call, facts.planDigest)
    const decision = decisionAbout(facts, key)
    const outcome = passGate(gate, step.step, decision, Date.parse(decision?.at ?? '') || begunAt)
    if (outcome === undefined) return undefined
    if (outcome.kind === 'suspended') {
      const at = new Date(now()).toISOString()
      gates.set(key, { type: 'gate', ...gate, step: step.step, attempt, at })
    }
    const decided = sdk.RestatePromise.resolve<Outcome>(outcome)
    const known = outcome.kind === 'finished' ? { instant: outcome } : { stands: outcome }
    this.#entries.set(key, { key, outcome: decided, bounded: decided, ...known })
    return { key }
  }

  chain(call: ChainCall): Running {
    const { sdk, context, facts, gates, pass } = this.#parts
    const closed = this.#closed(call)
    if (closed) return closed
    const nested = invokeChain(context, facts, pass, call)
    const outcome = nested.map((answer, failure) => {
      if (!answer) return this.#failed('chain-failed', failure)
      addPass(pass, answer.pass)
      for (const gate of answer.gates) gates.set(gate.key, gate)
      return nestedOutcome(answer)
    })
    const limit = call.timeoutMs
    const late = (): RestatePromise<'overdue'> =>
      context.sleep(limit + (call.wait?.ms ?? 0)).map(() => 'overdue' as const)
    const { key } = call
    const bounded = limit === 0 ? outcome : sdk.RestatePromise.race([outcome, late()])
    this.#entries.set(key, { key, call: nested, outcome, bounded, seconds: limit / 1000 })
    return { key }
  }

  async firstOf(running: readonly Running[]): Promise<Ended> {
    const list = this.#find(running)
    for (const { key, instant } of list) if (instant) return { key, outcome: instant }
    const [first] = list
    if (!first) throw new Error('there is nothing to wait for')
    if (this.#ended) return { key: first.key, outcome: none }
    try {
      for (;;) {
        const going = list.filter(({ stands }) => stands === undefined)
        if (going.length === 0) return { key: first.key, outcome: first.stands ?? none }
        const { entry, outcome } = await this.#firstEnd(going)
        const answer = outcome === 'overdue' ? await this.#timedOut(entry) : outcome
        if (answer.kind !== 'suspended') return { key: entry.key, outcome: answer }
        entry.stands = answer
      }
    } catch (error) {
      this.#endBy(error)
      const [left = {}] = await this.#endAll([first])
      return { key: first.key, outcome: { kind: 'cancelled', ...left } }
    }
  }

  isOpen(call: Call): boolean {
    const { facts } = this.#parts
    const gate = gateOf(call, facts.planDigest)
    return facts.yesGates || isApproved(gate, decisionAbout(facts, call.key), undefined)
  }

  async cancel(running: readonly Running[]): Promise<CancelledStep[]> {
    return await this.#endAll(this.#find(running))
  }

  async record<T extends JsonValue>(key: string, decide: () => T): Promise<T> {
    return await this.#settled(this.#parts.context.run(key, decide))
  }

  #find(running: readonly Running[]): Entry[] {
    return running.flatMap(({ key }) => this.#entries.get(key) ?? [])
  }

  #failed(code: string, failure: Error | undefined): FinishedOutcome {
    const output = failedOutput(code, failure?.message ?? 'the server gives no details')
    return { kind: 'finished', output, startedAt: this.#parts.begunAt, durationMs: 0 }
  }

  #firstEnd(
    list: readonly Entry[],
  ): RestatePromise<{ entry: Entry; outcome: Outcome | 'overdue' }> {
    const ends = list.map((entry) => entry.bounded.map((outcome = none) => ({ entry, outcome })))
    const [only] = ends
    // A race of one would cost every step of an ordered chain.
    if (ends.length === 1 && only !== undefined) return only
    return this.#parts.sdk.RestatePromise.race(ends)
  }

  async #timedOut(entry: Entry): Promise<Outcome> {
    const [left = {}] = await this.#endAll([entry])
    const output = overdue({ seconds: entry.seconds ?? 0 })
    const { startedAt = this.#parts.begunAt, durationMs = 0, chain } = left
    return { kind: 'finished', output, startedAt, durationMs, chain }
  }

  async #endAll(list: readonly Entry[]): Promise<CancelledStep[]> {
    const { sdk, context } = this.#parts
    for (const { stands, controller, call } of list) {
      if (stands) continue
      controller?.abort()
      if (call === undefined) continue
      // A promise of the invocation like any other, whatever its declared type says.
      const { invocationId } = call
      if (!sdk.isRestatePromise(invocationId)) throw new Error('the SDK has changed: invocationId')
      context.invocation(await this.#settled(invocationId)).cancel()
    }
    const left: CancelledStep[] = []
    for (const entry of list) {
      left.push(leftOf(entry.stands ?? (await this.#settled(entry.outcome))))
    }
    return left
  }

  async #settled<T>(promise: RestatePromise<T>): Promise<T> {
    try {
      return await promise
    } catch (error) {
      this.#endBy(error)
      // The cancellation is told once; a promise that was told it must not be asked again.
      return await promise.map((value, failure) => kept(value, failure))
    }
  }

  #endBy(error: unknown): void {
    if (!(error instanceof this.#parts.sdk.CancelledError)) throw error
    this.#ended = true
    for (const { controller } of this.#entries.values()) controller?.abort()
  }
}

export interface EngineParts {
  sdk: Sdk
  context: Context
  facts: RunFacts
  execution: StepExecution
  /** When the invocation began; milliseconds since the epoch, recorded. */
  begunAt: number
  now(): number
  pass: Pass
  /** That somebody has to be asked about, by key; those of nested chains too. */
  gates: Map<string, GateRecord>
}

const none: Outcome = { kind: 'cancelled' }

function leftOf(outcome: Outcome): CancelledStep {
  if (outcome.kind === 'suspended') return {}
  const { startedAt, durationMs, chain } = outcome
  return { startedAt, durationMs, chain }
}

function kept<T>(value: T | undefined, failure: Error | undefined): T {
  if (failure || value === undefined) throw failure ?? new Error('no value')
  return value
}

function invokeChain(
  context: Context,
  facts: RunFacts,
  pass: Pass,
  { step, key, attempt, state, wait }: ChainCall,
): InvocationPromise<NestedAnswer> {
  const own = { step, key, attempt, state, waitMs: wait?.ms, pass: passBelow(pass, key) }
  return context.genericCall({
    service: serviceName,
    method: handlerNames.chain,
    name: key,
    inputSerde: jsonSerde<NestedRequest>(),
    outputSerde: jsonSerde<NestedAnswer>(),
    parameter: { ...facts, ...own },
  })
}

function nestedOutcome(answer: NestedAnswer): Outcome {
  const { chain, output, log, startedAt, durationMs } = answer
  if (chain.ended === 'suspended') {
    return { kind: 'suspended', why: 'approval', startedAt, durationMs, chain }
  }
  if (!output) return { kind: 'cancelled', startedAt, durationMs, chain }
  const rejected = chain.ended === 'rejected' ? { rejected: true as const } : {}
  return { kind: 'finished', output, log, startedAt, durationMs, chain, ...rejected }
}

export function jsonSerde<T>(): Serde<T> {
  return {
    contentType: 'application/json',
    serialize: (value) => Buffer.from(JSON.stringify(value)),
    deserialize: (data) => JSON.parse(Buffer.from(data).toString('utf8')),
  }
}

function decisionAbout({ approvals }: RunFacts, key: string): ApprovalRecord | undefined {
  return approvals?.findLast((approval) => approval.key === key)
}

/** May be called again with the same answer: a replay comes by here too. */
function addPass(pass: Pass, more: Pass): void {
  for (const part of ['answered', 'left', 'decided', 'begun'] as const) {
    Object.assign(pass[part], more[part])
  }
}

function passBelow({ answered, left, decided, begun }: Pass, chain: string): Pass {
  const below = <T>(values: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(values).filter(([key]) => `${key}/`.startsWith(`${chain}/`)))
  return {
    answered: below(answered),
    left: below(left),
    decided: below(decided),
    begun: below(begun),
  }
}

/** The engine, with recorded answers first; the pass grows by the rest. */
export function remembering(engine: Engine, pass: Pass): Engine {
  const isNew = ({ key }: Running): boolean => !(key in pass.answered) && !(key in pass.left)

  return {
    task: (call) => (isNew(call) ? engine.task(call) : { key: call.key }),
    chain: (call, body) => (isNew(call) ? engine.chain(call, body) : { key: call.key }),
    async firstOf(running) {
      const keys = new Set(running.map(({ key }) => key))
      for (const [key, outcome] of Object.entries(pass.answered)) {
        if (keys.has(key)) return { key, outcome }
      }
      const ended = await engine.firstOf(running.filter((handle) => isNew(handle)))
      if (ended.outcome.kind !== 'suspended') pass.answered[ended.key] = ended.outcome
      return ended
    },
    isOpen(call) {
      const known = pass.answered[call.key]
      if (known === undefined) return engine.isOpen(call)
      return known.kind !== 'finished' || known.rejected !== true
    },
    async cancel(running) {
      const fresh = running.filter((handle) => isNew(handle))
      const left = fresh.length === 0 ? [] : await engine.cancel(fresh)
      for (const [index, { key }] of fresh.entries()) pass.left[key] = left[index] ?? {}
      return running.map(({ key }) => pass.left[key] ?? {})
    },
    async record(key, decide) {
      const value = decide()
      if (pass.decided[key] === value) return value
      const recorded = await engine.record(key, () => value)
      pass.decided[key] = recorded
      return recorded
    },
  }
}
