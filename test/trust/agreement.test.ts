import { appendFileSync, chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runInProcess } from '../run-in-process.ts'
import { temporaryDirectory, writeFiles } from './_project.ts'

it.each([
  ['a script', 'build/scripts/run.sh', 'false\n'],
  ['a file beside the script', 'build/scripts/lib.pm', '1;\n'],
])('list, plan and trust agree after %s of a trusted skill changed', async (_what, path, text) => {
  const base = temporaryDirectory()
  const home = join(base, 'home')
  const project = join(base, 'project')
  mkdirSync(home)
  writeFiles(project, {
    '.git/HEAD': '',
    '.skillrail/skills/build/SKILL.md':
      '---\nname: build\ndescription: Builds. Use for builds.\n---\n',
    '.skillrail/skills/build/scripts/run.sh': '#!/bin/sh\ntrue\n',
  })
  chmodSync(join(project, '.skillrail/skills/build/scripts/run.sh'), 0o755)
  const json = async (...words: string[]) =>
    JSON.parse((await runInProcess([...words, '--json'], { cwd: project, home })).stdout)
  const levels = async () => {
    const { skills } = await json('list')
    const { steps } = await json('run', 'build', '--dry-run')
    const { state } = await json('trust', '--dry-run')
    return [skills[0].trust, steps?.[0]?.trust, state]
  }
  await json('trust', '--yes')
  expect(await levels()).toEqual(['trusted', 'trusted', 'trusted'])
  appendFileSync(join(project, '.skillrail/skills', path), text)
  const [listed, planned, state] = await levels()
  expect(listed).toBe('untrusted')
  expect(planned).not.toBe('trusted')
  expect(state).toBe('changed')
})
