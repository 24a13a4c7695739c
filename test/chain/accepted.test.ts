import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type CommandAnswer, commandsIn } from './_command.ts'
import { log, makeProject, type TestProject } from './_project.ts'

let project: TestProject
const { command: asTrusted, skills } = commandsIn(() => project)

const command = (line: string): Promise<CommandAnswer> => asTrusted(line, { workspaceTrust: 'ask' })

const chain = (...policy: string[]) => ({ metadata: ['chain: [build, deploy]', ...policy] })

beforeEach(() => {
  project = makeProject()
  skills({
    main: chain('gates: deploy', 'early_exit_on: failure'),
    build: { ...log('build'), verify: 'exit 0' },
    deploy: log('deploy'),
  })
})
afterEach(() => project.remove())

const changes: Record<string, () => void> = {
  'lost its gate': () => project.write('main', chain('early_exit_on: failure')),
  'has another policy': () => project.write('main', chain('gates: deploy')),
  'has lost a step': () => project.write('main', { metadata: ['chain: [deploy]'] }),
  'has another order': () => project.write('main', { metadata: ['chain: [deploy, build]'] }),
  'has a step whose check is gone': () =>
    rmSync(join(project.directory, '.skillrail/skills/build/scripts/verify.sh')),
  'has a step whose script was changed': () => project.write('build', log('other')),
}

const acceptances = {
  'was accepted': 'trust --yes',
  'was pinned': 'trust --pin --yes',
  'was locked': 'trust --lock --yes',
}

describe.each(Object.entries(acceptances))('a chain in a project that %s', (_name, accepting) => {
  it.each(Object.entries(changes))(
    'is refused until a user accepts the change: it %s',
    async (_what, change) => {
      expect((await command(accepting)).code).toBe(0)
      change()
      const plan = await command('chain plan main --json')
      expect(plan.code).toBe(4)
      const found = plan.json.diagnostics.map(({ code }) => code)
      expect(found).toContain('skill-not-trusted')
      for (const line of ['run main', 'chain start main']) {
        const { code, error } = await command(line)
        expect([code, error?.code]).toEqual([4, 'skill-not-trusted'])
      }
      expect(project.log()).toEqual([])
      expect((await command(accepting)).code).toBe(0)
      expect((await command('chain plan main')).code).toBe(0)
    },
  )
})

it('shows how a chain differs from the accepted one', async () => {
  await command('trust --yes')
  changes['lost its gate']?.()
  const { error } = await command('run main')
  expect(error?.diagnostics).toEqual([
    expect.objectContaining({
      code: 'part-changed',
      path: '.skillrail/skills/main/SKILL.md',
      diff: expect.stringMatching(/^-\s+"deploy"$/m),
    }),
  ])
})

it('refuses a chain that was not trusted together with its skill', async () => {
  await command('trust .skillrail/skills/build --yes')
  expect((await command('run main')).error).toMatchObject({ reasonCode: 'workspace-not-accepted' })
  expect((await command('run build')).code).toBe(0)
})

it('refuses a chain that came to an accepted workspace, since it could leave out a gate', async () => {
  await command('trust --yes')
  project.write('again', { metadata: ['chain: [build, deploy]'] })
  expect((await command('run again')).error).toMatchObject({ reasonCode: 'workspace-added' })
  expect(project.log()).toEqual([])
})
