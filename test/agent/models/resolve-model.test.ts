import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { resolveModel } from '../../../src/agent/resolve-model.ts'
import { scripted } from '../mock-replies.ts'

const runtime = { env: { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' } }

describe('resolveModel', () => {
  it.each([
    ['anthropic:claude-sonnet-4-5', 'anthropic', 'claude-sonnet-4-5'],
    ['openai:gpt-5.1', 'openai', 'gpt-5.1'],
    ['ollama:qwen3:8b', 'ollama', 'qwen3:8b'],
    ['lmstudio:a/b', 'lmstudio', 'a/b'],
  ])('makes a model of %s', async (name, provider, modelId) => {
    const model = await resolveModel(name, { runtime })
    expect(model.provider).toContain(provider)
    expect(model.modelId).toBe(modelId)
  })

  it('asks a provider of the program first', async () => {
    const model = scripted([])
    const asked: string[] = []
    const anthropic = {
      languageModel(name: string) {
        asked.push(name)
        return model
      },
    }
    expect(await resolveModel('anthropic:x', { providers: { anthropic }, runtime })).toBe(model)
    expect(asked).toEqual(['x'])
  })

  it('uses the address of an OpenAI-compatible server from the call, then from the settings', async () => {
    const name = 'openai-compatible:m'
    const settings = { compatibleUrl: 'http://127.0.0.1:1/v1', runtime }
    await expect(resolveModel(name, settings)).resolves.toMatchObject({ modelId: 'm' })
    await expect(resolveModel(name, { compatibleUrl: '', runtime })).rejects.toMatchObject({
      code: 'base-url-missing',
      exitCode: 2,
    })
  })

  it.each([
    ['localhost:1234', 'write http://localhost:1234'],
    ['127.0.0.1:1234/v1', 'write http://127.0.0.1:1234/v1'],
    ['//a/v1', 'It looks like http://127.0.0.1:11434/v1.'],
    ['ftp://a/v1', 'It looks like http://127.0.0.1:11434/v1.'],
    ['', 'It looks like http://127.0.0.1:11434/v1.'],
    ['localhost:1234?key=open', 'write http://localhost:1234'],
    [['http://me:', 'word@127.0.0.1/v1'].join(''), 'SKILLRAIL_AGENT_API_KEY'],
    [['me:', 'word@127.0.0.1/v1'].join(''), 'SKILLRAIL_AGENT_API_KEY'],
  ])('refuses the address %j of a provider, and says what to write', async (baseUrl, hint) => {
    for (const name of ['ollama:x', 'anthropic:x']) {
      await expect(resolveModel(name, { baseUrl, runtime })).rejects.toMatchObject({
        code: 'base-url',
        exitCode: 2,
        hint: expect.stringContaining(hint),
      })
    }
  })

  it('takes the name of a provider alone for one that lacks its model', async () => {
    await expect(resolveModel('ollama', { runtime })).rejects.toMatchObject({
      hint: expect.stringMatching(/^Write it as provider:name, such as ollama:NAME\./),
    })
  })

  it.each([
    ['gpt-5', { code: 'model-name', exitCode: 2 }],
    ['anthropic:', { code: 'model-name' }],
    [':x', { code: 'model-name' }],
    ['', { code: 'model-name' }],
    ['antropic:x', { code: 'provider-unknown', exitCode: 3 }],
    ['constructor:x', { code: 'provider-unknown' }],
  ])('refuses %j', async (name, facts) => {
    await expect(resolveModel(name, { runtime, providers: {} })).rejects.toMatchObject(facts)
  })

  // In a process of its own: the test runner answers for optional peers that are not installed.
  it('says how to install the package of a provider', () => {
    const room = new URL('../../../src/agent/resolve-model.ts', import.meta.url).href
    const script = `
      import { resolveModel } from ${JSON.stringify(room)}
      await resolveModel('mistral:x').catch(({ code, hint }) => console.log(JSON.stringify({ code, hint })))
    `
    const args = ['--no-warnings', '--input-type=module', '-e', script]
    expect(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))).toEqual({
      code: 'provider-not-installed',
      hint: 'npm install ai@7 @ai-sdk/mistral',
    })
  })

  it('names the variable of a missing key, and sends no other provider’s key', async () => {
    await expect(resolveModel('anthropic:x', { runtime: { env: {} } })).rejects.toMatchObject({
      code: 'key-missing',
      hint: 'Set ANTHROPIC_API_KEY.',
    })
  })

  it('refuses a provider that returns a name instead of a model', async () => {
    const providers = { mine: { languageModel: () => 'openai/gpt-5' } }
    await expect(resolveModel('mine:x', { providers, runtime })).rejects.toMatchObject({
      code: 'model-unresolved',
    })
  })
})
