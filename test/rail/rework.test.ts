import { describe, expect, it } from 'vitest'
import { runCommand } from '../chain/_command.ts'
import { makeSession } from './_session.ts'

const ship = {
  ship: {
    metadata: [
      'chain: |',
      '  implement check="test -f done.txt"',
      '  publish gate rework=implement guard="Bash(git push:*)"',
      '  tag guard="Bash(git tag:*)"',
    ],
  },
  implement: { body: 'Write done.txt.' },
  publish: { body: 'Push the branch.' },
  tag: { body: 'Tag it.' },
}

/** A rail that waits at the gate of `publish`. */
async function waitingRail() {
  const session = makeSession(ship)
  await session.prompt('/ship')
  session.write('done.txt', 'x')
  const waiting = await session.stop('Done.')
  return { session, line: waiting?.systemMessage ?? '' }
}

describe('a gate of a rail that a user rejects', () => {
  it('hands out the step of its `rework` again with the reason, and checks it again', async () => {
    const { session, line } = await waitingRail()
    expect(line).toContain('A rejection leads back to implement.')
    const rejected = await session.prompt('rail reject the tests are missing')
    const context = rejected?.hookSpecificOutput?.additionalContext ?? ''
    expect(context).toContain('Do only this step now: `implement`')
    expect(context).toContain('The reason: the tests are missing')
    expect(await session.bash('git push')).toContain('belongs to the step `publish`')
    const compacted = await session.send({ hook_event_name: 'SessionStart', source: 'compact' })
    expect(compacted?.hookSpecificOutput?.additionalContext).toContain('the tests are missing')

    session.remove('done.txt')
    expect(await session.stop('Done again.')).toMatchObject({ decision: 'block' })
    session.write('done.txt', 'y')
    const waiting = await session.stop('Really.')
    expect(waiting?.systemMessage).toContain('waits for your approval of publish')
    expect(await session.bash('git push')).toContain('belongs to the step `publish`')

    const approved = await session.prompt('rail approve')
    expect(approved?.hookSpecificOutput?.additionalContext).toContain('Push the branch.')
    expect(await session.bash('git push')).toBeUndefined()
    expect(await session.bash('git tag v1')).toContain('belongs to the step `tag`')
  })

  it('accepts no report about the void execution', async () => {
    const { session } = await waitingRail()
    await session.prompt('rail reject again')
    const report = [
      'chain',
      'report',
      session.runId(),
      '--step',
      'implement',
      '--status',
      'success',
    ]
    expect((await session.cli(...report, '--attempt', '1')).code).toBe(1)
    session.remove('done.txt')
    expect((await session.cli(...report, '--attempt', '2')).code).toBe(0)
    expect(await session.stop()).toMatchObject({ decision: 'block' })
  })

  it('ends the chain at the fourth rejection', async () => {
    const { session } = await waitingRail()
    for (const round of [2, 3, 4]) {
      const again = await session.prompt(`rail reject round ${round}`)
      expect(again?.hookSpecificOutput?.additionalContext).toContain('`implement`')
      await session.stop('Done.')
    }
    const ended = await session.prompt('rail reject enough')
    expect(ended?.systemMessage).toContain('has ended: failure')
    expect(session.standing()).toBe('failed')
  })
})

/** A decision in a terminal of the user. */
async function decide(
  session: ReturnType<typeof makeSession>,
  decision: 'approve' | 'reject',
  ...more: readonly string[]
): Promise<void> {
  const args = ['runs', decision, session.runId(), ...more]
  await runCommand(`runs ${decision}`, args, session, { answer: 'y' })
}

describe('a gate about which a user decides in a terminal', () => {
  it('hands out the step of its `rework` with the next prompt', async () => {
    const { session } = await waitingRail()
    await decide(session, 'reject', '--reason', 'the tests are missing')
    const context = await session.prompt('go on')
    const text = context?.hookSpecificOutput?.additionalContext ?? ''
    expect(text).toContain('The user rejected: the tests are missing')
    expect(text).toContain('Do only this step now: `implement`')
    session.remove('done.txt')
    expect(await session.stop()).toMatchObject({ decision: 'block' })
  })

  it.each(['rail approve', 'rail status'])(
    'ignores the prompt `%s` for what is decided',
    async (words) => {
      const { session } = await waitingRail()
      await decide(session, 'reject', '--reason', 'no')
      const context = await session.prompt(words)
      expect(context?.hookSpecificOutput?.additionalContext).toContain('The user rejected: no')
      expect(session.standing()).toBe('working')
    },
  )

  it('tells the agent with its next call, and when it ends its turn', async () => {
    const first = await waitingRail()
    await decide(first.session, 'reject', '--reason', 'not yet')
    const call = { tool_name: 'Read', tool_input: { file_path: 'a' }, tool_use_id: 'x' }
    const after = await first.session.send({ hook_event_name: 'PostToolUse', ...call })
    expect(after?.hookSpecificOutput?.additionalContext).toContain('The user rejected: not yet')
    const second = await waitingRail()
    await decide(second.session, 'reject', '--reason', 'not yet')
    const stopped = await second.session.stop()
    expect(stopped).toMatchObject({ decision: 'block' })
    expect(stopped?.reason).toContain('Do only this step now: `implement`')
  })

  it('allows the guarded call only after the agent has the approved step', async () => {
    const { session } = await waitingRail()
    await decide(session, 'approve')
    const denied = await session.bash('git push')
    expect(denied).toContain('The user approved.')
    expect(denied).toContain('Push the branch.')
    expect(await session.bash('git push')).toBeUndefined()
  })

  it('ends the chain without `rework`, and the agent learns it', async () => {
    const session = makeSession({
      ship: { metadata: ['chain: |', '  publish gate guard="Bash(git push:*)"'] },
      publish: {},
    })
    await session.prompt('/ship')
    await decide(session, 'reject', '--reason', 'never')
    const ended = await session.prompt('go on')
    expect(ended?.systemMessage).toContain('has ended: failure')
    expect(session.standing()).toBe('failed')
    expect(await session.bash('git push')).toContain('belongs to the step')
  })
})
