import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeSession } from './_session.ts'

const ship = {
  ship: {
    metadata: [
      'chain: |',
      '  work check="test -f done.txt" tools="Read" max-blocks=1',
      '  publish gate guard="Bash(git push:*)"',
    ],
  },
  work: { body: 'WORK ON IT.' },
  publish: { body: 'PUBLISH IT.' },
}

/** Every word with which a user decides. */
const decisions = [
  'rail approve',
  'rail reject not today',
  'rail accept work it is fine',
  'rail pause',
  'rail resume',
  'rail retry',
]

type Session = ReturnType<typeof makeSession>

/** Prompts of which nobody knows that a user typed them. Each returns the last answer to the prompt. */
const doubtful: Readonly<Record<string, (session: Session, prompt: string) => Promise<unknown>>> = {
  'a process that nobody can tell': async (session, prompt) => {
    session.sendAs({ kind: 'unknown' })
    return await session.prompt(prompt)
  },
  'a prompt without an ID in Claude Code': async (session, prompt) =>
    await session.send({ hook_event_name: 'UserPromptSubmit', prompt }),
  'a prompt whose origin Claude Code does not say': async (session, prompt) => {
    const event = { prompt_id: 'p1', transcript_path: join(session.home, 'none.jsonl') }
    await session.send({ hook_event_name: 'UserPromptSubmit', prompt, ...event })
    return await session.send({ hook_event_name: 'Stop', ...event })
  },
  'a schedule of Claude Code': async (session, prompt) =>
    await session.prompt(prompt, { origin: 'scheduled' }),
}

describe.each(Object.entries(doubtful))('%s', (_, type) => {
  it.each(decisions)('does not decide with %s', async (prompt) => {
    const session = makeSession(ship)
    await session.prompt('/ship')
    await session.stop()
    await session.stop()
    expect(session.standing()).toBe('check-failed')
    const answer = JSON.stringify(await type(session, prompt))
    expect(answer).toContain('does not count')
    expect(session.standing()).toBe('check-failed')
    expect(await session.bash('git push')).toContain('belongs to the step')
    expect(await session.bash('ls')).toContain('allows only')
  })
})

it('says in which terminal command the same decision is possible', async () => {
  const session = makeSession(ship, 'codex')
  await session.prompt('$ship')
  session.sendAs({ kind: 'unknown' })
  const line = async (word: string): Promise<string> =>
    (await session.prompt(word))?.systemMessage ?? ''
  const runId = session.runId()
  expect(await line('rail approve')).toContain(`skillrail runs approve ${runId}`)
  expect(await line('rail reject no')).toContain(`skillrail runs reject ${runId}`)
  expect(await line('rail retry')).toContain(`skillrail rail retry --run ${runId}`)
  expect(await line('rail status')).toContain('step work')
})

describe('background tasks of the session', () => {
  const tasks = { background_tasks: [{ id: 'b1', command: 'npm run dev' }] }

  it('delay the check, about which the user is told once', async () => {
    const session = makeSession(ship)
    await session.prompt('/ship')
    const told = await session.stop('Done.', tasks)
    expect(told?.decision).toBeUndefined()
    expect(told?.systemMessage).toContain('nothing is checked while tasks')
    expect(await session.stop('Done.', tasks)).toBeUndefined()
    expect((await session.prompt('rail status'))?.systemMessage).toContain('nothing is checked')
    // The client says when they have ended, in a turn that does nothing else.
    await session.prompt('A task has ended.')
    expect((await session.stop('I see.'))?.reason).toContain('is not done')
  })

  it('delay nothing any more after `rail retry`, until the step is done', async () => {
    const session = makeSession(ship)
    await session.prompt('/ship')
    await session.stop('Done.', tasks)
    const again = await session.prompt('rail retry')
    expect(again?.hookSpecificOutput?.additionalContext).toContain('WORK ON IT.')
    expect((await session.stop('Done.', tasks))?.reason).toContain('is not done')
    session.write('done.txt', '')
    expect((await session.stop('Done.', tasks))?.systemMessage).toContain('waits for your approval')
  })

  it('do not delay what a user has decided', async () => {
    const session = makeSession(ship)
    await session.prompt('/ship')
    session.write('done.txt', '')
    await session.stop()
    const event = { hook_event_name: 'UserPromptSubmit', prompt: 'rail approve', prompt_id: 'p1' }
    await session.send(event)
    session.noteOrigin('human', 'p1')
    expect((await session.stop('Done.', tasks))?.reason).toContain('PUBLISH IT.')
  })
})
