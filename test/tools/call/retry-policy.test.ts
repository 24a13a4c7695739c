import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  decideRetry,
  type FailureKind,
  type RetrySettings,
} from '../../../src/tools/call/attempts.ts'
import { readsOnly } from '../../../src/tools/cache/tool-index.ts'
import { isReplaySafe } from '../../../src/tools/call/call-tool.ts'
import type { ToolAnnotations } from '../../../src/tools/model.ts'

const pointless: readonly FailureKind[] = [
  'tool-not-found',
  'invalid-parameters',
  'too-large',
  'cancelled',
]
const others: readonly FailureKind[] = [
  'server-unavailable',
  'timeout',
  'connection-lost',
  'protocol',
  'rate-limited',
  'execution',
]
const delivered = ['no', 'unknown', 'yes'] as const

const attempts = fc.record({
  kind: fc.constantFrom(...pointless, ...others),
  delivered: fc.constantFrom(...delivered),
  attempt: fc.integer({ min: 1, max: 12 }),
  replaySafe: fc.boolean(),
  waitsMs: fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 9 }),
})

it.each(
  others.flatMap((kind) =>
    delivered.flatMap((where) => [true, false].map((safe) => [kind, where, safe] as const)),
  ),
)('%s, delivered %s, replay-safe %s', (kind, where, replaySafe) => {
  const facts = { kind, delivered: where, replaySafe, attempt: 1, waitsMs: [0, 1000] }
  expect(decideRetry(facts)).toBe(where === 'no' || replaySafe ? 0 : 'unsafe')
})

it.each(pointless)('%s is never tried again', (kind) => {
  const facts = { kind, delivered: 'no', replaySafe: true, attempt: 1, waitsMs: [0, 1000] } as const
  expect(decideRetry(facts)).toBe('pointless')
})

it('does not wait, then waits a second, and stops after the third attempt', () => {
  const facts = { kind: 'execution', delivered: 'yes', replaySafe: true } as const
  const waits = [1, 2, 3].map((attempt) => decideRetry({ ...facts, attempt, waitsMs: [0, 1000] }))
  expect(waits).toEqual([0, 1000, 'exhausted'])
})

it('never repeats a call that may have changed something and is not replay-safe, in any other case', () => {
  fc.assert(
    fc.property(attempts, (facts) => {
      const isRetry = typeof decideRetry(facts) === 'number'
      expect(isRetry && !facts.replaySafe && facts.delivered !== 'no').toBe(false)
    }),
  )
})

it('always ends, with at most as many repetitions as waits', () => {
  fc.assert(
    fc.property(attempts, (facts) => {
      const isOver = facts.attempt > facts.waitsMs.length
      expect(typeof decideRetry(facts) === 'number' && isOver).toBe(false)
    }),
  )
})

const settings: RetrySettings = { waitsMs: [], replaySafe: [], neverReplay: [] }

it.each<[string, ToolAnnotations | undefined, boolean, boolean]>([
  ['get_issue', undefined, true, true],
  ['get_issue', undefined, false, true],
  ['listPages', undefined, true, true],
  ['create_issue', undefined, true, false],
  ['execute_query', undefined, true, false],
  ['query', undefined, true, false],
  ['get_or_create_user', undefined, true, false],
  ['find_and_replace', undefined, true, false],
  ['create_issue', { readOnlyHint: true }, true, true],
  ['create_issue', { readOnlyHint: true }, false, false],
  ['create_issue', { idempotentHint: true }, true, true],
  ['create_issue', { idempotentHint: true }, false, false],
  ['get_issue', { readOnlyHint: false }, true, false],
  ['get_issue', { readOnlyHint: false }, false, false],
  ['get_issue', { destructiveHint: true }, false, false],
])('%s with %o, trusted %s: replay-safe is %s', (name, annotations, trusted, expected) => {
  expect(isReplaySafe({ id: `s__${name}`, name, annotations }, trusted, settings)).toBe(expected)
})

it('prefers the user to every hint, and trusts a setting of the user only after approval', () => {
  const tool = { id: 's__create_issue', name: 'create_issue' }
  expect(isReplaySafe(tool, false, { ...settings, replaySafe: ['s__*'] })).toBe(true)
  const both = { ...settings, replaySafe: ['s__create_issue'], neverReplay: ['*__create_*'] }
  expect(isReplaySafe(tool, true, both)).toBe(false)
  const reading = { id: 's__get', name: 'get' }
  expect(isReplaySafe(reading, true, { ...settings, neverReplay: ['s__get'] })).toBe(false)
})

it('treats an idempotent write as replay-safe, but not as a tool that only reads', () => {
  const tool = { name: 'set_label', annotations: { idempotentHint: true } }
  expect(readsOnly(tool, true)).toBe(false)
})
