import { describe, expect, it } from 'vitest'
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
    expect(session.cli(...report, '--attempt', '1').status).toBe(1)
    session.remove('done.txt')
    expect(session.cli(...report, '--attempt', '2').status).toBe(0)
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
    expect(session.standing()).toBe('')
  })
})
