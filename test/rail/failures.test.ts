import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  makeRelease,
  railFile,
  railOf,
  railsOf,
  type Session,
  told,
  turnsUntilEnd,
} from './_release.ts'

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
  ])('do not keep the agent going: the stop of %s', async (_, more) => {
    const session = makeRelease()
    await session.prompt('/release')
    expect((await session.stop('', more))?.decision).toBeUndefined()
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

describe.each([
  ['claude', '/release'],
  ['pi', '/skill:release'],
] as const)('%s, which may report the reason to continue as a prompt,', (client, call) => {
  it.each([
    ['the step is not done', () => undefined, 4],
    ['the chain waits for an approval', (session: Session) => session.write('done.txt', 'x'), 1],
    ['the state is garbage', (session: Session) => writeFileSync(railFile(session), '{'), 0],
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
