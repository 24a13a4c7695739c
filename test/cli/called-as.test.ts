import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { asCalled } from '../../src/cli/called-as.ts'
import { runInProcess } from '../run-in-process.ts'

const text = `Review it with: skillrail trust
Then \`skillrail runs approve 1\`, or npx skillrail view.
skillrail: an error of skillrail itself; ./bin/skillrail run and skillrail is a word.`

it.each([
  [{}, 'skillrail'],
  [{ npm_command: 'exec' }, 'npx skillrail'],
  [{ npm_command: 'run-script', npm_lifecycle_event: 'build' }, 'npx skillrail'],
  [{ npm_command: 'run-script', npm_lifecycle_event: 'skillrail' }, 'npm run -s skillrail --'],
])('writes the commands in a text as %j calls them', (env, program) => {
  expect(asCalled(text, env)).toBe(`Review it with: ${program} trust
Then \`${program} runs approve 1\`, or npx skillrail view.
skillrail: an error of skillrail itself; ./bin/skillrail run and skillrail is a word.`)
})

it('recommends commands that work below npx, on both streams and in an error', async () => {
  const home = mkdtempSync(join(tmpdir(), 'skillrail-called-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const run = (...args: readonly string[]) =>
    runInProcess(args, { cwd: home, home, env: { npm_command: 'exec' } })
  expect((await run()).stdout).toContain('  npx skillrail new ')
  expect((await run('new', 'my-skill')).stderr).toContain('with: npx skillrail validate')
  expect((await run('show', 'nothing')).stderr).toContain('npx skillrail list')
  expect((await run('--json')).stdout).not.toContain('npx')
})
