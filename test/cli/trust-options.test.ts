import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lockedProject } from './_locked-project.ts'

it.each([
  ['--pin and --no-pin', ['--pin', '--no-pin']],
  ['--pin and --no-pin', ['--lock', '--no-pin', '--yes', '--pin']],
  ['--list and --revoke', ['--revoke', '--list']],
  ['--revoke and --pin', ['--revoke', '--pin']],
  ['--revoke and --lock', ['--lock', '--revoke']],
  ['--revoke and --dry-run', ['--revoke', '--dry-run']],
  ['--unlock and --dry-run', ['--unlock', '--dry-run']],
  ['--unlock and --lock', ['--lock', '--unlock']],
  ['--check and --no-pin', ['--lock', '--check', '--no-pin']],
])('options contradict each other: %s, %j', async (words, options) => {
  const { cli } = lockedProject()
  const { code, stderr } = await cli('trust', ...options)
  expect(code).toBe(2)
  expect(stderr).toContain(`${words} cannot be used together`)
})

it('a path beside --list is refused, because it would have no effect', async () => {
  const { code, stderr } = await lockedProject().cli('trust', '--list', 'there')
  expect([code, stderr]).toEqual([2, expect.stringContaining('there would be ignored')])
})

it('no combination ignores an option silently', async () => {
  const { cli, workspace } = lockedProject()
  await cli('trust', '--lock', '--yes')
  const lock = join(workspace, '.skillrail/skills.lock.json')
  expect(await cli('trust', '--unlock', '--dry-run')).toMatchObject({ code: 2 })
  expect(await cli('trust', '--revoke', '--dry-run')).toMatchObject({ code: 2 })
  expect(existsSync(lock)).toBe(true)
  expect((await cli('trust')).stdout).toContain('trusted, and nothing that can execute has changed')
})

it('some options combine: a pin twice, a lock with a pin, a check with a dry run', async () => {
  const { cli } = lockedProject()
  expect(await cli('trust', '--lock', '--pin', '--pin', '--yes')).toMatchObject({ code: 0 })
  expect(await cli('trust', '--lock', '--check', '--dry-run')).toMatchObject({ code: 0 })
  expect(await cli('trust', '--unlock', '--yes')).toMatchObject({ code: 0 })
})
