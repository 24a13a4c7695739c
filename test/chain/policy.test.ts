import { describe, expect, it } from 'vitest'
import { checkPolicy, parsePolicySetting } from '../../src/chain/policy.ts'
import { defaultChainPolicy } from '../../src/skill/declarations.ts'
import type { ChainPolicy } from '../../src/skill/model.ts'

describe('the parser of a chain setting', () => {
  it.each([
    ['retry_count=3', { retryCount: 3 }],
    ['retry_count= 123456789 ', { retryCount: 123_456_789 }],
    ['timeout=0', { timeout: 0 }],
    ['parallel_limit=1', { parallelLimit: 1 }],
    ['async=true', { async: true }],
    ['async=false', { async: false }],
    ['early_exit_on=critical', { earlyExitOn: 'critical' }],
  ])('reads %s', (text, expected) => {
    expect(parsePolicySetting(text)).toEqual(expected)
  })

  it.each([
    ['parallel_limit=0', '--set parallel_limit=0: parallel_limit must be a whole number from 1'],
    ['timeout=1234567890', 'timeout must be a whole number from 0'],
    ['timeout=-1', 'timeout must be a whole number from 0'],
    ['timeout=x5', 'timeout must be a whole number from 0'],
    ['timeout=5x', 'timeout must be a whole number from 0'],
    ['timeout=1=2', 'timeout must be a whole number from 0'],
    ['timeout', 'timeout must be a whole number from 0'],
    ['async=yes', '--set async=yes: async must be true or false'],
    ['early_exit_on=x', 'early_exit_on must be none, failure, success or critical'],
  ])('refuses the value in %s', (text, message) => {
    expect(refusal(text)).toMatchObject({
      code: 'wrong-use',
      message: expect.stringContaining(message),
    })
  })

  it.each([
    ['retry_cout=1', 'Did you mean retry_count?'],
    ['retryCount=1', 'Did you mean retry_count?'],
    ['colour=1', 'Known are async, '],
    ['chain=1', 'Known are async, '],
  ])('refuses the unknown setting in %s', (text, hint) => {
    expect(refusal(text)).toMatchObject({
      code: 'wrong-use',
      message: `--set ${text.split('=')[0]} is not a setting of a chain`,
      hint: expect.stringContaining(hint),
    })
  })

  function refusal(text: string): unknown {
    try {
      return parsePolicySetting(text)
    } catch (error) {
      return error
    }
  }
})

describe('the check of a policy', () => {
  it.each<[Partial<ChainPolicy>, string, string, string]>([
    [{ raceMode: true }, 'race-without-async', 'error', 'Set async: true, or remove race_mode.'],
    [
      { continueOnSuccess: true, async: true },
      'continue-on-success-with-async',
      'error',
      'Remove one of the two.',
    ],
    [
      { raceMode: true, async: true, continueOnError: false },
      'race-ignores-stop-conditions',
      'warning',
      'Remove them.',
    ],
    [
      { raceMode: true, async: true, earlyExitOn: 'failure' },
      'race-ignores-stop-conditions',
      'warning',
      'Remove them.',
    ],
  ])('reports %j as %s', (policy, code, severity, hint) => {
    const [found, ...others] = check(policy)
    expect(found).toMatchObject({ code, severity, hint, path: 'SKILL.md', line: 4 })
    expect(found?.message).toMatch(/race_mode|continue_on_success/)
    expect(others).toEqual([])
  })

  it.each<Partial<ChainPolicy>>([
    {},
    { raceMode: true, async: true },
    { async: true, continueOnError: false, earlyExitOn: 'failure' },
    { continueOnSuccess: true },
  ])('accepts %j', (policy) => {
    expect(check(policy)).toEqual([])
  })

  function check(policy: Partial<ChainPolicy>) {
    const declared = { ...defaultChainPolicy, ...policy }
    return checkPolicy({ policy: declared, steps: [], gates: [], line: 4 }, 'SKILL.md')
  }
})
