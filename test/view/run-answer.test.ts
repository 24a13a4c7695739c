import { expect, it } from 'vitest'
import type { RunResult, StepResult } from '../../src/chain/engine.ts'
import { runAnswer, type ShownStep } from '../../src/view/run-answer.ts'
import { standing } from './project-saying.ts'

const step = (name: string, more: Partial<StepResult> = {}): StepResult => ({
  step: name,
  skill: name,
  status: 'cancelled',
  result: '',
  errors: [],
  metrics: {},
  evidence: null,
  startedAt: null,
  durationMs: 0,
  reason: 'the run was interrupted',
  ...more,
})
const done: Partial<StepResult> = {
  status: 'success',
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: 1500,
  reason: undefined,
}
const began = { startedAt: '2026-01-01T00:00:02.000Z' }
const chain_state = { previous_outputs: [], accumulated_errors: [], total_metrics: {} }

function resultOf(steps: StepResult[], status: RunResult['status']): RunResult {
  return {
    runId: '0run',
    skill: 'all',
    status,
    attempts: [{ attempt: 1, status, steps, chain_state }],
  }
}

it('distinguishes running, coming and interrupted steps while a run is running', () => {
  const inner = [step('group/a', done), step('group/b', began), step('group/c')]
  const steps = [step('first', done), step('group', { ...began, steps: inner }), step('last')]
  const journal = {
    ...standing(resultOf([], 'success')).journal,
    done: new Map([
      ['1:first', record],
      ['1:group/1:a', record],
    ]),
  }
  const running = runAnswer(
    standing(resultOf(steps, 'interrupted'), { journal, status: 'running' }),
  )
  expect(statusesOf(running)).toEqual([
    ['first', 'success', '1.5 s'],
    ['group', 'running', ''],
    ['group/a', 'success', '1.5 s'],
    ['group/b', 'running', ''],
    ['group/c', 'pending', ''],
    ['last', 'pending', ''],
  ])
  expect(running).toMatchObject({ status: 'running', next: [] })
  const stopped = runAnswer(standing(resultOf(steps, 'interrupted'), { journal }))
  expect(statusesOf(stopped).map(([, status]) => status)).toEqual([
    'success',
    'cancelled',
    'success',
    'cancelled',
    'cancelled',
    'cancelled',
  ])
  expect(stopped).toMatchObject({
    next: [{ what: 'Continue', line: 'skillrail runs resume 0run' }],
  })
})

it('names the command for a waiting gate', () => {
  const waiting = step('deploy it', { status: 'waiting', reason: 'waits for a user' })
  const gate = {
    type: 'gate' as const,
    key: '1:deploy it',
    step: 'deploy it',
    attempt: 1,
    planDigest: '',
    stateDigest: '',
    at: '',
  }
  const one = standing(resultOf([waiting], 'waiting'))
  one.journal.gates.set('1:deploy it', gate)
  expect(runAnswer(one)).toMatchObject({
    next: [
      { what: 'Approve deploy it', line: 'skillrail runs approve 0run' },
      { what: 'Reject deploy it', line: 'skillrail runs reject 0run' },
    ],
  })
  const signed = { settings: { rail: { approval: 'signed' } } } as const
  expect(runAnswer({ ...one, ...signed })).toMatchObject({
    next: [{ line: 'skillrail runs approve 0run --sign' }, { line: 'skillrail runs reject 0run' }],
  })
  const two = standing(resultOf([waiting, step('b', { status: 'waiting' })], 'waiting'))
  two.journal.gates.set('1:deploy it', gate).set('1:b', { ...gate, key: '1:b', step: 'b' })
  expect(runAnswer(two)).toMatchObject({
    next: [
      { line: `skillrail runs approve 0run --step 'deploy it'` },
      { line: `skillrail runs reject 0run --step 'deploy it'` },
      { line: 'skillrail runs approve 0run --step b' },
      { line: 'skillrail runs reject 0run --step b' },
    ],
  })
})

it('names the step that failed first, and the command for after the fix', () => {
  const failed = { ...done, status: 'failure' as const }
  const steps = [step('a', done), step('b', failed), step('c', failed)]
  expect(runAnswer(standing(resultOf(steps, 'failure')))).toMatchObject({
    failedFirst: 'b',
    next: [{ what: 'After a fix', line: 'skillrail runs retry 0run' }],
  })
})

it('limits the errors and metrics of a step, and the length of each', () => {
  const errors = Array.from({ length: 30 }, () => ({ code: 'e', message: 'm'.repeat(5000) }))
  const metrics = Object.fromEntries(
    Array.from({ length: 99 }, (_, at) => [`m${at}`, 'v'.repeat(999)]),
  )
  const result = resultOf([step('a', { ...done, errors, metrics })], 'success')
  const answer = runAnswer(standing(result))
  const [shown] = answer.attempts[0]?.steps ?? []
  expect(shown?.errors).toHaveLength(20)
  expect(shown?.errors[0]?.message).toHaveLength(2000)
  expect(shown?.metrics).toHaveLength(50)
  expect(shown?.metrics[0]?.[1]).toHaveLength(300)
})

it('sends the errors of an attempt that belong to no step, with the same limit', () => {
  const notStable = { code: 'not-stable', message: 'm'.repeat(5000) }
  const result = resultOf([step('a', done)], 'failure')
  const [attempt] = result.attempts
  const errors = Array.from({ length: 21 }, () => notStable)
  const attempts = attempt === undefined ? [] : [attempt, { ...attempt, attempt: 2, errors }]
  expect(runAnswer(standing({ ...result, attempts }))).toMatchObject({
    attempts: [
      { attempt: 1, errors: [] },
      {
        attempt: 2,
        errors: Array.from({ length: 20 }, () => ({ ...notStable, message: 'm'.repeat(2000) })),
      },
    ],
  })
})

const record = {
  type: 'done' as const,
  key: '',
  outcome: { kind: 'cancelled' as const, reason: '' },
  order: 0,
}

function statusesOf(answer: ReturnType<typeof runAnswer>): string[][] {
  const rows = (steps: readonly ShownStep[]): string[][] =>
    steps.flatMap((one) => [[one.step, one.status, one.time], ...rows(one.steps ?? [])])
  return answer.attempts.flatMap(({ steps }) => rows(steps))
}

it('shows that a step failed in the sandbox, and what to do', () => {
  const failed = step('fetch', {
    status: 'failure',
    reason: undefined,
    errors: [{ code: 'exit-code', message: 'exit code 1' }],
    sandbox: 'bubblewrap',
    hint: 'To allow it: skillrail trust .',
  })
  expect(runAnswer(standing(resultOf([failed], 'failure')))).toMatchObject({
    attempts: [
      {
        steps: [
          {
            said: 'in the sandbox: exit code 1',
            sandbox: 'bubblewrap',
            hint: 'To allow it: skillrail trust .',
          },
        ],
      },
    ],
  })
})

it('shows the commands that continue a run as the user of the view has to type them', () => {
  const line = (command: string, runId: string): string => `${command} ${runId} --trust-workspace`
  expect(runAnswer(standing(resultOf([], 'interrupted'), { line }))).toMatchObject({
    next: [{ what: 'Continue', line: 'runs resume 0run --trust-workspace' }],
  })
})

it('says which rejections led back, and in which round a step was due', () => {
  const result = resultOf([step('work', { ...done, round: 2 }), step('publish')], 'waiting')
  const [attempt] = result.attempts
  if (!attempt) throw new Error('there is no attempt')
  const reworks = [{ step: 'publish', to: 'work', reason: 'untested', steps: [step('work', done)] }]
  const answer = runAnswer(standing({ ...result, attempts: [{ ...attempt, reworks }] }))
  expect(answer.attempts[0]).toMatchObject({
    reworks: ['round 2: publish was rejected (untested); done again from work'],
    steps: [{ step: 'work', round: 2 }, { step: 'publish' }],
  })
})
