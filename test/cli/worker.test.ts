import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runCli } from './run-cli.ts'

it.each([
  [['--model', 'qwen3'], {}],
  [[], { SKILLRAIL_RESTATE_MODELS: 'qwen3' }],
])('worker %j finds out before it listens that a model cannot be had', async (args, env) => {
  const home = mkdtempSync(join(tmpdir(), 'worker-command-'))
  const options = { cwd: home, home, env }
  const result = await runCli(['worker', '--port', '0', ...args], options)
  expect(result.stderr).toContain('The model "qwen3" does not say whose it is.')
  expect(result).toMatchObject({ code: 2, stdout: '' })
})
