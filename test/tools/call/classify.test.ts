import { expect, it } from 'vitest'
import { exitCode } from '../../../src/core/errors.ts'
import type { CallFailure } from '../../../src/tools/model.ts'
import { classifyError, classifyOutcome } from '../../../src/tools/call/attempts.ts'
import { ToolCallError } from '../../../src/tools/errors.ts'
import { suggestRecovery } from '../../../src/tools/call/failure-text.ts'
import { failed, text } from './_fake.ts'

it.each([
  'Tool "nope" not found',
  'Input validation error: Invalid arguments for tool x: …',
  'Element with uid 1_2 no longer exists on the page.',
  '403 Forbidden',
  'ENOENT: no such file or directory',
  'Something broke',
  '',
])('derives no kind of failure from the text of a tool: %j', (message) => {
  expect(classifyOutcome(failed(message))).toMatchObject({ kind: 'execution', delivered: 'yes' })
  expect(classifyOutcome(text(message))).toBeUndefined()
})

it('uses the kind that the connection reports for a rejected call', () => {
  const failure: CallFailure = { kind: 'protocol', message: 'Unknown tool: x', delivered: 'yes' }
  expect(classifyError(new ToolCallError(failure))).toMatchObject(failure)
})

it('does not count a refusal or a defect as a failed attempt', () => {
  const failure: CallFailure = { kind: 'protocol', message: 'no', delivered: 'no' }
  const refusal = new ToolCallError(failure, { exitCode: exitCode.refused })
  expect(() => classifyError(refusal)).toThrow(refusal)
  expect(() => classifyError(new TypeError('x'))).toThrow(TypeError)
})

it('offers at most three next steps for every failure, with the specified step first', () => {
  expect(suggestRecovery('execution', 'database')[0]).toBe(
    'Check the connection settings of the database',
  )
  const kinds = ['execution', 'timeout', 'cancelled', 'rate-limited', 'too-large'] as const
  for (const kind of kinds) {
    for (const category of [undefined, 'browser', 'database', 'mine']) {
      expect(suggestRecovery(kind, category).length).toBeGreaterThan(0)
      expect(suggestRecovery(kind, category).length).toBeLessThanOrEqual(3)
    }
  }
})
