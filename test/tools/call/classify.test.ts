import fc from 'fast-check'
import { expect, it } from 'vitest'
import { exitCode } from '../../../src/core/errors.ts'
import type { CallFailure } from '../../../src/tools/model.ts'
import {
  classifyError,
  classifyOutcome,
  type FailureKind,
} from '../../../src/tools/call/attempts.ts'
import { ToolCallError } from '../../../src/tools/errors.ts'
import { suggestRecovery } from '../../../src/tools/call/failure-text.ts'
import { failed } from './_fake.ts'

it.each<[string, FailureKind]>([
  ['Tool "nope" not found', 'tool-not-found'],
  ['Unknown tool: nope', 'tool-not-found'],
  ['MCP error -32602: Tool nope not found', 'tool-not-found'],
  ['Input validation error: Invalid arguments for tool x: …', 'invalid-parameters'],
  ['Invalid arguments: database: Invalid input: expected string', 'invalid-parameters'],
  ['Missing required parameter: owner', 'invalid-parameters'],
  ['No snapshot found for page 1. Use take_snapshot to capture one.', 'element-missing'],
  ['Element with uid 1_2 no longer exists on the page.', 'element-missing'],
  ['API rate limit exceeded', 'rate-limited'],
  ['HTTP 429', 'rate-limited'],
  ['403 Forbidden', 'permission-denied'],
  ['Bad credentials', 'permission-denied'],
  ['EACCES: permission denied, open x', 'permission-denied'],
  ['Access denied - path outside allowed directories', 'permission-denied'],
  ['ENOENT: no such file or directory', 'not-found'],
  ['404 repository not found', 'not-found'],
  ['Something broke', 'execution'],
  ['', 'execution'],
])('an answer with the error %j is %s', (message, kind) => {
  expect(classifyOutcome(failed(message))).toMatchObject({ kind, delivered: 'yes' })
})

it('reads only the beginning of an error', () => {
  expect(classifyOutcome(failed(`${'x '.repeat(400)} unknown tool`))?.kind).toBe('execution')
})

it('takes a refusal by the protocol for one that did nothing', () => {
  const failure: CallFailure = {
    kind: 'protocol',
    message: 'MCP error -32602: Unknown tool: x',
    delivered: 'yes',
  }
  expect(classifyError(new ToolCallError(failure))).toMatchObject({
    kind: 'tool-not-found',
    delivered: 'no',
  })
  expect(classifyError(new ToolCallError({ ...failure, message: 'boom' }))).toMatchObject({
    kind: 'protocol',
    delivered: 'yes',
  })
})

it('does not take a refusal or a defect for a failed attempt', () => {
  const failure: CallFailure = { kind: 'protocol', message: 'no', delivered: 'no' }
  const refusal = new ToolCallError(failure, { exitCode: exitCode.refused })
  expect(() => classifyError(refusal)).toThrow(refusal)
  expect(() => classifyError(new TypeError('x'))).toThrow(TypeError)
})

it('has a next step for every failure, the category’s own first', () => {
  expect(suggestRecovery('element-missing', 'Element not found', 'browser')).toEqual([
    'Run take_snapshot to refresh the uids',
    'Scroll to or hover the element first',
  ])
  expect(suggestRecovery('not-found', '404 not found', 'github')[0]).toBe(
    'Verify the spelling of owner and repo',
  )
  fc.assert(
    fc.property(
      fc.constantFrom<FailureKind>('execution', 'timeout', 'cancelled', 'rate-limited'),
      fc.string(),
      fc.option(fc.constantFrom('browser', 'github', 'graphql', 'docs', 'database'), {
        nil: undefined,
      }),
      (kind, message, category) => {
        expect(suggestRecovery(kind, message, category).length).toBeGreaterThan(0)
        expect(suggestRecovery(kind, message, category).length).toBeLessThanOrEqual(3)
      },
    ),
  )
})
