import { setTimeout as sleep } from 'node:timers/promises'
import type { FinishedOutcome } from '../engine.ts'
import type { EventListener } from '../events.ts'
import { allSteps, isChain, type Plan, type PlannedStep } from '../plan-model.ts'
import type { ServerAddress } from './client.ts'
import { readServerJournal, type ServerEntry } from './server-journal.ts'

/** How often the server is asked what has happened. */
const intervalMs = 250

/**
 * Tells the steps of a run on a server as they begin and end, read off the journal that the server
 * keeps, beginning with the entry `from`. Progress is a courtesy: a server that does not tell it ends the telling, not the run.
 */
export async function followRun(
  address: ServerAddress,
  { id, from }: { id: string; from: number },
  plan: Plan,
  listener: EventListener,
  over: AbortSignal,
): Promise<void> {
  const steps = new Map(allSteps(plan.root).map((step) => [step.step, step]))
  const root = { id, next: from, open: new Map() }
  try {
    for (;;) {
      // Once more when it is over, for what ended in between.
      const last = over.aborted
      await advance(root, { address, steps, listener })
      if (last) return
      await sleep(intervalMs, undefined, { signal: over }).catch(() => undefined)
    }
  } catch {
    // The result of the run says everything again.
  }
}

/** An invocation: the run itself or a nested chain. */
interface Followed {
  id: string
  /** First entry that was not read yet. */
  next: number
  /** What has begun and not ended, by the number that its end will have. */
  open: Map<number, Open>
}

interface Open {
  key: string
  step: PlannedStep
  nested: Followed | undefined
}

interface Telling {
  address: ServerAddress
  steps: ReadonlyMap<string, PlannedStep>
  listener: EventListener
}

async function advance(followed: Followed, telling: Telling): Promise<void> {
  const { entries, next } = await readServerJournal(telling.address, followed.id, followed.next)
  followed.next = next
  for (const entry of entries) {
    if (entry.kind === 'begun') begin(followed, entry, telling)
    else await end(followed, entry, telling)
  }
  for (const { nested } of followed.open.values()) {
    if (nested !== undefined) await advance(nested, telling)
  }
}

function begin(
  followed: Followed,
  { key, completion, nested, at }: ServerEntry & { kind: 'begun' },
  { steps, listener }: Telling,
): void {
  const step = steps.get(nameOf(key))
  if (step === undefined) return
  followed.open.set(completion, {
    key,
    step,
    nested: nested === undefined ? undefined : { id: nested, next: 0, open: new Map() },
  })
  const chain = isChain(step)
  listener({ type: 'step-started', key, step: step.step, skill: step.skill, chain, at })
}

async function end(
  followed: Followed,
  entry: ServerEntry & { kind: 'ended' },
  telling: Telling,
): Promise<void> {
  const open = followed.open.get(entry.completion)
  if (open === undefined) return
  followed.open.delete(entry.completion)
  const { step, key, nested } = open
  if (nested !== undefined) await advance(nested, telling)
  telling.listener({
    type: 'step-finished',
    key,
    step: step.step,
    skill: step.skill,
    chain: isChain(step),
    ...told(entry.value),
    at: entry.at,
    replayed: false,
  })
}

/** `1:unit` and `2:nested/1:unit` are keys of the steps `unit` and `nested/unit`. */
function nameOf(key: string): string {
  return key.replace(/(^|\/)\d+:/g, '$1')
}

function told(value: (ServerEntry & { kind: 'ended' })['value']): {
  status: FinishedOutcome['output']['status'] | 'cancelled'
  result: string
  error: string | undefined
  durationMs: number
} {
  const output = value !== undefined && 'output' in value ? value.output : undefined
  const durationMs = value !== undefined && 'durationMs' in value ? (value.durationMs ?? 0) : 0
  const error = output?.errors[0]?.message
  return { status: output?.status ?? 'cancelled', result: output?.result ?? '', error, durationMs }
}
