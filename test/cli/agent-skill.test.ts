import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { emptyFixture } from '../agent/_agent-fixture.ts'
import { type ModelServer, type Script, startModelServer } from '../model-server/server.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'

let server: ModelServer | undefined

afterEach(async () => {
  await server?.close()
  server = undefined
})

/** The instruction skill `bump`: run the script, edit the file, and nothing else without being asked. */
async function bump(
  script: Script,
  args: readonly string[],
): Promise<CliResult & { text: string }> {
  const place = emptyFixture()
  place.skill('project/.skillrail/skills/bump', {
    more: 'allowed-tools: bump.version Read Edit(version.txt) Bash(git:*)',
    body: 'Run bump.version, then edit version.txt.',
  })
  place.executable('project/.skillrail/skills/bump/scripts/version.sh', '#!/bin/sh\necho "$1.1"\n')
  place.write({ 'project/version.txt': '1.0\n' })
  server = await startModelServer(script)
  const result = await runInProcess(
    `agent BumpIt --skill bump --tools read,edit,shell --model openai-compatible:test --base-url ${server.url}/v1`
      .split(' ')
      .concat(args),
    { cwd: place.project, home: place.home },
  )
  return { ...result, text: readFileSync(join(place.project, 'version.txt'), 'utf8') }
}

const work: Script = [
  { calls: [{ name: 'bump__version', input: { arguments: ['1'] } }] },
  {
    calls: [
      {
        name: 'edit',
        input: { file_path: 'version.txt', old_string: '1.0', new_string: '1.1' },
      },
    ],
  },
  { calls: [{ name: 'shell', input: { command: 'git status && git diff' } }] },
  'It is 1.1 now.',
]

it('a trusted skill that approves its steps runs without a question', async () => {
  const { code, stdout, text } = await bump(work, ['--trust-workspace'])
  expect(stdout).toBe('It is 1.1 now.\n')
  expect(text).toBe('1.1\n')
  expect(code).toBe(0)
  expect(JSON.stringify(server?.prompts()[1]?.body)).toContain('1.1')
})

it('a step that the skill does not approve waits without a terminal', async () => {
  const sneaky: Script = [
    { calls: [{ name: 'shell', input: { command: 'git status; echo 9 > version.txt' } }] },
    'I tried.',
  ]
  const { code, stderr, text } = await bump(sneaky, ['--trust-workspace'])
  expect(stderr).toContain('Waits for an approval (not read-only): shell')
  expect(text).toBe('1.0\n')
  expect(code).toBe(6)
})

it('an untrusted skill may run none of its steps, whatever it lists', async () => {
  const { text, stderr } = await bump(work, [])
  expect(text).toBe('1.0\n')
  expect(stderr).toContain('untrusted')
})

it('a secret in a command is not printed', async () => {
  const script: Script = [
    { calls: [{ name: 'shell', input: { command: 'API_KEY=hunter2hunter2 git status' } }] },
    'No.',
  ]
  const { stderr } = await bump(script, ['--trust-workspace'])
  expect(stderr).toContain('[redacted]')
  expect(stderr).not.toContain('hunter2')
})
