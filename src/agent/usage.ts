import { AsyncLocalStorage } from 'node:async_hooks'
import type { TokenUsage, UsageEntry } from './types.ts'

/** What was used so far, at one moment. Sums of parts add up to `total`. */
export interface UsageReport {
  total: TokenUsage
  /** Of the agent's own model calls. */
  own: TokenUsage
  /** Of all delegations. */
  descendants: TokenUsage
  /** By the model that answered, as it names itself. */
  byModel: Readonly<Record<string, TokenUsage>>
  byAgent: Readonly<Record<string, TokenUsage>>
  byDelegation: Readonly<Record<string, TokenUsage>>
  /** One a model, agent and delegation, in the order of their first bookings. */
  entries: readonly UsageEntry[]
}

/** Records every model call when its usage is known, so that a run that fails later is complete too. */
export class UsageLedger {
  readonly #entries = new Map<string, UsageEntry>()
  readonly #runs = new AsyncLocalStorage<{ used: TokenUsage; exhausted(): string | undefined }>()

  /** For a run that may use so many tokens; what is used `within` its work belongs to it. */
  begin(most: number | undefined) {
    const run = { used: noUsage, exhausted: () => overspent(run.used, most) }
    const within = <T>(work: () => T): T => this.#runs.run(run, work)
    const record = (entry: UsageEntry) => within(() => this.record(entry))
    return Object.assign(run, { within, record })
  }

  readonly record = (entry: UsageEntry) => {
    const key = JSON.stringify([entry.model, entry.agent, entry.delegation])
    const used = this.#entries.get(key)?.usage ?? noUsage
    this.#entries.set(key, { ...entry, usage: addUsage(used, entry.usage) })
    const run = this.#runs.getStore()
    if (run) run.used = addUsage(run.used, entry.usage)
  }

  /** Why no model may be asked any more in the run that this is called in. */
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

export type RunUsage = ReturnType<UsageLedger['begin']>

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
  const sum = (key: keyof TokenUsage) => parts.reduce((all, part) => all + part[key], 0)
  return {
    inputTokens: sum('inputTokens'),
    outputTokens: sum('outputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    reasoningTokens: sum('reasoningTokens'),
    requests: sum('requests'),
  }
}

/** The sentence for a limit of tokens that is reached; undefined while some are left. */
export function overspent(used: TokenUsage, most = Infinity): string | undefined {
  const tokens = used.inputTokens + used.outputTokens
  return tokens < most ? undefined : `The run used ${tokens} tokens of at most ${most}`
}

export const noUsage: TokenUsage = addUsage()

export function subtractUsage(now: TokenUsage, before: TokenUsage): TokenUsage {
  const negative = Object.entries(before).map(([key, value]) => [key, -value])
  return addUsage(now, { ...before, ...Object.fromEntries(negative) })
}
