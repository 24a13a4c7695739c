import type { CancelledStep, Ended, Engine, Running } from './engine.ts'
import type { Announced, EngineCore, Entry } from './_journal-entry.ts'
import { endWaiting, launch } from './_journal-launch.ts'
import type { JournalEngineOptions } from './journal-engine-options.ts'
import { recordedOutcome } from './journal-records.ts'
import type { RunJournal } from './run-journal.ts'

export interface JournalEngine extends Engine {
  /** Resolves when nothing that was started runs any more. */
  idle(): Promise<void>
}

/**
 * The engine on one machine: an append-only journal. What has a recorded result is never executed
 * again; it is answered in the order in which it was recorded, so that a replay takes every decision
 * as it was taken. Steps start only when something waits for them.
 */
export function createJournalEngine(options: JournalEngineOptions): JournalEngine {
  const interruption = new AbortController()
  const interrupt = (): void => interruption.abort()
  if (options.signal?.aborted === true) interrupt()
  options.signal?.addEventListener('abort', interrupt, { once: true })
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
      options.signal?.removeEventListener('abort', interrupt)
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
      const known = core.journal.decided.get(key)
      const value = decide()
      // The first decision stands; a replay decides the same, or the journal would not be ours.
      if (known !== undefined && known === value) return value
      core.writer?.append({ type: 'decided', key, value })
      core.journal.decided.set(key, value)
      return value
    },
  }
}

/** For a person or a report, it or what is below it, in this process or an earlier one. */
function hasWaited({ handed, gates }: RunJournal, key: string): boolean {
  return [...handed.keys(), ...gates.keys()].some(
    (waiting) => waiting === key || waiting.startsWith(`${key}/`),
  )
}

function endings(list: readonly Entry[]): Promise<void>[] {
  return list.flatMap((entry) => (entry.ending === undefined ? [] : [entry.ending]))
}

/** The finished one that was recorded first, else, when nothing can finish any more, any other. */
function earliest(list: readonly Entry[]): Ended | undefined {
  let first: Entry | undefined
  for (const entry of list) {
    if (entry.outcome?.kind !== 'finished') continue
    if (first === undefined || entry.order < first.order) first = entry
  }
  first ??= list.every((entry) => entry.outcome !== undefined) ? list[0] : undefined
  return first?.outcome === undefined ? undefined : { key: first.key, outcome: first.outcome }
}

function recordCancelled(core: EngineCore, entry: Entry): CancelledStep {
  const { outcome, key } = entry
  if (outcome === undefined || outcome.kind === 'suspended') return {}
  const { startedAt, durationMs, chain } = outcome
  if (outcome.kind === 'cancelled' && startedAt !== undefined && !core.journal.done.has(key)) {
    core.writer?.append({ type: 'done', key, outcome })
  }
  return { startedAt, durationMs, ...(chain === undefined ? {} : { chain }) }
}
