import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { Agent, conversationFiles } from '../../src/entries/agent.ts'
import { createSkills } from '../../src/entries/ai.ts'
import { SettingsError } from '../../src/entries/index.ts'
import { says, scripted } from './mock-replies.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-library-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const runtime = () => systemRuntime({ cwd: root, home: join(root, 'home'), env: {} })

function writeSettings(text: string): void {
  const path = join(root, 'home/.config/skillrail/config.json')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

it.each(['{"tools":{"deny":["p__*"]}', '{"agent":{"maxTurn":3}}', ''])(
  'refuses the settings %j in an agent, in skills for the AI SDK and in a conversation store',
  async (text) => {
    writeSettings(text)
    const model = scripted([says('done')])
    const agent = new Agent({ model, runtime: runtime() })
    await expect(agent.run('hello')).rejects.toThrow(SettingsError)
    expect(model.doGenerateCalls.length + model.doStreamCalls.length).toBe(0)
    await expect(createSkills({ runtime: runtime() })).rejects.toMatchObject({
      code: 'settings-invalid',
      exitCode: 4,
      diagnostics: [{ severity: 'error', line: 1 }],
    })
    expect(() => conversationFiles({ runtime: runtime() })).toThrow(SettingsError)
  },
)

it('reads no file if a program passes settings', async () => {
  const { inspectConfiguration } = await import('../../src/core/configuration.ts')
  const { settings } = inspectConfiguration(runtime())
  writeSettings('{')
  const skills = await createSkills({ runtime: runtime(), settings })
  await skills.close()
})
