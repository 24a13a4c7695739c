import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Platform } from '../../src/hooks/adapters.ts'
import type { Sender } from '../../src/rail/sender.ts'
import { firstProcess, makeSession } from './_session.ts'

const chain = {
  ship: { metadata: ['chain: |', '  publish gate guard="Bash(git push:*)"'] },
  publish: { body: 'PUBLISH IT.' },
}

/** A session whose chain waits at its gate. */
async function atGate(client?: Platform) {
  const session = makeSession(chain, client)
  await session.prompt('/ship', typed)
  return session
}

/** The marks of Qwen Code and pi. */
const typed = { more: { source: 'interactive' } }

const another: Sender = { kind: 'client', process: { pid: 2000, startedAt: 'noon' } }

describe('`rail approve`', () => {
  it('counts as a prompt if it comes from the process in which the chain started', async () => {
    const session = await atGate()
    const answer = await session.prompt('rail approve')
    expect(answer?.hookSpecificOutput?.additionalContext).toContain('PUBLISH IT.')
    expect(session.approvals()).toMatchObject([
      { channel: 'prompt', strength: 'prompted', approved: true },
    ])
    expect(await session.bash('git push')).toBeUndefined()
  })

  it.each([
    ['another process of the client', another, {}],
    ['a process that an agent started', { kind: 'agent', why: 'an agent started it' }, {}],
    ['a process that nobody can tell', { kind: 'unknown' }, {}],
    ['a schedule of the client', undefined, { origin: 'scheduled' }],
    ['a task that ended in the background', undefined, { origin: 'task_notification' }],
    ['a source that the client will have one day', undefined, { origin: 'dream' }],
    ['a subagent', undefined, { more: { agent_id: 'a1' } }],
  ] as const)('opens no gate from %s', async (_, sender, prompt) => {
    const session = await atGate()
    if (sender) session.sendAs(sender)
    await session.prompt('rail approve', prompt)
    expect(session.approvals()).toEqual([])
    session.sendAs({ kind: 'client', process: firstProcess })
    expect(await session.bash('git push')).toContain('belongs to the step')
    // The chain still waits, and the user can approve it.
    await session.prompt('rail approve')
    expect(session.approvals()).toHaveLength(1)
  })

  it('names the process from which it counts, if it comes from another one', async () => {
    const session = await atGate()
    session.sendAs(another)
    const answer = await session.prompt('rail approve')
    expect(answer?.systemMessage).toContain('does not count')
    expect(answer?.systemMessage).toContain('2000')
    expect(answer?.systemMessage).toContain(`runs show ${session.runId()}`)
  })

  it('opens no gate if the client does not report who typed it', async () => {
    const session = await atGate()
    const transcript_path = join(session.home, 'none.jsonl')
    const event = { prompt_id: 'p1', transcript_path }
    const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'rail approve' }
    await session.send({ ...prompt, ...event })
    const answer = await session.send({ hook_event_name: 'Stop', ...event })
    expect(answer?.systemMessage).toContain('runs approve')
    expect(session.approvals()).toEqual([])
  })

  it('is confirmed at the next prompt if the turn was interrupted', async () => {
    const session = await atGate()
    const prompt = { hook_event_name: 'UserPromptSubmit', prompt: 'rail approve', prompt_id: 'p1' }
    await session.send(prompt)
    expect(session.approvals()).toEqual([])
    session.noteOrigin('human', 'p1')
    const answer = await session.prompt('go on')
    expect(answer?.hookSpecificOutput?.additionalContext).toContain('PUBLISH IT.')
    expect(session.approvals()).toMatchObject([{ strength: 'prompted' }])
  })

  it('counts from a new process after the first one has ended', async () => {
    const session = await atGate()
    session.sendAs(another)
    session.end(firstProcess.pid)
    await session.prompt('rail approve')
    expect(session.approvals()).toMatchObject([{ strength: 'prompted' }])
  })

  it.each([
    ['qwen', { prompt: 'rail approve' }, { prompt: 'x', submitted_prompt: 'rail approve' }],
    ['pi', { source: 'extension' }, { source: 'interactive' }],
  ] as const)('needs the sign of a typed prompt that %s sends', async (client, other, mark) => {
    const session = await atGate(client)
    await session.prompt('rail approve', { more: other })
    expect(session.approvals()).toEqual([])
    await session.prompt('rail approve', { more: mark })
    expect(session.approvals()).toMatchObject([{ strength: 'prompted' }])
  })

  it.each(['codex', 'copilot', 'gemini', 'opencode'] as const)(
    'is accepted at once in %s, which does not report who typed it',
    async (client) => {
      const session = await atGate(client)
      await session.prompt('rail approve')
      expect(session.approvals()).toMatchObject([{ strength: 'prompted' }])
    },
  )

  it('changes nothing if no gate waits', async () => {
    const session = await atGate()
    await session.prompt('rail approve')
    const answer = await session.prompt('rail approve')
    expect(answer?.systemMessage).toContain('changed nothing')
    expect(session.standing()).toBe('working')
  })
})

it('accepts no message that changes a rail from another process', async () => {
  const session = await atGate()
  session.sendAs(another)
  for (const word of ['rail reject no', 'rail accept publish x', 'rail pause', 'rail retry']) {
    const answer = await session.prompt(word)
    expect({ word, tell: answer?.systemMessage }).toMatchObject({
      tell: expect.stringContaining('does not count'),
    })
  }
  expect(session.standing()).toBe('approval')
  const status = await session.prompt('rail status')
  expect(status?.systemMessage).toContain('approval')
})
