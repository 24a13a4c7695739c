import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from './run-cli.ts'

it.each([
  [['--model', 'qwen3'], {}],
  [[], { SKILLRAIL_RESTATE_MODELS: 'qwen3' }],
])('worker %j reports before it listens that a model is unavailable', async (args, env) => {
  const home = mkdtempSync(join(tmpdir(), 'worker-command-'))
  const options = { cwd: home, home, env }
  const result = await runCli(['runs', 'worker', '--port', '0', ...args], options)
  expect(result.stderr).toContain('The model "qwen3" does not say whose it is.')
  expect(result).toMatchObject({ code: 2, stdout: '' })
})

const model = ['--model', 'ollama:x']

it.each([
  [[...model, '--tools', 'read,Reed'], 'There is no built-in tool called Reed. Did you mean read?'],
  [['--tools', 'read'], '--tools requires --model'],
  [['--base-url', 'http://127.0.0.1:9/v1'], '--base-url requires --model'],
  [['--admin-url', 'http://127.0.0.1:9'], '--admin-url requires --register'],
])('worker %j is refused before it listens', async (args, sentence) => {
  const home = mkdtempSync(join(tmpdir(), 'worker-command-'))
  const result = await runCli(['runs', 'worker', '--port', '0', ...args], { cwd: home, home })
  expect(result.stderr).toContain(sentence)
  expect(result).toMatchObject({ code: 2, stdout: '' })
})
