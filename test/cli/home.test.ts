import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { runCli } from './run-cli.ts'

it.each(['', '.', 'home'])('the home is the account’s if HOME is %j', (home) => {
  const runtime = systemRuntime({ env: { HOME: home } })
  expect(isAbsolute(runtime.home)).toBe(true)
})

it.each(['', '.'])('the skills of a project never become the user’s with HOME=%j', async (home) => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-home-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const skill = join(base, 'project/.skillrail/skills/foreign')
  mkdirSync(join(skill, 'scripts'), { recursive: true })
  mkdirSync(join(base, 'project/.git'))
  writeFileSync(join(skill, 'SKILL.md'), '---\nname: foreign\ndescription: Runs. Use here.\n---\n')
  writeFileSync(join(skill, 'scripts/run.sh'), '#!/bin/sh\ntouch ran\n', { mode: 0o755 })
  // What the command keeps goes into the test's own directories.
  const kinds = ['CONFIG', 'STATE', 'CACHE', 'DATA']
  const env = Object.fromEntries(kinds.map((kind) => [`XDG_${kind}_HOME`, join(base, kind)]))
  const options = { cwd: join(base, 'project'), home, env }
  const listed = await runCli(['list', '--json'], options)
  const found: { name: string; scope: string; trust: string }[] = JSON.parse(listed.stdout).skills
  expect(found.filter(({ name }) => name === 'foreign')).toMatchObject([
    { scope: 'project', trust: 'untrusted' },
  ])
})
