import type { Context, InvocationPromise, Serde } from '@restatedev/restate-sdk'
import type { ChainCall, Outcome } from '../engine.ts'
import {
  handlerNames,
  type NestedAnswer,
  type NestedRequest,
  type RunFacts,
  serviceName,
} from './protocol.ts'
import type { PausedChain } from './standstill.ts'

/** Calls a nested chain, an invocation of its own. */
export function invokeChain(
  context: Context,
  facts: RunFacts,
  call: ChainCall,
  paused: PausedChain | undefined,
): InvocationPromise<NestedAnswer> {
  const { step, key, attempt, state } = call
  return context.genericCall({
    service: serviceName,
    method: handlerNames.chain,
    name: key,
    inputSerde: jsonSerde<NestedRequest>(),
    outputSerde: jsonSerde<NestedAnswer>(),
    parameter: {
      version: facts.version,
      runId: facts.runId,
      arguments: facts.arguments,
      requireVerified: facts.requireVerified,
      defaultTimeoutMs: facts.defaultTimeoutMs,
      planDigest: facts.planDigest,
      yesGates: facts.yesGates,
      ...(facts.approvals === undefined ? {} : { approvals: facts.approvals }),
      known: below(facts.known, `${key}/`),
      step,
      key,
      attempt,
      state,
      ...(paused === undefined ? {} : { paused }),
    },
  })
}

export function nestedOutcome(answer: NestedAnswer): Outcome {
  const { chain, output, log, startedAt, durationMs } = answer
  if (chain.ended === 'suspended') {
    return { kind: 'suspended', why: 'approval', startedAt, durationMs, chain }
  }
  if (output === undefined) return { kind: 'cancelled', startedAt, durationMs, chain }
  const rejected = chain.ended === 'rejected' ? { rejected: true as const } : {}
  return { kind: 'finished', output, log, startedAt, durationMs, chain, ...rejected }
}

function jsonSerde<T>(): Serde<T> {
  return {
    contentType: 'application/json',
    serialize: (value) => Buffer.from(JSON.stringify(value)),
    deserialize: (data) => JSON.parse(Buffer.from(data).toString('utf8')),
  }
}

function below(known: RunFacts['known'], prefix: string): RunFacts['known'] {
  return Object.fromEntries(Object.entries(known).filter(([key]) => key.startsWith(prefix)))
}
