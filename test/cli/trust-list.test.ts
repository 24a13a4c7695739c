import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lockedProject } from './_locked-project.ts'

it('list shows a skill that differs from the lock with the level that activate uses', async () => {
  const { cli, json, directory, write } = lockedProject()
  write('.claude/skills/same/SKILL.md', '---\nname: same\ndescription: The same.\n---\n')
  await cli('trust', '--lock', '--yes')
  expect((await cli('list')).stdout).toMatch(/deploy +project +trusted/)
  appendFileSync(join(directory, 'SKILL.md'), 'More.\n')
  const listed = await cli('list')
  expect(listed.stdout).toMatch(/deploy +project +untrusted/)
  expect(listed.stdout).toMatch(/same +project +trusted/)
  expect(listed.stderr).toContain('1 not as locked or accepted (skillrail trust shows it)')
  expect(await json('list')).toMatchObject({
    skills: [
      {
        name: 'deploy',
        trust: 'untrusted',
        diagnostics: [
          {
            code: 'lock-drift',
            severity: 'warning',
            hint: expect.stringContaining('skillrail trust'),
          },
        ],
      },
      { name: 'same', trust: 'trusted', diagnostics: [] },
    ],
  })
  expect(await json('show', '--activate', 'deploy')).toMatchObject({ trustLevel: 'untrusted' })
})

it('list shows every skill as untrusted while the lock cannot be read, also one above', async () => {
  const { cli, json, write, workspace } = lockedProject()
  await cli('trust', '--yes')
  write('.skillrail/skills.lock.json', '{')
  const broken = { trust: 'untrusted', diagnostics: [{ code: 'lock-unreadable' }] }
  expect(await json('list')).toMatchObject({ skills: [broken] })
  rmSync(join(workspace, '.skillrail'), { recursive: true })
  expect(await json('list')).toMatchObject({ skills: [{ trust: 'trusted' }] })
  write('../.skillrail/skills.lock.json', '{"version": 1, "skills": []}')
  expect(await json('list')).toMatchObject({
    skills: [{ trust: 'untrusted', diagnostics: [{ code: 'lock-drift' }] }],
  })
})

it('list also shows changes since the acceptance in a project with a lock', async () => {
  const { cli, json, directory } = lockedProject()
  await cli('trust', '--lock', '--yes')
  appendFileSync(join(directory, 'scripts/run.sh'), 'echo more\n')
  expect(await json('list')).toMatchObject({
    skills: [{ trust: 'untrusted', diagnostics: [{ code: 'workspace-changed' }] }],
  })
})
