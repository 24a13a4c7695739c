import { describe, expect, it } from 'vitest'
import { runCommand } from '../chain/_command.ts'
import { makeSession } from './_session.ts'

const ship = {
  ship: {
    metadata: [
      'chain: |',
      '  work check="test -f done.txt" max-blocks=0',
      '  publish gate guard="Bash(git push:*)"',
    ],
  },
  work: { body: 'WORK ON IT.' },
  publish: {},
  broken: { metadata: ['chain: |', '  missing', '  publish guard="Bash(git push:*)"'] },
}
const yes = { answer: 'y' }

/** A chain whose check has failed, in a client whose processes nobody can read. */
async function afterFailedCheck() {
  const session = makeSession(ship)
  await session.prompt('/ship')
  await session.stop()
  session.sendAs({ kind: 'unknown' })
  expect(session.standing()).toBe('check-failed')
  const rail = (words: readonly string[], fixture: object = yes) =>
    runCommand('rail', words, session, fixture)
  return { session, rail }
}

describe('`skillrail rail` at a terminal', () => {
  it('gives new attempts, which the session learns with the next prompt', async () => {
    const { session, rail } = await afterFailedCheck()
    const { code, lines } = await rail(['retry'])
    expect({ code, line: lines[0] }).toEqual({ code: 0, line: expect.stringContaining('`work`') })
    const next = await session.prompt('go on')
    expect(next?.hookSpecificOutput?.additionalContext).toContain('WORK ON IT.')
    session.write('done.txt', '')
    expect((await session.stop())?.systemMessage).toContain('waits for your approval')
  })

  it('accepts a step, pauses and resumes the chain, and says where it stands', async () => {
    const { session, rail } = await afterFailedCheck()
    const run = ['--run', session.runId()]
    expect((await rail(['pause', ...run])).code).toBe(0)
    expect(session.standing()).toBe('paused')
    expect((await rail(['resume', ...run])).code).toBe(0)
    expect(session.standing()).toBe('working')
    expect((await rail(['accept', 'work', 'it is fine'])).code).toBe(0)
    expect(session.standing()).toBe('approval')
    expect((await rail(['status'], {})).lines[0]).toContain('ship: approval')
  })

  it.each([
    ['without a terminal', {}, 'rail-needs-terminal'],
    ['without a yes', { answer: 'n' }, 'rail-not-confirmed'],
    ['below an agent client', { ...yes, env: { CLAUDECODE: '1' } }, 'below-agent-client'],
  ])('changes nothing %s', async (_, fixture, code) => {
    const { session, rail } = await afterFailedCheck()
    expect((await rail(['accept', 'work', 'fine'], fixture)).error).toMatchObject({ code })
    expect(session.standing()).toBe('check-failed')
  })

  it.each([
    [['approve'], 'runs approve'],
    [['accept', 'work'], 'accept STEP WHY'],
    [['restart'], 'Words: status'],
    [['retry', '--run', 'nothing'], 'runs list'],
  ])('explains %j, which it does not do', async (words, help) => {
    const { rail } = await afterFailedCheck()
    const { error, code } = await rail(words)
    expect(code).not.toBe(0)
    expect(`${error?.message} ${error?.hint}`).toContain(help)
  })

  it('says where the chain stands without a word', async () => {
    const { rail } = await afterFailedCheck()
    const [{ code, lines }, status] = [await rail([]), await rail(['status'])]
    expect({ code, lines }).toEqual({ code: 0, lines: status.lines })
  })

  it('names the chains if there are several', async () => {
    const { session, rail } = await afterFailedCheck()
    await rail(['retry'])
    session.sendAs({ kind: 'client', process: { pid: 1000, startedAt: 'morning' } })
    session.use('s2')
    await session.prompt('/ship')
    expect((await rail(['retry'])).error).toMatchObject({ code: 'rail-ambiguous' })
    const { code, lines } = await rail([])
    expect(code).toBe(0)
    expect(lines.slice(0, 2)).toEqual([
      expect.stringContaining('ship: '),
      expect.stringContaining('ship: '),
    ])
    expect(lines[0]).not.toBe(lines[1])
  })

  it('means the open chain beside one that has failed', async () => {
    const { session, rail } = await afterFailedCheck()
    session.use('s2')
    // It fails at its start, and only its guards stay.
    await session.prompt('/broken')
    expect(await session.bash('git push')).toContain('did not start')
    const { code, lines } = await rail(['status'])
    expect({ code, lines }).toMatchObject({ code: 0, lines: [expect.stringContaining('ship')] })
  })
})
