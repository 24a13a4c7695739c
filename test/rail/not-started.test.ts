import { expect, it } from 'vitest'
import { answerRequest } from '../../src/rail/work.ts'
import { makeSession, type SkillText } from './_session.ts'
import { told } from './_release.ts'

const skills: Readonly<Record<string, SkillText>> = {
  ship: {
    metadata: ['chain: |', '  work', '  publish guard="Bash(git push:*)"'],
  },
  publish: { body: 'PUBLISH IT.' },
}

it.each(['claude', 'codex'] as const)(
  'says in %s which error keeps a chain from starting, and denies its guarded calls until it starts',
  async (client) => {
    const session = makeSession(skills, client)
    const said = told(await session.prompt('/ship'))
    expect(said).toContain('did not start as a rail')
    expect(said).toContain('work')
    expect(said).toContain('skillrail chain plan ship')
    expect(said).toContain('git push')
    expect(await session.bash('git push')).toContain('which did not start')
    expect(await session.bash('git status')).toBeUndefined()
    // The agent cannot start it either.
    expect(await session.bash('skillrail chain start ship')).toContain('Only the user starts')
    session.write(
      '.claude/skills/work/SKILL.md',
      '---\nname: work\ndescription: Works.\n---\nWORK ON IT.\n',
    )
    expect(told(await session.prompt('/ship'))).toContain('WORK ON IT.')
    expect(session.runId()).not.toBe('')
  },
)

it('ends the guards of a chain that did not start when the user types `rail stop`', async () => {
  const session = makeSession(skills)
  await session.prompt('/ship')
  expect(told(await session.prompt('rail status'))).toContain('did not start as a rail')
  expect(told(await session.prompt('rail resume'))).toContain('no effect')
  const stopped = told(await session.prompt('rail stop'))
  expect(stopped).toContain('deny nothing any more')
  expect(stopped).not.toContain('runs show')
  expect(await session.bash('git push')).toBeUndefined()
})

it('guards the missing step of a chain, too', async () => {
  const session = makeSession({ ship: skills['ship'] ?? {}, work: {} })
  await session.prompt('/ship')
  expect(await session.bash('git push')).toContain('which did not start')
})

it('denies the guarded calls of a chain that nobody trusts yet', async () => {
  const checked = ['chain: |', '  work check="true"', '  publish guard="Bash(git push:*)"']
  const session = makeSession({ ...skills, ship: { metadata: checked }, work: {} })
  Object.assign(session.env, { SKILLRAIL_WORKSPACE_TRUST: 'ask' })
  expect(told(await session.prompt('/ship'))).toContain('skillrail trust')
  expect(await session.bash('git push')).toContain('which did not start')
})

it('says that nothing is guarded if the guards cannot be read', async () => {
  const session = makeSession({ ...skills, work: {} }, 'claude', {
    prompt: 60_000,
    turnEnd: 60_000,
    program: async (request, runtime) => {
      session.remove('.claude/skills/ship')
      const { signal } = new AbortController()
      return await answerRequest(request, runtime, { signal, isLate: () => false })
    },
  })
  expect(told(await session.prompt('/ship'))).toContain('Nothing is guarded')
  expect(await session.bash('git push')).toBeUndefined()
})
