import fc from 'fast-check'
import { defaultChainPolicy } from '../../src/skill/declarations.ts'
import type { PlannedChain, PlannedStep } from '../../src/chain/plan-model.ts'
import { chain, task } from './_plans.ts'

/** A step of a chain whose rejections may lead back; `back` is the line that its `rework` names. */
export interface Draft {
  gate: boolean
  back: number | undefined
  always: boolean
  allowFailure: boolean
  inner: readonly Draft[][] | undefined
}

export interface Drafts {
  lines: readonly Draft[][]
  continueOnError: boolean
}

const step = (inner: fc.Arbitrary<Draft[][] | undefined>): fc.Arbitrary<Draft> =>
  fc.record({
    gate: fc.constantFrom(true, true, false),
    back: fc.option(fc.nat(3), { freq: 3, nil: undefined }),
    always: fc.oneof(
      { weight: 4, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    allowFailure: fc.oneof(
      { weight: 4, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    inner,
  })

const none = fc.constant(undefined)
const flat = fc.array(fc.array(step(none), { minLength: 1, maxLength: 1 }), {
  minLength: 1,
  maxLength: 3,
})

export const drafts: fc.Arbitrary<Drafts> = fc.record({
  lines: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.array(step(none), { minLength: 1, maxLength: 1 }) },
      { weight: 1, arbitrary: fc.array(step(none), { minLength: 2, maxLength: 3 }) },
      {
        weight: 1,
        arbitrary: fc.array(step(fc.option(flat, { nil: undefined, freq: 4 })), {
          minLength: 1,
          maxLength: 1,
        }),
      },
    ),
    { minLength: 2, maxLength: 4 },
  ),
  continueOnError: fc.boolean(),
})

const nameOf = (line: number, index: number): string => `s${line}${'abc'[index] ?? ''}`

/** What a draft means once options that would be errors are left out. */
function optionsOf(draft: Draft, line: number, isGrouped: boolean) {
  const { gate, back, always, allowFailure } = draft
  const rework = gate && back !== undefined && line > 0 ? nameOf(back % line, 0) : undefined
  return { gate, rework, always: always && !isGrouped, allowFailure }
}

export function planOf({ lines, continueOnError }: Drafts, prefix = ''): PlannedChain {
  const steps = lines.flatMap((line, at) =>
    line.map((draft, index): PlannedStep => {
      const name = `${prefix}${nameOf(at, index)}`
      const { gate, rework, always, allowFailure } = optionsOf(draft, at, line.length > 1)
      const options = {
        ...(line.length > 1 ? { group: at + 1 } : {}),
        ...(gate ? { gate: true as const } : {}),
        ...(rework === undefined ? {} : { rework }),
        ...(always ? { always } : {}),
        ...(allowFailure ? { allowFailure } : {}),
      }
      const { inner } = draft
      if (!inner) return { ...task(name), ...options }
      return { ...planOf({ lines: inner, continueOnError }, `${name}/`), step: name, ...options }
    }),
  )
  return chain(steps, { ...defaultChainPolicy, continueOnError })
}

/** What happens in a run, in its order, with the keys of executions. */
export interface Story {
  asked: string[]
  /** Each step that is executed, with the feedback that it is given. */
  executed: [key: string, feedback: string | undefined][]
  /** The rejections that led back, as `from → to`, sorted. */
  led: string[]
  rejectedEnd: boolean
  failed: boolean
}

/** A run as the rules say it, told without the interpreter. */
export function modelStory(
  drafted: Drafts,
  isRejected: (key: string) => string | undefined,
  fails: (key: string) => boolean,
): Story {
  const story: Story = { asked: [], executed: [], led: [], rejectedEnd: false, failed: false }

  function walk(
    lines: readonly Draft[][],
    place: { keys: string; names: string },
    outer: string | undefined,
  ): { failed: boolean; rejected: boolean } {
    const times = new Map<string, number>()
    const failed = new Map<string, boolean>()
    let [round, at] = [1, 0]
    let stop: 'no' | 'stopped' | 'rejected' = 'no'
    let feedback: { text: string; until: number } | undefined
    const key = (name: string) => `${place.keys}1${round === 1 ? '' : `.1.${round}`}:${name}`

    nextLine: while (at < lines.length) {
      const line = lines[at] ?? []
      const due = line
        .map((draft, index) => ({
          draft,
          name: nameOf(at, index),
          ...optionsOf(draft, at, line.length > 1),
        }))
        .filter(({ always }) => stop === 'no' || always)
      const told = feedback?.text ?? outer
      const open: typeof due = []
      for (const one of due) {
        if (one.gate) story.asked.push(key(one.name))
        const why = one.gate ? isRejected(key(one.name)) : undefined
        if (why === undefined) {
          open.push(one)
          continue
        }
        failed.set(one.name, !one.allowFailure)
        if (stop !== 'no') continue
        const count = (times.get(one.name) ?? 0) + 1
        times.set(one.name, count)
        if (one.rework === undefined || count > 3) {
          stop = 'rejected'
          open.length = 0
          break
        }
        const back = Number(/^s(\d+)/.exec(one.rework)?.[1])
        story.led.push(`${place.names}${one.name} → ${place.names}${one.rework}`)
        for (const name of failed.keys()) if (Number(name.slice(1, 2)) >= back) failed.delete(name)
        feedback = { text: why, until: at }
        round++
        at = back
        continue nextLine
      }
      for (const { name, draft, allowFailure } of open) {
        let ended = { failed: false, rejected: false }
        if (draft.inner) {
          const below = { keys: `${key(name)}/`, names: `${place.names}${name}/` }
          ended = walk(draft.inner, below, told)
        } else {
          story.executed.push([key(name), told])
          ended.failed = fails(key(name)) && (line.length === 1 || drafted.continueOnError)
        }
        const counts = ended.failed && !allowFailure
        failed.set(name, counts)
        if (stop === 'no' && ended.rejected) stop = 'rejected'
        else if (stop === 'no' && counts && !drafted.continueOnError) stop = 'stopped'
      }
      if (feedback?.until === at) feedback = undefined
      at++
    }
    return { failed: [...failed.values()].includes(true), rejected: stop === 'rejected' }
  }

  const end = walk(drafted.lines, { keys: '', names: '' }, undefined)
  return { ...story, led: story.led.toSorted(), rejectedEnd: end.rejected, failed: end.failed }
}
