import type { Context, InvocationPromise, RestatePromise, Serde } from '@restatedev/restate-sdk'
import { failedOutput } from '#exec/output-protocol'
import type { JsonValue } from '#core/json'
import { overdue } from '#chain/attempt'
import type { PlannedStep } from '#chain/plan-model'
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
  /** Ends a step. A nested chain has `call` instead. */
  controller?: AbortController
  call?: InvocationPromise<NestedAnswer>
  /** For a step, the promise rejects only if the whole invocation is cancelled. */
  outcome: RestatePromise<Outcome>
  /** The outcome, or `overdue` if the time limit passes first. */
  bounded: RestatePromise<Outcome | 'overdue'>
  seconds?: number
  instant?: FinishedOutcome
  suspension?: SuspendedOutcome
}

/**
 * The engine on a Restate invocation. A step is a recorded run, and a nested chain has an invocation
 * of its own. The server stores the order of results for a replay. The engine awaits only promises of
 * the invocation, which makes the order repeatable.
 */
export class RestateEngine implements Engine {
  readonly #parts: EngineParts
  readonly #entries = new Map<string, Entry>()
  #ended = false

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  task(call: TaskCall): Running {
    const closedStep = this.#closed(call)
    if (closedStep) return closedStep
    const { key } = call
    const { context, execution } = this.#parts
    const controller = new AbortController()
    const execute = async (): Promise<Outcome> => await execution.execute(call, controller.signal)
    const outcome = context
      .run(key, execute, execution.patience)
      .map((value, failure) => value ?? this.#failed('no-worker', failure))
    this.#entries.set(key, { key, controller, outcome, bounded: outcome })
    return { key }
  }

  #closed(call: TaskCall | ChainCall): Running | undefined {
    const { sdk, facts, gates, begunAt, now } = this.#parts
    const { key, step, attempt } = call
    if (!step.gate || (facts.yesGates && step.gate === true)) return undefined
    const gate = gateOf(call, facts.planDigest)
    const decision = decisionAbout(facts, key)
    const outcome = passGate(gate, step, decision, Date.parse(decision?.at ?? '') || begunAt)
    if (outcome === undefined) return undefined
    if (outcome.kind === 'suspended') {
      const at = new Date(now()).toISOString()
      gates.set(key, { type: 'gate', ...gate, step: step.step, attempt, at })
    }
    const decidedOutcome = sdk.RestatePromise.resolve<Outcome>(outcome)
    const state = outcome.kind === 'finished' ? { instant: outcome } : { suspension: outcome }
    this.#entries.set(key, { key, outcome: decidedOutcome, bounded: decidedOutcome, ...state })
    return { key }
  }

  chain(call: ChainCall): Running {
    const { sdk, context, facts, gates, pass } = this.#parts
    const closedStep = this.#closed(call)
    if (closedStep) return closedStep
    const invocation = invokeChain(context, facts, pass, call)
    const outcome = invocation.map((answer, failure) => {
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
    this.#entries.set(key, { key, call: invocation, outcome, bounded, seconds: limit / 1000 })
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
        const active = list.filter(({ suspension }) => suspension === undefined)
        if (active.length === 0) return { key: first.key, outcome: first.suspension ?? none }
        const { entry, outcome } = await this.#firstEnd(active)
        const answer = outcome === 'overdue' ? await this.#timedOut(entry) : outcome
        if (answer.kind !== 'suspended') return { key: entry.key, outcome: answer }
        entry.suspension = answer
      }
    } catch (error) {
      this.#endBy(error)
      const [cancellation = {}] = await this.#endAll([first])
      return { key: first.key, outcome: { kind: 'cancelled', ...cancellation } }
    }
  }

  isOpen(call: Call & { step: PlannedStep }): boolean {
    const { facts } = this.#parts
    const gate = gateOf(call, facts.planDigest)
    const { gate: requiredGate } = call.step
    const isPlain = requiredGate === undefined || requiredGate === true
    if (facts.yesGates && isPlain) return true
    return isApproved(gate, requiredGate, decisionAbout(facts, call.key), undefined)
  }

  async cancel(running: readonly Running[]): Promise<CancelledStep[]> {
    const cancellations = await this.#endAll(this.#find(running))
    // These gates and all gates below need no decision any more.
    const { gates } = this.#parts
    for (const gate of gates.keys()) {
      if (running.some(({ key }) => `${gate}/`.startsWith(`${key}/`))) gates.delete(gate)
    }
    return cancellations
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
    // A race with one entry would slow down every step of an ordered chain.
    if (ends.length === 1 && only !== undefined) return only
    return this.#parts.sdk.RestatePromise.race(ends)
  }

  async #timedOut(entry: Entry): Promise<Outcome> {
    const [cancellation = {}] = await this.#endAll([entry])
    const output = overdue({ seconds: entry.seconds ?? 0 })
    const { startedAt = this.#parts.begunAt, durationMs = 0, chain } = cancellation
    return { kind: 'finished', output, startedAt, durationMs, chain }
  }

  async #endAll(list: readonly Entry[]): Promise<CancelledStep[]> {
    const { sdk, context } = this.#parts
    for (const { suspension, controller, call } of list) {
      if (suspension) continue
      controller?.abort()
      if (call === undefined) continue
      // The SDK declares a plain promise, but this is a promise of the invocation.
      const { invocationId } = call
      if (!sdk.isRestatePromise(invocationId)) throw new Error('the SDK has changed: invocationId')
      context.invocation(await this.#settled(invocationId)).cancel()
    }
    const cancellations: CancelledStep[] = []
    for (const entry of list) {
      cancellations.push(leftOf(entry.suspension ?? (await this.#settled(entry.outcome))))
    }
    return cancellations
  }

  async #settled<T>(promise: RestatePromise<T>): Promise<T> {
    try {
      return await promise
    } catch (error) {
      this.#endBy(error)
      // A promise that reported the cancellation must not be awaited again, so this awaits a derived one.
      return await promise.map((value, failure) => valueOrThrow(value, failure))
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
  /** The gates that need a decision, by key, including those of nested chains. */
  gates: Map<string, GateRecord>
}

const none: Outcome = { kind: 'cancelled' }

function leftOf(outcome: Outcome): CancelledStep {
  if (outcome.kind === 'suspended') return {}
  const { startedAt, durationMs, chain } = outcome
  return { startedAt, durationMs, chain }
}

function valueOrThrow<T>(value: T | undefined, failure: Error | undefined): T {
  if (failure || value === undefined) throw failure ?? new Error('no value')
  return value
}

function invokeChain(
  context: Context,
  facts: RunFacts,
  pass: Pass,
  { step, key, attempt, state, wait }: ChainCall,
): InvocationPromise<NestedAnswer> {
  const nestedRequest = { step, key, attempt, state, waitMs: wait?.ms, pass: passBelow(pass, key) }
  return context.genericCall({
    service: serviceName,
    method: handlerNames.chain,
    name: key,
    inputSerde: jsonSerde<NestedRequest>(),
    outputSerde: jsonSerde<NestedAnswer>(),
    parameter: { ...facts, ...nestedRequest },
  })
}

function nestedOutcome(answer: NestedAnswer): Outcome {
  const { chain, output, log, startedAt, durationMs } = answer
  if (chain.ended === 'suspended') {
    return { kind: 'suspended', why: 'approval', startedAt, durationMs, chain }
  }
  if (!output) return { kind: 'cancelled', startedAt, durationMs, chain }
  const rejection = chain.ended === 'rejected' ? { rejected: true as const } : {}
  return { kind: 'finished', output, log, startedAt, durationMs, chain, ...rejection }
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

/** Merges an answer into the pass. A replay calls this again with the same answer. */
function addPass(pass: Pass, more: Pass): void {
  for (const part of ['answered', 'left', 'decided', 'begun'] as const) {
    Object.assign(pass[part], more[part])
  }
}

function passBelow({ answered, left, decided, begun }: Pass, chain: string): Pass {
  const entriesBelow = <T>(values: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(values).filter(([key]) => `${key}/`.startsWith(`${chain}/`)))
  return {
    answered: entriesBelow(answered),
    left: entriesBelow(left),
    decided: entriesBelow(decided),
    begun: entriesBelow(begun),
  }
}

/** Wraps an engine: returns the answers of the pass first, and adds new answers to the pass. */
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
      const stepEnd = await engine.firstOf(running.filter((handle) => isNew(handle)))
      if (stepEnd.outcome.kind !== 'suspended') pass.answered[stepEnd.key] = stepEnd.outcome
      return stepEnd
    },
    isOpen(call) {
      const outcome = pass.answered[call.key]
      if (outcome === undefined) return engine.isOpen(call)
      return outcome.kind !== 'finished' || outcome.rejected !== true
    },
    async cancel(running) {
      const fresh = running.filter((handle) => isNew(handle))
      const cancellations = fresh.length === 0 ? [] : await engine.cancel(fresh)
      for (const [index, { key }] of fresh.entries()) pass.left[key] = cancellations[index] ?? {}
      return running.map(({ key }) => pass.left[key] ?? {})
    },
    async record(key, decide) {
      const value = decide()
      if (pass.decided[key] === value) return value
      const recordedValue = await engine.record(key, () => value)
      pass.decided[key] = recordedValue
      return recordedValue
    },
  }
}
