import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addUsage, UsageLedger, noUsage, subtractUsage } from '../../../src/agent/usage.ts'
import type { TokenUsage, UsageEntry } from '../../../src/agent/types.ts'

const tokens = fc.nat({ max: 1_000_000 })
const usage: fc.Arbitrary<TokenUsage> = fc.record({
  inputTokens: tokens,
  outputTokens: tokens,
  cachedInputTokens: tokens,
  reasoningTokens: tokens,
  requests: fc.nat({ max: 5 }),
})
const entry: fc.Arbitrary<UsageEntry> = fc.record({
  model: fc.constantFrom('small', 'large', '__proto__'),
  agent: fc.constantFrom('main', 'finder', 'constructor'),
  delegation: fc.option(fc.constantFrom('d1', 'd2'), { nil: undefined }),
  usage,
})

describe('a ledger', () => {
  it('is empty at first', () => {
    expect(new UsageLedger().report()).toEqual({
      total: noUsage,
      own: noUsage,
      descendants: noUsage,
      byModel: {},
      byAgent: {},
      byDelegation: {},
      entries: [],
    })
  })

  it('has the same total in every direction', () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const ledger = new UsageLedger()
        for (const one of entries) ledger.record(one)
        const { total, own, descendants, byModel, byAgent, byDelegation } = ledger.report()
        const sum = addUsage(...entries.map((one) => one.usage))
        expect(total).toEqual(sum)
        expect(addUsage(own, descendants)).toEqual(sum)
        expect(addUsage(...Object.values(byModel))).toEqual(sum)
        expect(addUsage(...Object.values(byAgent))).toEqual(sum)
        expect(addUsage(...Object.values(byDelegation))).toEqual(descendants)
        expect(subtractUsage(total, own)).toEqual(descendants)
      }),
    )
  })

  it('has one entry for each model, agent and delegation, in the order of their first calls', () => {
    const keyOf = ({ model, agent, delegation }: UsageEntry): string =>
      JSON.stringify([model, agent, delegation])
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const ledger = new UsageLedger()
        for (const one of entries) ledger.record(one)
        const keys = [...new Set(entries.map(keyOf))]
        expect(ledger.report().entries.map(keyOf)).toEqual(keys)
        for (const { usage: sum, ...booked } of ledger.report().entries) {
          const parts = entries.filter((one) => keyOf(one) === keyOf({ ...booked, usage: sum }))
          expect(sum).toEqual(addUsage(...parts.map((one) => one.usage)))
        }
      }),
    )
  })

  it('does not change an earlier report', () => {
    const ledger = new UsageLedger()
    const one = { model: 'm', agent: 'main', usage: { ...noUsage, requests: 1 } }
    ledger.record(one)
    const before = ledger.report()
    ledger.record(one)
    expect(before.total.requests).toBe(1)
    expect(ledger.report().entries).toHaveLength(1)
  })
})
