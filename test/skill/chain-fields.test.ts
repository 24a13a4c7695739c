import { describe, expect, it } from 'vitest'
import { codesOf, fieldsOf } from './_fields-of.ts'

const chainOf = (source: string) => fieldsOf(source).fields.chain
const chain = 'metadata:\n  chain: "test-unit test-e2e"'

describe('a chain', () => {
  it('has the documented defaults', () => {
    const source = 'metadata:\n  chain:\n    - test-unit\n    - e2e/smoke # quick'
    expect(chainOf(source)).toEqual({
      steps: [
        { name: 'test-unit', line: 4 },
        { name: 'e2e/smoke', line: 5 },
      ],
      policy: {
        async: false,
        continueOnError: true,
        timeout: 0,
        maxDepth: 10,
        parallelLimit: 5,
        validateOnLoad: true,
        cleanupAfter: false,
        earlyExitOn: 'none',
        continueOnSuccess: false,
        passState: true,
        retryCount: 1,
        retryUntil: 'none',
        raceMode: false,
      },
      gates: [],
      line: 3,
    })
    expect(codesOf(source)).toEqual([])
  })

  it.each(['"a b"', 'a, b', '[a, b]', '"a,b"', '\n  - a\n  - b', '>\n    a\n    b'])(
    'can also be written as %j',
    (form) => {
      expect(chainOf(`metadata:\n  chain: ${form}`)?.steps.map(({ name }) => name)).toEqual([
        'a',
        'b',
      ])
    },
  )

  it.each([
    ['async: true', { async: true }],
    ['async: "true"', { async: true }],
    ['continue_on_error: "false"', { continueOnError: false }],
    ['timeout: 30', { timeout: 30 }],
    ['timeout: "30"', { timeout: 30 }],
    ['max_depth: 1', { maxDepth: 1 }],
    ['parallel_limit: "2"', { parallelLimit: 2 }],
    ['validate_on_load: no', { validateOnLoad: false }],
    ['cleanup_after: on', { cleanupAfter: true }],
    ['early_exit_on: critical', { earlyExitOn: 'critical' }],
    ['continue_on_success: 1', { continueOnSuccess: true }],
    ['pass_state: false', { passState: false }],
    ['retry_count: 3', { retryCount: 3 }],
    ['retry_until: "stable"', { retryUntil: 'stable' }],
    ['race_mode: true', { raceMode: true }],
  ])('accepts %j', (line, policy) => {
    expect(chainOf(`${chain}\n  ${line}`)?.policy).toMatchObject(policy)
    expect(codesOf(`${chain}\n  ${line}`)).toEqual([])
  })

  it.each([
    ['timeout: -1', 'field-value:4'],
    ['timeout: 1.5', 'field-type:4'],
    ['timeout: "5s"', 'field-type:4'],
    ['timeout: 99999999999999999999', 'field-value:4'],
    ['timeout: "9007199254740992"', 'field-value:4'],
    ['timeout: [5]', 'field-type:4'],
    ['max_depth: 0', 'field-value:4'],
    ['parallel_limit: 0', 'field-value:4'],
    ['retry_count: 0', 'field-value:4'],
    ['async: perhaps', 'field-type:4'],
    ['early_exit_on: failed', 'field-value:4'],
    ['retry_until: 3', 'field-value:4'],
    ['continue_on_eror: false', 'chain-unknown-key:4'],
    ['continueOnError: false', 'chain-unknown-key:4'],
    ['max-depth: 3', 'chain-unknown-key:4'],
    ['gates: deploy', 'chain-gate-unknown:4'],
    ['gates:\n    x: y', 'field-type:5'],
  ])('reports %j as %s', (line, code) => {
    expect(codesOf(`${chain}\n  ${line}`)).toEqual([code])
  })

  it('suggests the nearest policy', () => {
    const { diagnostics } = fieldsOf(`${chain}\n  continue_on_eror: false`)
    expect(diagnostics[0]?.hint).toBe('Did you mean continue_on_error?')
  })

  it("leaves the author's metadata unchanged", () => {
    expect(codesOf(`${chain}\n  author: vant\n  version: "1.0"\n  tags: a`)).toEqual([])
  })

  it('has gates, by name or as a list', () => {
    expect(chainOf(`${chain}\n  gates: test-e2e`)?.gates).toEqual(['test-e2e'])
    expect(chainOf(`${chain}\n  gates: [test-unit, test-e2e]`)?.gates).toEqual([
      'test-unit',
      'test-e2e',
    ])
  })

  it.each([
    ['"../audit"', 'chain-step-name:3'],
    ['/absolute', 'chain-step-name:3'],
    ['"a//b"', 'chain-step-name:3'],
    ['"./a"', 'chain-step-name:3'],
    ["'a\\b'", 'chain-step-name:3'],
    ['""', 'chain-empty:3'],
    ['[]', 'chain-empty:3'],
    ['', 'chain-empty:3'],
  ])('reports %s as %s', (form, code) => {
    expect(codesOf(`metadata:\n  chain: ${form}`)).toEqual([code])
  })

  it('keeps a step with a forbidden name, so that the rest does not run without it', () => {
    expect(chainOf('metadata:\n  chain: a ../b c')?.steps).toHaveLength(3)
  })

  it('is refused as a map', () => {
    const source = 'metadata:\n  chain:\n    a: b'
    expect(chainOf(source)).toBeUndefined()
    expect(codesOf(source)).toEqual(['field-type:4'])
  })

  it('has its policy only beside the steps', () => {
    expect(codesOf('metadata:\n  timeout: "quick"\n  gates: x')).toEqual([])
  })
})
