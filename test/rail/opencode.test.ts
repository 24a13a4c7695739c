import { describe, expect, it } from 'vitest'
import { makeSession } from './_session.ts'

const ship = {
  ship: {
    metadata: [
      'chain: |',
      '  implement check="test -f done.txt" max-blocks=1',
      '  publish gate guard="Bash(git push:*)"',
    ],
  },
  implement: {},
  publish: {},
}

// The plugin of OpenCode asks the model once more at the end of each turn in which `rail` was true.
describe('a rail in OpenCode', () => {
  it('continues the agent while it has a step, and not while a gate waits', async () => {
    const session = makeSession(ship, 'opencode')
    expect(await session.prompt('/ship')).toMatchObject({ rail: true })
    session.write('done.txt', 'x')
    expect(await session.stop()).toMatchObject({ rail: false })
    expect(session.standing()).toBe('approval')
    expect(await session.prompt('What waits here?')).toMatchObject({ rail: false })
    expect(await session.prompt('rail approve')).toMatchObject({ rail: true })
  })

  it('does not continue the agent while the rail waits after failed checks or is paused', async () => {
    const session = makeSession(ship, 'opencode')
    await session.prompt('/ship')
    while (session.standing() === 'working') await session.stop()
    expect(session.standing()).toBe('check-failed')
    expect(await session.prompt('Why?')).toMatchObject({ rail: false })
    expect(await session.prompt('rail retry')).toMatchObject({ rail: true })
    expect(await session.prompt('rail pause')).toMatchObject({ rail: false })
    expect(await session.prompt('rail resume')).toMatchObject({ rail: true })
  })
})
