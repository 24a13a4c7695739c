import { AsyncLocalStorage } from 'node:async_hooks'
import type { TokenUsage, UsageEntry } from './types.ts'

/** The tokens used until now. The parts add up to `total`. */
export interface UsageReport {
  total: TokenUsage
  /** Tokens of the agent's own model calls. */
  own: TokenUsage
  /** Tokens of all delegations. */
  descendants: TokenUsage
  /** Keys are names of models, as the models report them. */
  byModel: Readonly<Record<string, TokenUsage>>
  byAgent: Readonly<Record<string, TokenUsage>>
  byDelegation: Readonly<Record<string, TokenUsage>>
  /** One entry for each model, agent and delegation, in the order of their first calls. */
  entries: readonly UsageEntry[]
}

/** The tokens of one run, including its subagents. */
export interface RunUsage {
  readonly used: TokenUsage
  /** Counts every model call that `work` makes for this run. */
  within<T>(work: () => T): T
}

/** Records every model call as soon as its usage is known, so that failed runs count in full. */
export class UsageLedger {
  readonly #entries = new Map<string, UsageEntry>()
  readonly #runs = new AsyncLocalStorage<{ used: TokenUsage; exhausted(): string | undefined }>()

  /** Begins a run with a token limit. */
  begin(maxTokens: number | undefined): RunUsage {
    const run = { used: noUsage, exhausted: () => overspent(run.used, maxTokens) }
    return Object.assign(run, { within: <T>(work: () => T): T => this.#runs.run(run, work) })
  }

  readonly record = (entry: UsageEntry) => {
    const key = JSON.stringify([entry.model, entry.agent, entry.delegation])
    const earlierUsage = this.#entries.get(key)?.usage ?? noUsage
    this.#entries.set(key, { ...entry, usage: addUsage(earlierUsage, entry.usage) })
    const run = this.#runs.getStore()
    if (run) run.used = addUsage(run.used, entry.usage)
  }

  /** Returns why the current run may ask no model any more; undefined if it may. */
  readonly exhausted = () => this.#runs.getStore()?.exhausted()

  report(): UsageReport {
    const entries = [...this.#entries.values()]
    return {
      total: sumOf(entries),
      own: sumOf(entries.filter(({ delegation }) => delegation === undefined)),
      descendants: sumOf(entries.filter(({ delegation }) => delegation !== undefined)),
      byModel: sumsBy(entries, 'model'),
      byAgent: sumsBy(entries, 'agent'),
      byDelegation: sumsBy(entries, 'delegation'),
      entries,
    }
  }
}

function sumOf(entries: readonly UsageEntry[]): TokenUsage {
  return addUsage(...entries.map(({ usage }) => usage))
}

function sumsBy(entries: readonly UsageEntry[], key: 'model' | 'agent' | 'delegation') {
  const groups = Map.groupBy(entries, (entry) => entry[key])
  return Object.fromEntries(
    [...groups].flatMap(([name, group]) => (name === undefined ? [] : [[name, sumOf(group)]])),
  )
}

export function addUsage(...parts: readonly TokenUsage[]): TokenUsage {
  const sum = (key: keyof TokenUsage) => parts.reduce((total, part) => total + part[key], 0)
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    reasoningTokens: sum('reasoningTokens'),
    requests: sum('requests'),
  }
}

/** Returns a sentence if the limit of tokens is reached; undefined while tokens are left. */
export function overspent(used: TokenUsage, maxTokens = Infinity): string | undefined {
  const tokens = used.inputTokens + used.outputTokens
  return tokens < maxTokens ? undefined : `The run used ${tokens} tokens of at most ${maxTokens}`
}

export const noUsage: TokenUsage = addUsage()

export function subtractUsage(now: TokenUsage, before: TokenUsage): TokenUsage {
  const negative = Object.entries(before).map(([key, value]) => [key, -value])
  return addUsage(now, { ...before, ...Object.fromEntries(negative) })
}
