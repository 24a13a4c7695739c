import { mkdirSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Patience } from '../../src/rail/events.ts'
import { answerRequest } from '../../src/rail/work.ts'
import { makeSession } from './_session.ts'

const skills = {
  ship: {
    metadata: ['chain: |', '  work check="test -f done.txt"', '  publish guard="Bash(git push:*)"'],
  },
  work: {},
  publish: {},
}

/** A session in which the client stops to wait for every check at the end of a turn. */
function makeLate() {
  const patience: Patience = {
    prompt: 60_000,
    turnEnd: 60_000,
    program: async (request, runtime) => {
      const isLate = request.kind === 'turn-end'
      const { signal } = new AbortController()
      const answer = await answerRequest(request, runtime, { signal, isLate: () => isLate })
      return isLate ? undefined : answer
    },
  }
  return makeSession(skills, 'claude', patience)
}

/** Makes the working tree unreadable, for root too: its paths get longer than a path may be. */
function makeUnreadable(directory: string): void {
  const before = process.cwd()
  process.chdir(directory)
  onTestFinished(() => process.chdir(before))
  for (let depth = 0; depth < 30; depth++) {
    const name = 'd'.repeat(200)
    mkdirSync(name)
    process.chdir(name)
  }
  process.chdir(before)
}

describe('a check that succeeded after the client had stopped to wait', () => {
  it('counts for the tree that it checked, and for no other', async () => {
    const session = makeLate()
    await session.prompt('/ship')
    session.write('done.txt', '')
    await session.stop()
    expect(session.standing()).toBe('checked')
    session.remove('done.txt')
    await session.prompt('And now?')
    expect(session.standing()).toBe('working')
    expect(await session.bash('git push')).toContain('belongs to the step')
  })

  it('does not count if nobody can say what it checked, and the user decides', async () => {
    const session = makeLate()
    await session.prompt('/ship')
    session.write('done.txt', '')
    makeUnreadable(session.directory)
    await session.stop()
    expect(session.standing()).toBe('check-failed')
    session.remove('done.txt')
    const next = await session.prompt('And now?')
    expect(next?.hookSpecificOutput?.additionalContext).toContain('cannot be compared')
    expect(await session.bash('git push')).toContain('belongs to the step')
    const accepted = await session.prompt('rail accept work I looked at it')
    expect(accepted?.hookSpecificOutput?.additionalContext).toContain('`publish`')
  })
})
