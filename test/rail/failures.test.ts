import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Platform } from '../../src/hooks/adapters.ts'
import { lockHolder } from '../../src/core/file-lock.ts'
import type { RailSession } from '../../src/rail/session.ts'
import { type HookJson, makeSession, type SkillText } from './_session.ts'

const release = {
  release: {
    metadata: [
      'chain: |',
      '  implement check="sh check.sh"',
      '  publish gate guard="Bash(git push:*) mcp__host__merge"',
    ],
    body: 'The overview.',
  },
  implement: { body: 'Write done.txt.' },
  publish: { body: 'Push the branch.' },
}

type Session = ReturnType<typeof makeSession>

function makeRelease(client: Platform = 'claude'): Session {
  const session = makeSession(release, client)
  session.write('check.sh', 'test -f done.txt\n')
  return session
}

const railsOf = ({ home }: Session): string => join(home, '.local/state/skillrail/rails')

function railFile(session: Session): string {
  const directory = railsOf(session)
  const [name = ''] = readdirSync(directory).filter((file) => file.endsWith('.json'))
  return join(directory, name)
}

function railOf(session: Session): RailSession {
  return JSON.parse(readFileSync(railFile(session), 'utf8'))
}

const told = (answer: HookJson | undefined): string =>
  `${answer?.systemMessage ?? ''}${answer?.hookSpecificOutput?.additionalContext ?? ''}`

/** The protection that a rail keeps if its state is lost. */
async function expectClosed(session: Session): Promise<void> {
  expect(await session.bash('ls')).toContain('cannot be read')
  expect(await session.call('mcp__host__merge', {})).toContain('cannot be read')
  expect(await session.call('Write', { file_path: 'a.txt', content: 'x' })).toBeUndefined()
  expect(await session.call('Read', { file_path: 'a.txt' })).toBeUndefined()
}

describe('a rail whose state is damaged', () => {
  it.each([
    ['is garbage', '{"version":1,"ses'],
    ['is empty', ''],
    ['has another version', '{"version":2}'],
    ['is JSON of another kind', '[]'],
  ])(
    'denies commands and MCP tools, and does not keep the agent going, if its file %s',
    async (_, text) => {
      const session = makeRelease()
      await session.prompt('/release')
      writeFileSync(railFile(session), text)
      await expectClosed(session)
      expect(told(await session.prompt('go on'))).toContain('cannot be read')
      for (let index = 0; index < 3; index++) expect(await session.stop()).toBeUndefined()
    },
  )

  it('denies commands if the file of another session replaced its file', async () => {
    const session = makeRelease()
    await session.prompt('/release')
    const path = railFile(session)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('"session":"s1"', '"session":"s2"'))
    await expectClosed(session)
  })

  it('denies commands if a directory replaced its file', async () => {
    const session = makeRelease()
    await session.prompt('/release')
    const path = railFile(session)
    rmSync(path)
    execFileSync('mkdir', [path])
    await expectClosed(session)
    expect(await session.stop()).toBeUndefined()
  })
})

/** A full disk and a read-only directory both end in a file that cannot be written. */
function blockWriting(session: Session): void {
  const directory = railsOf(session)
  // Root writes into read-only directories: a file in the place of the state directory stops it too.
  if (process.getuid?.() === 0) execFileSync('chattr', ['+i', directory])
  else chmodSync(directory, 0o500)
}

function allowWriting(session: Session): void {
  const directory = railsOf(session)
  if (process.getuid?.() === 0) execFileSync('chattr', ['-i', directory])
  else chmodSync(directory, 0o700)
}

describe('a rail whose state cannot be written', () => {
  it('keeps its guards, warns the user, and never keeps the agent going', async ({ skip }) => {
    const session = makeRelease()
    await session.prompt('/release')
    try {
      blockWriting(session)
    } catch {
      return skip('this file system cannot be made read-only')
    }
    try {
      session.write('done.txt', 'x')
      expect(await session.bash('git push')).toContain('belongs to the step')
      for (let index = 0; index < 3; index++)
        expect((await session.stop())?.decision).toBeUndefined()
      expect(told(await session.prompt('go on'))).toContain('cannot continue')
      expect(await session.bash('git push')).toContain('belongs to the step')
    } finally {
      allowWriting(session)
    }
    expect(railOf(session).step?.step).toBe('implement')
  })

  it('does not start, and reports the reason', async () => {
    const session = makeRelease()
    execFileSync('mkdir', ['-p', join(session.home, '.local/state/skillrail')])
    writeFileSync(railsOf(session), 'a file in the place of the directory')
    expect(told(await session.prompt('/release'))).toMatch(/did not start|cannot/)
  })
})

describe('a rail whose chain changes', () => {
  it.each([
    ['its gate is removed', ' gate guard', ' guard'],
    ['its check is weakened', 'check=\\"sh check.sh\\"', 'check=\\"true\\"'],
    ['its guard is removed', ' guard=\\"Bash(git push:*) mcp__host__merge\\"', ''],
  ])('runs no check and counts nothing as done when %s', async (_, before, after) => {
    const session = makeRelease()
    session.write('check.sh', 'echo ran >> ran.txt\n')
    await session.prompt('/release')
    const path = '.claude/skills/release/SKILL.md'
    const [from, to] = [before, after].map((text) => text.replaceAll('\\"', '"'))
    const text = session.read(path)
    expect(text).toContain(from)
    session.write(path, text.replace(from ?? '', to ?? ''))
    const stopped = await session.stop()
    expect(stopped?.decision).toBeUndefined()
    expect(stopped?.systemMessage).toContain('rail retry')
    expect(railOf(session)).toMatchObject({ standing: 'stuck', step: { step: 'implement' } })
    expect(existsSync(join(session.directory, 'ran.txt'))).toBe(false)
    expect(await session.bash('git push')).toContain('belongs to the step')
    expect(await session.stop()).toBeUndefined()

    session.write(path, text)
    const again = await session.prompt('rail retry')
    expect(told(again)).toContain('Do only this step now: `implement`')
    expect((await session.stop())?.systemMessage).toContain('waits for your approval')
  })

  it('waits for a user when its trust is withdrawn', async () => {
    const session = makeRelease()
    await session.prompt('/release')
    session.env.SKILLRAIL_WORKSPACE_TRUST = 'untrusted'
    session.write('done.txt', 'x')
    expect((await session.stop())?.systemMessage).toContain('cannot continue')
    expect(railOf(session).standing).toBe('stuck')
    expect(await session.bash('git push')).toContain('belongs to the step')
  })

  it('does not depend on the git branch', async () => {
    const session = makeRelease()
    await session.prompt('/release')
    execFileSync('git', ['-C', session.directory, 'checkout', '-q', '-b', 'other'])
    session.write('done.txt', 'x')
    expect((await session.stop())?.systemMessage).toContain('waits for your approval')
  })
})

describe('events that do not end the turn of the agent', () => {
  it.each([
    ['a subagent', { agent_id: 'a1' }],
    ['background tasks', { background_tasks: [{ id: 'b1', status: 'running' }] }],
  ])('are not answered: the stop of %s', async (_, more) => {
    const session = makeRelease()
    await session.prompt('/release')
    expect(await session.stop('', more)).toBeUndefined()
    expect((await session.stop())?.decision).toBe('block')
  })

  it('are not answered in a turn in which the user only asks', async () => {
    const session = makeRelease()
    await session.prompt('/release')
    // The first turn was interrupted: it has no stop event.
    await session.prompt('What does this project do?')
    await session.call('Read', { file_path: 'check.sh' })
    await session.call('Grep', { pattern: 'x' })
    expect(await session.stop('It is a library.')).toBeUndefined()
    await session.prompt('Go on.')
    await session.call('Write', { file_path: 'a.txt', content: 'x' })
    expect((await session.stop())?.decision).toBe('block')
  })

  it('are not answered for another client with the same session ID, and the guards still apply', async () => {
    const session = makeRelease()
    await session.prompt('/release')
    session.as('codex')
    expect(await session.bash('git push')).toContain('belongs to the step')
    expect(await session.prompt('rail approve')).toBeUndefined()
    expect(await session.stop()).toBeUndefined()
    session.as('claude')
    expect((await session.stop())?.decision).toBe('block')
  })

  it('handle the end of a turn once, even if two hooks report it', async () => {
    const session = makeRelease()
    await session.prompt('/release')
    const answers = await Promise.all([session.stop(), session.stop()])
    expect(answers.filter((answer) => answer?.decision === 'block')).toHaveLength(1)
  })
})

describe('a check that takes longer than the hook can wait', () => {
  /** Each check appends a line to a file outside of the project, and waits for a file there. */
  function makeSlow(
    result: string,
    chain: SkillText = release.release,
    client: Platform = 'claude',
  ): Session {
    const skills = { ...release, release: chain }
    const session = makeSession(skills, client, { prompt: 60_000, turnEnd: 300 })
    const lines = ['echo ran >> ../ran.txt', 'while ! test -f ../go; do sleep 0.05; done', result]
    session.write('check.sh', `${lines.join('\n')}\n`)
    return session
  }
  const go = (session: Session): void => session.write('../go', '')
  const checks = (session: Session): number => session.read('../ran.txt').split('\n').length - 1

  const soon = { timeout: 30_000, interval: 20 }

  async function untilChecking(session: Session): Promise<void> {
    await expect.poll(() => existsSync(join(session.directory, '../ran.txt')), soon).toBe(true)
    expect(railOf(session).standing).toBe('checking')
  }

  async function untilChecked(session: Session): Promise<void> {
    await expect.poll(() => railOf(session).standing, soon).toBe('checked')
  }

  it('lets the turn end, and the next prompt receives its result', async () => {
    const session = makeSlow('echo not yet; exit 1')
    await session.prompt('/release')
    const stopped = await session.stop()
    expect(stopped?.decision).toBeUndefined()
    expect(stopped?.systemMessage).toContain('still checks')
    await untilChecking(session)
    expect(await session.stop()).toBeUndefined()
    expect(told(await session.prompt('Is it done?'))).toContain('still runs')
    expect(await session.stop()).toBeUndefined()
    go(session)
    await untilChecked(session)
    expect(told(await session.prompt('And now?'))).toContain('not yet')
    expect(railOf(session)).toMatchObject({ standing: 'working', step: { failedChecks: 1 } })
    expect(checks(session)).toBe(1)
  })

  it('records nothing before an event uses its result, and then reports the end of the chain', async () => {
    const session = makeSlow('exit 0', {
      metadata: ['chain: |', '  implement check="sh check.sh"'],
    })
    await session.prompt('/release')
    const runId = session.runId()
    await session.stop()
    go(session)
    await untilChecked(session)
    expect(session.cli('runs', 'show', runId, '--json').stdout).not.toContain('verified')
    const ending = await session.prompt('And now?')
    expect(ending?.systemMessage).toContain('The chain release has ended: success')
    expect(session.cli('runs', 'show', runId, '--json').stdout).toContain('verified')
    expect(await session.prompt('Thanks.')).toBeUndefined()
    expect(await session.bash('ls')).toBeUndefined()
  })

  it('runs again if the working tree changed after it', async () => {
    const session = makeSlow('! test -f broken.txt')
    await session.prompt('/release')
    await session.stop()
    go(session)
    await untilChecked(session)
    session.write('broken.txt', 'x')
    expect(told(await session.prompt('And now?'))).toContain('is not done')
    expect(checks(session)).toBe(2)
  })

  it('runs again if the working tree changed while it ran', async () => {
    const session = makeSlow('! test -f broken.txt')
    await session.prompt('/release')
    await session.stop()
    await untilChecking(session)
    session.write('other.txt', 'x')
    go(session)
    await untilChecked(session)
    expect(checks(session)).toBe(2)
    expect(told(await session.prompt('And now?'))).toContain('waits for your approval')
  })

  it('runs only once more if it changes the working tree itself', async () => {
    const session = makeSlow('date +%N > stamp.txt')
    await session.prompt('/release')
    await session.stop()
    go(session)
    await untilChecked(session)
    expect(checks(session)).toBe(2)
    expect(told(await session.prompt('And now?'))).toContain('waits for your approval')
    expect(checks(session)).toBe(2)
  })

  it.each([
    ['rail pause', 'paused', 'paused'],
    ['rail retry', 'Do only this step now', 'working'],
    ['rail accept implement it hangs', 'accepted', 'approval'],
  ])('is ended by %s, without a result', async (word, answer, standing) => {
    // Claude Code confirms a permission when the turn ends.
    const session = makeSlow('exit 1', release.release, 'codex')
    await session.prompt('/release')
    await session.stop()
    await untilChecking(session)
    expect(told(await session.prompt(word))).toContain(answer)
    go(session)
    expect(railOf(session).standing).toBe(standing)
    expect(checks(session)).toBe(1)
    expect(railOf(session).step?.verdict).toBeUndefined()
    expect(await session.bash('git push')).toContain('belongs to the step')
  })

  it('fails when the time limit of its step is over', async () => {
    const chain = { metadata: ['chain: |', '  implement check="sh check.sh" timeout=1'] }
    const session = makeSlow('exit 0', chain)
    await session.prompt('/release')
    await session.stop()
    await untilChecked(session)
    expect(told(await session.prompt('And now?'))).toContain('longer than 1 s')
  })

  it('has no result if its process is killed', async () => {
    const session = makeSlow('exit 0')
    await session.prompt('/release')
    await session.stop()
    await untilChecking(session)
    const lock = JSON.parse(readFileSync(`${railFile(session)}.lock`, 'utf8'))
    process.kill(lock.pid, 'SIGKILL')
    await expect.poll(() => lockHolder(railFile(session)), soon).toBeUndefined()
    expect(told(await session.prompt('And now?'))).toContain('current step is `implement`')
    await session.stop()
    go(session)
    await untilChecked(session)
    expect(checks(session)).toBe(2)
    expect(told(await session.prompt('And now?'))).toContain('waits for your approval')
  })
})

describe.each([
  ['claude', '/release'],
  ['pi', '/skill:release'],
] as const)('%s, which may report the reason to continue as a prompt,', (client, call) => {
  /** Ends turns as long as the agent is kept going; each reason arrives as a prompt, too. */
  async function turnsUntilEnd(session: Session): Promise<number> {
    for (let blocks = 0; blocks < 20; blocks++) {
      const answer = await session.stop()
      if (answer?.decision !== 'block') return blocks
      await session.prompt(answer.reason ?? '')
    }
    return 20
  }

  it.each([
    ['the step is not done', () => undefined, 4],
    ['the chain waits for an approval', (session: Session) => session.write('done.txt', 'x'), 1],
    ['the state is garbage', (session: Session) => writeFileSync(railFile(session), '{'), 0],
    [
      'each process of the rail dies',
      (session: Session) => Object.assign(session.env, { NODE_OPTIONS: '--import=/missing.mjs' }),
      1,
    ],
    ['a file of the chain is gone', (session: Session) => session.remove('.claude/skills'), 1],
  ])('ends the turn when %s', async (_, happen, most) => {
    const session = makeRelease(client)
    await session.prompt(call)
    expect(existsSync(railFile(session))).toBe(true)
    happen(session)
    expect(await turnsUntilEnd(session)).toBeLessThanOrEqual(most)
    expect(await turnsUntilEnd(session)).toBe(0)
  })
})

describe('any order of events', () => {
  const event = fc.constantFrom(
    'stop',
    'stop',
    'stop',
    'prompt',
    'chat',
    'work',
    'read',
    'subagent',
    'push',
    'damage',
    'retry',
  )
  it('keeps an agent going only a few times, and never opens a guard', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event, { minLength: 3, maxLength: 6 }), async (events) => {
        const session = makeRelease()
        await session.prompt('/release')
        const pushes: (string | undefined)[] = []
        for (const one of events) {
          if (one === 'prompt') await session.prompt('Go on.')
          if (one === 'chat') await session.prompt('What is this?')
          if (one === 'work') await session.call('Write', { file_path: 'a.txt', content: 'x' })
          if (one === 'read') await session.call('Read', { file_path: 'a.txt' })
          if (one === 'subagent') await session.stop('', { agent_id: 'a1' })
          if (one === 'retry') await session.prompt('rail retry')
          if (one === 'damage') writeFileSync(railFile(session), '{')
          if (one === 'stop') await session.stop()
          if (one === 'push') pushes.push(await session.bash('git push'))
        }
        let blocks = 0
        while ((await session.stop())?.decision === 'block') blocks++
        expect(blocks).toBeLessThan(8)
        pushes.push(await session.bash('git push'))
        expect(pushes).not.toContain(undefined)
      }),
      { numRuns: 3 },
    )
  })
})
