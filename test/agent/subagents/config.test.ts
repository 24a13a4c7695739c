import { describe, expect, it } from 'vitest'
import { SubagentConfigError } from '../../../src/agent/errors.ts'
import {
  readConfig,
  requireConfig,
  type SubagentConfig,
} from '../../../src/agent/subagents/config.ts'
import { echoTool, scripted } from '../mock-replies.ts'
import { delegating, toolsOffered, worker } from './_parent.ts'

const full: Required<SubagentConfig> = {
  name: 'reviewer',
  description: 'Reviews code.',
  model: scripted([]),
  tools: ['Read', 'Bash(git:*)', echoTool()],
  disallowedTools: ['Bash(git push:*)'],
  systemPrompt: { template: 'You review {{language}}.', variables: { language: 'Rust' } },
  skills: ['style-guide', 'checklist src'],
  maxTurns: 5,
  permissionMode: 'plan',
  outputSchema: { type: 'object' },
  config: { timeoutMs: 1000 },
}

/** A value of any shape where a definition is required, as callers without types pass it. */
function untyped(value: Record<string, unknown>): SubagentConfig {
  const config: SubagentConfig = Object.assign(worker(), value)
  return config
}

describe('a definition in code', () => {
  it('accepts every field of a definition and requires only name and description', async () => {
    const least = { name: 'a', description: 'b' }
    const { manager } = delegating({ configs: [full, least] })
    expect(await manager.list()).toEqual([full, least])
  })

  it('treats null like an absent field', async () => {
    const config = worker({ tools: null, disallowedTools: null, systemPrompt: null, skills: null })
    const { manager, model } = delegating({ configs: [config], tools: [echoTool()] })
    expect(await manager.delegate('worker', 'Go.')).toMatchObject({ success: true, notices: [] })
    expect(toolsOffered(model, 0)).toEqual([])
  })

  it.each([[undefined], [null], [''], ['  '], [7]])(
    'throws a SubagentConfigError for a missing name: %j',
    (name) => {
      const error = (() => {
        try {
          return requireConfig(untyped({ name }))
        } catch (thrown) {
          return thrown
        }
      })()
      expect(error).toBeInstanceOf(SubagentConfigError)
      expect(error).toMatchObject({
        message: expect.stringContaining('`name`'),
        diagnostics: [{ code: 'subagent-name', path: 'name' }],
      })
    },
  )

  it('throws for a definition without a name in register and the constructor', () => {
    const { manager } = delegating()
    expect(() => manager.register(worker({ name: '' }))).toThrow(SubagentConfigError)
    expect(() => delegating({ configs: [worker({ name: '' })] })).toThrow(SubagentConfigError)
  })

  it.each([
    ['name', 'two words'],
    ['name', '-a'],
    ['name', 'a'.repeat(65)],
    ['name', '../a'],
    ['description', ''],
    ['model', ''],
    ['model', 5],
    ['tools', 'Read, Grep'],
    ['tools', [5]],
    ['tools', [{ name: 'no execute' }]],
    ['disallowedTools', [echoTool()]],
    ['systemPrompt', { variables: {} }],
    ['skills', 'one'],
    ['skills', ['']],
    ['maxTurns', 0],
    ['maxTurns', 1.5],
    ['maxTurns', Number.NaN],
    ['permissionMode', 'yolo'],
    ['outputSchema', []],
    ['config', 'none'],
  ])('refuses %s: %j', (field, value) => {
    expect(readConfig(untyped({ [field]: value })).problems).toMatchObject([{ field }])
  })

  it('reports all problems at once, and the nearest name for an unknown field', () => {
    expect(() => requireConfig(untyped({ maxTurns: -1, system_prompt: 'x' }))).toThrow(
      expect.objectContaining({
        message:
          'The subagent worker cannot be used: `maxTurns` must be a whole number from 1 to 10000; `system_prompt` is not a field of a subagent.',
        hint: 'Did you mean systemPrompt?',
      }),
    )
  })
})

describe('the registry of a manager', () => {
  it('registers, lists, returns and deregisters definitions', async () => {
    const { manager } = delegating({ configs: [] })
    manager.register(worker({ name: 'one' }))
    manager.register(worker({ name: 'two' }))
    expect((await manager.list()).map(({ name }) => name)).toEqual(['one', 'two'])
    expect(await manager.get('two')).toMatchObject({ description: 'Works.' })
    expect(await manager.deregister('two')).toBe(true)
    expect(await manager.deregister('two')).toBe(false)
    expect(await manager.get('two')).toBeUndefined()
  })

  it('accepts the same definition twice, and refuses another one with the same name', () => {
    const config = worker({ tools: ['Read'] })
    const { manager } = delegating({ configs: [config] })
    expect(() => manager.register(config)).not.toThrow()
    expect(() => manager.register(worker({ description: 'Other.' }))).toThrow(
      'There is another subagent called worker.',
    )
  })

  it('keeps its own copy', async () => {
    const tools = ['echo']
    const { manager } = delegating({ configs: [worker({ tools })], tools: [echoTool()] })
    tools.pop()
    expect(await manager.spawn('worker', 'Go.')).toMatchObject({ tools: ['echo'] })
  })
})
