import { expect, it } from 'vitest'
import { readHookAnswer } from '../../../src/agent/skills/hook-format.ts'

const exit = (code: number, stdout = '', stderr = ''): Parameters<typeof readHookAnswer>[1] => ({
  end: { kind: 'exit', code },
  stdout,
  stderr,
})
const specific = (facts: object, hookEventName = 'PreToolUse'): string =>
  JSON.stringify({ hookSpecificOutput: { hookEventName, ...facts } })

it.each([
  ['nothing', exit(0), {}],
  ['plain text', exit(0, 'all is well'), {}],
  [
    'exit 2',
    exit(2, '{"decision":"approve"}', 'no!'),
    { decision: 'deny', reason: 'no!', blocks: true },
  ],
  ['allow', exit(0, specific({ permissionDecision: 'allow' })), { decision: 'allow' }],
  [
    'deny with a reason',
    exit(0, specific({ permissionDecision: 'deny', permissionDecisionReason: 'why' })),
    { decision: 'deny', reason: 'why' },
  ],
  ['ask', exit(0, specific({ permissionDecision: 'ask' })), { decision: 'ask' }],
  [
    'another event',
    exit(0, specific({ permissionDecision: 'deny' }, 'Stop')),
    { decision: undefined },
  ],
  ['the old approve', exit(0, '{"decision":"approve"}'), { decision: 'allow' }],
  [
    'the old block',
    exit(0, '{"decision":"block","reason":"r"}'),
    { decision: 'deny', reason: 'r' },
  ],
  [
    'an unknown word',
    exit(0, specific({ permissionDecision: 'perhaps' })),
    { decision: undefined },
  ],
  ['new input', exit(0, specific({ updatedInput: { a: 1 } })), { input: { a: 1 } }],
  ['input of a wrong kind', exit(0, specific({ updatedInput: 'a' })), { input: undefined }],
  [
    'continue: false',
    exit(0, '{"continue":false,"stopReason":"enough"}'),
    { decision: 'deny', ends: true, reason: 'enough' },
  ],
  ['a message', exit(0, '{"systemMessage":"hi"}'), { notices: ['hi'] }],
  ['broken JSON', exit(0, '{"a'), { notices: [expect.stringContaining('not JSON')] }],
  ['exit 1', exit(1, '', 'oops'), { notices: ['it ended with exit code 1: oops'] }],
  [
    'a time-out',
    { end: { kind: 'timeout' }, stdout: '', stderr: '' } as const,
    { notices: ['it did not finish in time'] },
  ],
])('reads the answer of a PreToolUse hook with %s', (_, end, expected) => {
  const answer = readHookAnswer('PreToolUse', end)
  expect(answer).toMatchObject(expected)
  expect(answer.decision).toBe('decision' in expected ? expected.decision : undefined)
})

it('reads a PostToolUse or Stop hook as a block with a reason, without a decision', () => {
  const block = exit(0, '{"decision":"block","reason":"tests fail"}')
  for (const event of ['PostToolUse', 'Stop'] as const) {
    expect(readHookAnswer(event, block)).toMatchObject({
      decision: undefined,
      blocks: true,
      reason: 'tests fail',
    })
    expect(readHookAnswer(event, exit(2, '', 'no'))).toMatchObject({ blocks: true, reason: 'no' })
  }
})
