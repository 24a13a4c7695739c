import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Sender } from '../../src/rail/sender.ts'
import { runCommand } from '../chain/_command.ts'
import { firstProcess, makeSession } from './_session.ts'

const skills = {
  ship: {
    metadata: [
      'chain: |',
      '  work check="test -f done.txt" max-blocks=0',
      '  publish gate guard="Bash(git push:*)"',
    ],
  },
  other: { metadata: ['chain: |', '  work'] },
  work: { body: 'WORK ON IT.' },
  publish: { body: 'PUBLISH IT.' },
}
const another: Sender = { kind: 'client', process: { pid: 2000, startedAt: 'noon' } }
const yes = { answer: 'y' }

type Session = ReturnType<typeof makeSession>

function railFiles({ home }: Session): string[] {
  const folder = join(home, '.local/state/skillrail/rails')
  if (!existsSync(folder)) return []
  return readdirSync(folder).filter((name) => name.endsWith('.json'))
}

async function statusOf(session: Session, runId: string): Promise<string> {
  const { stdout } = await session.cli('runs', 'list', '--json')
  const runs: { runId: string; status: string }[] = JSON.parse(stdout).runs
  return runs.find((run) => run.runId === runId)?.status ?? ''
}

/** Sessions in every state in which a user may want to get out. */
const states: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
  'works on a step': async () => undefined,
  'is paused': (session) => session.prompt('rail pause'),
  'waits after a failed check': (session) => session.stop(),
  'waits at a gate': async (session) => {
    session.write('done.txt', '')
    await session.stop()
  },
  'cannot continue, because a skill has changed': async (session) => {
    session.write(
      '.claude/skills/work/SKILL.md',
      '---\nname: work\ndescription: New.\n---\nWORK ON IT.\n',
    )
    await session.stop()
  },
  'has lost its run': async (session) => {
    const state = join(session.home, '.local/state/skillrail')
    const files = readdirSync(state, { recursive: true, encoding: 'utf8' })
    const journal = files.find((file) => file.endsWith(`${session.runId()}.jsonl`)) ?? ''
    session.remove(`../home/.local/state/skillrail/${journal}`)
    await session.stop()
  },
}

describe('`rail stop`', () => {
  it.each(Object.entries(states))('ends a rail that %s', async (_, enter) => {
    const session = makeSession(skills)
    await session.prompt('/ship')
    const runId = session.runId()
    await enter(session)
    expect(await session.bash('git push')).toContain('belongs to the step')
    const stopped = await session.prompt('rail stop')
    expect(stopped?.systemMessage).toContain('You stopped the chain ship')
    expect(railFiles(session)).toEqual([])
    expect(await session.bash('git push')).toBeUndefined()
    expect(['cancelled', '']).toContain(await statusOf(session, runId))
    const started = await session.prompt('/other')
    expect(started?.hookSpecificOutput?.additionalContext).toContain('WORK ON IT.')
  })

  it('counts only if a user typed it', async () => {
    const session = makeSession(skills)
    await session.prompt('/ship')
    expect((await session.prompt('rail stop', { origin: 'scheduled' }))?.systemMessage).toContain(
      'does not count',
    )
    session.sendAs(another)
    expect((await session.prompt('rail stop'))?.systemMessage).toContain('does not count')
    session.sendAs({ kind: 'unknown' })
    expect((await session.prompt('rail stop'))?.systemMessage).toContain('skillrail rail stop')
    expect(await session.bash('git push')).toContain('belongs to the step')
  })

  it('leaves guards that always apply', async () => {
    const session = makeSession({
      ...skills,
      ship: { metadata: [...skills.ship.metadata, 'guards: always'] },
    })
    await runCommand('trust', [], session, { ...yes, workspaceTrust: 'ask' })
    await session.prompt('/ship')
    expect((await session.prompt('rail stop'))?.systemMessage).toContain('always apply stay')
    expect(await session.bash('git push')).toContain('always denied without it')
  })

  it('ends the rail of a session that is gone', async () => {
    const session = makeSession(skills, 'copilot')
    await session.prompt('/ship')
    session.end(firstProcess.pid)
    session.sendAs(another)
    session.use('s2')
    expect(JSON.stringify(await session.prompt('rail stop'))).toContain('You stopped the chain')
    expect(railFiles(session)).toEqual([])
  })

  it('at a terminal ends it too, and the session learns it', async () => {
    const session = makeSession(skills)
    await session.prompt('/ship')
    const { code, lines } = await runCommand('rail', ['stop'], session, yes)
    expect({ code, line: lines[0] }).toMatchObject({ code: 0, line: expect.stringMatching(/^You/) })
    expect(await session.bash('git push')).toBeUndefined()
    expect((await session.prompt('Hello'))?.systemMessage).toContain('You stopped the chain')
    expect(railFiles(session)).toEqual([])
  })
})

describe('a user who gives up the run of a rail', () => {
  it.each([
    ['cancels it', ['runs', 'cancel', 'RUN']],
    ['removes it', ['runs', 'prune', '--unfinished', '--keep', '0']],
  ])('%s, and the rail has ended', async (_, words) => {
    const session = makeSession(skills)
    await session.prompt('/ship')
    const runId = session.runId()
    const args = words.map((word) => (word === 'RUN' ? runId : word))
    const { code, stdout, stderr } = await session.cli(...args)
    expect(code).toBe(0)
    expect(`${stdout}${stderr}`).toContain('The rail of ship has ended')
    expect(await session.bash('git push')).toBeUndefined()
    const started = await session.prompt('/ship')
    expect(started?.hookSpecificOutput?.additionalContext).toContain('WORK ON IT.')
  })

  it('can continue the other one of two chains afterwards', async () => {
    const session = makeSession(skills)
    await session.prompt('/ship')
    const runId = session.runId()
    session.use('s2')
    await session.prompt('/other')
    session.use('s3')
    expect((await session.prompt('rail resume'))?.systemMessage).toContain('runs cancel')
    await session.cli('runs', 'cancel', runId)
    const resumed = await session.prompt('rail resume')
    expect(resumed?.hookSpecificOutput?.additionalContext).toContain('WORK ON IT.')
  })

  it('is no agent, also without guards', async () => {
    const session = makeSession(skills)
    await session.prompt('/other')
    Object.assign(session.env, { CLAUDECODE: '1' })
    expect((await session.cli('runs', 'cancel', session.runId())).code).toBe(4)
    expect((await session.cli('runs', 'prune', '--unfinished', '--keep', '0')).code).toBe(4)
    expect(railFiles(session)).toHaveLength(1)
  })
})
