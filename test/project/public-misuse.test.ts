import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MockLanguageModelV4 } from 'ai/test'
import * as agents from '../../src/entries/agent.ts'
import * as ai from '../../src/entries/ai.ts'
import * as root from '../../src/entries/index.ts'
import * as testing from '../../src/entries/testing.ts'
import { fixture } from '../library/_fixture.ts'

const { SkillrailError } = root

/** Calls a function as a program without types would. */
function call(target: unknown, ...values: readonly unknown[]): unknown {
  if (typeof target !== 'function') throw new TypeError('not a function')
  return Reflect.apply(target, undefined, values)
}

function construct(target: unknown, ...values: readonly unknown[]): unknown {
  if (typeof target !== 'function') throw new TypeError('not a class')
  return Reflect.construct(target, values)
}

interface Entry {
  /** Calls the export with these options and right values for everything else. */
  use: (options: unknown) => unknown
  /** Options that are right. */
  right: Readonly<Record<string, unknown>>
  /** Wrong values of options. */
  wrong: Readonly<Record<string, readonly unknown[]>>
}

const model = new MockLanguageModelV4()
const text = '---\nname: a\ndescription: Does a. Use when asked.\n---\nBody.\n'
const greet = { name: 'greet', description: 'Greets. Use when asked.', body: 'Hi.' }
const execute = () => 'done'
const notText = [5, true, {}, []]
const notTexts = ['./skills', 5, [5], {}]

const surface: Readonly<Record<string, Entry>> = {
  'root SkillManager': {
    use: (options) => construct(root.SkillManager, options),
    right: { customPaths: [], autoDiscover: false },
    wrong: {
      customPaths: notTexts,
      skillsDirs: notTexts,
      trustedPaths: notTexts,
      userSkillsDir: notText,
      precedence: ['both', 5],
      workspaceTrust: ['yes', true],
      useIndex: ['no', 1],
      autoDiscover: ['no', 1],
      namespaceTools: ['no', 1],
      runtime: ['x', 5],
    },
  },
  'root SkillManager.activate': {
    use: (options) => {
      const manager = new root.SkillManager({ autoDiscover: false })
      return call(manager.activate.bind(manager), 'a', '', options)
    },
    right: {},
    wrong: { source: ['nobody', 5], stillInContext: ['yes', 1] },
  },
  'root defineSkill': {
    use: (options) => call(root.defineSkill, options),
    right: greet,
    wrong: {
      name: notText,
      description: notText,
      body: notText,
      arguments: notTexts,
      allowedTools: ['Read', ['Read'], 5],
      userInvocable: ['yes'],
      context: ['spoon'],
    },
  },
  'root parseSkill': {
    use: (options) => call(root.parseSkill, text, options),
    right: { path: 'a/SKILL.md' },
    wrong: { path: notText },
  },
  'root validateSkill': {
    use: (options) => call(root.validateSkill, text, options),
    right: { path: 'a/SKILL.md', directoryName: 'a' },
    wrong: { path: notText, directoryName: notText, files: ['x', [5]] },
  },
  'root validateReference': {
    use: (options) => call(root.validateReference, text, options),
    right: { path: 'a/SKILL.md', directoryName: 'a' },
    wrong: { path: notText, directoryName: notText },
  },
  'root renderCatalog': {
    use: (options) => call(root.renderCatalog, [], options),
    right: { format: 'xml' },
    wrong: { format: ['html', 5], tokenBudget: [-1, NaN, '5'] },
  },
  'root systemRuntime': {
    use: (options) => call(root.systemRuntime, options),
    right: { cwd: '/' },
    wrong: { cwd: notText, home: notText, env: ['x', 5], now: [5, 'x'] },
  },
  'agent Agent': {
    use: (options) => construct(agents.Agent, options),
    right: { model },
    wrong: {
      model: [5, true, [], ''],
      tools: ['read', ['read'], 5],
      builtIns: notTexts,
      skills: ['a', [5], 5],
      skillDirs: notTexts,
      trustedPaths: notTexts,
      startSkills: notTexts,
      subagents: [{}, ['a'], 5],
      mcp: ['every', [5], {}],
      approver: [true, 'yes', {}],
      permissionMode: ['yolo', 5],
      messages: ['hi', ['hi']],
      instructions: [5, {}, { template: 'a' }],
      discover: ['no', 1],
      workspaceTrust: ['yes', true],
      onEvent: [5, {}],
      maxTurns: ['5', 0, NaN],
      concurrency: ['5', 0],
    },
  },
  'agent Agent.generate': {
    use: (options) => {
      const agent = new agents.Agent({ model })
      return call(agent.generate.bind(agent), 'Hi.', options)
    },
    right: {},
    wrong: { maxTurns: ['5', 0], onEvent: [5], stream: ['yes'], files: ['a.png'], signal: [5] },
  },
  'agent tool': {
    use: (options) => call(agents.tool, options),
    right: { name: 'a', description: 'A.', execute },
    wrong: { name: notText, description: notText, execute: ['x', {}], readOnly: ['yes'] },
  },
  'agent conversationFiles': {
    use: (options) => call(agents.conversationFiles, options),
    right: { directory: '/nowhere' },
    wrong: { directory: notText, runtime: ['x'], settings: ['x'] },
  },
  'agent resolveModel': {
    use: (options) => call(agents.resolveModel, 'ollama:small', options),
    right: {},
    wrong: { baseUrl: notText, apiKey: notText, providers: ['x'] },
  },
  'agent SubagentManager': {
    use: (options) => construct(agents.SubagentManager, new agents.Agent({ model }), [], options),
    right: {},
    wrong: { concurrency: ['5', 0] },
  },
  'agent SubagentManager.register': {
    use: (options) => {
      const manager = new agents.Agent({ model }).subagentManager
      return call(manager.register.bind(manager), options)
    },
    right: { name: 'a', description: 'A.' },
    wrong: {
      name: [5, ''],
      description: [5, ''],
      tools: ['Read', [5]],
      skills: ['a', [5]],
      model: [5],
      maxTurns: ['5', 0],
      permissionMode: ['yolo'],
      config: ['x'],
    },
  },
  'agent SubagentManager.delegate': {
    use: (options) => {
      const agent = new agents.Agent({ model, subagents: [{ name: 'a', description: 'A.' }] })
      return call(agent.delegate.bind(agent), 'a', 'Do it.', options)
    },
    right: {},
    wrong: { context: notText, maxTurns: ['5', 0], source: ['nobody'], onEvent: [5] },
  },
  'ai createSkills': {
    use: (options) => call(ai.createSkills, options),
    right: { discover: false },
    wrong: {
      skills: ['a', [5]],
      skillDirs: notTexts,
      trustedPaths: notTexts,
      catalogTokens: [-1, 'many'],
      lifetime: ['ever'],
      onNotice: [5, {}],
      approver: [true],
    },
  },
  'ai subagentTool': {
    use: (options) => call(ai.subagentTool, options),
    right: { name: 'a', description: 'A.', agent: { stream: execute } },
    wrong: { name: notText, description: notText, agent: ['a', {}] },
  },
  'testing SkillTestHarness.load': {
    use: (options) => call(testing.SkillTestHarness.load, greet, options),
    right: {},
    wrong: { trust: ['yes', true] },
  },
}

async function failureOf(act: () => unknown): Promise<unknown> {
  try {
    await act()
    return undefined
  } catch (error) {
    return error
  }
}

async function expectClear(act: () => unknown, ...mentioned: readonly string[]) {
  const error = await failureOf(act)
  expect(error).toBeInstanceOf(SkillrailError)
  if (!(error instanceof SkillrailError)) return
  for (const one of mentioned) expect(`${error.message} ${error.hint ?? ''}`).toContain(one)
  expect(error.message).not.toMatch(/Invalid input|undefined is not|Cannot (?:read|use)|``/)
}

describe.each(Object.entries(surface))('%s', (_, { use, right, wrong }) => {
  const names = [...new Set([...Object.keys(right), ...Object.keys(wrong)])]

  it.each(names)('names `%s` where its name is misspelled', async (name) => {
    const misspelled = `${name}x`
    await expectClear(
      () => use({ ...right, [misspelled]: wrong[name]?.[0] ?? 1 }),
      misspelled,
      name,
    )
  })

  it.each(Object.entries(wrong))('names `%s` where its value is wrong', async (name, values) => {
    for (const value of values) await expectClear(() => use({ ...right, [name]: value }), name)
  })

  it('refuses options that are not an object', async () => {
    const manager = new root.SkillManager({ autoDiscover: false })
    for (const value of ['gpt-4', 5, [], true, manager, new Date(), new Map()]) {
      await expectClear(() => use(value))
    }
  })

  it('names every required option that is missing', async () => {
    for (const name of Object.keys(right)) {
      const { [name]: _left, ...others } = right
      const error = await failureOf(() => use(others))
      if (error !== undefined) await expectClear(() => use(others), name)
    }
  })

  it('treats null as absent', async () => {
    for (const name of Object.keys(wrong).filter((one) => !(one in right))) {
      const error = await failureOf(() => use({ ...right, [name]: null }))
      const plain = await failureOf(() => use(right))
      expect(String(error)).toBe(String(plain))
    }
  })
})

describe('arguments of a wrong kind', () => {
  const manager = () => new root.SkillManager({ autoDiscover: false })
  const agent = () => new agents.Agent({ model })

  it.each<[string, () => unknown]>([
    ['parseSkill', () => call(root.parseSkill, undefined, { path: 'a' })],
    ['validateSkill', () => call(root.validateSkill, 5, { path: 'a', directoryName: 'a' })],
    ['validateSkill without options', () => call(root.validateSkill, text)],
    ['validateReference', () => call(root.validateReference, 5, { path: 'a', directoryName: 'a' })],
    ['renderCatalog', () => call(root.renderCatalog, 'a', { format: 'xml' })],
    ['register null', () => call(manager().register.bind(manager()), null)],
    ['register a number', () => call(manager().register.bind(manager()), 5)],
    ['register an object', () => call(manager().register.bind(manager()), { name: 'a' })],
    ['get', () => call(manager().get.bind(manager()), 5)],
    ['activate', () => call(manager().activate.bind(manager()), undefined)],
    ['activate with a list', () => call(manager().activate.bind(manager()), 'a', ['b'])],
    ['deregister', () => call(manager().deregister.bind(manager()))],
    ['validate', () => call(manager().validate.bind(manager()), 5)],
    ['registerTool', () => call(manager().registerTool.bind(manager()), 'a', { name: 'b' })],
    ['readResource', () => call(manager().readResource.bind(manager()), 'a', 5)],
    ['new Agent(text)', () => construct(agents.Agent, 'gpt-4')],
    ['new Agent()', () => construct(agents.Agent)],
    ['generate(list)', () => call(agent().generate.bind(agent()), [{ role: 'user' }])],
    ['stream(list)', () => call(agent().stream.bind(agent()), [{ role: 'user' }])],
    ['promptText', () => call(agents.promptText, 5)],
    ['resolveModel', () => call(agents.resolveModel, 5)],
    ['new SubagentManager()', () => construct(agents.SubagentManager)],
    ['new SubagentManager({})', () => construct(agents.SubagentManager, {}, [])],
    ['new SubagentManager(agent, 5)', () => construct(agents.SubagentManager, agent(), 5)],
    ['toToolSet', () => call(ai.toToolSet, 'read')],
    ['fromToolSet', () => call(ai.fromToolSet, [])],
    ['totalUsage', () => call(ai.totalUsage, undefined)],
    ['writeSkill', () => call(testing.writeSkill, undefined, greet)],
    ['writeSkill without a name', () => call(testing.writeSkill, '/nowhere', { body: '' })],
  ])('are refused by %s', async (_, act) => {
    await expectClear(act)
  })
})

describe('folders that a program names and that do not exist', () => {
  it.each(['customPaths', 'skillsDirs', 'trustedPaths', 'userSkillsDir'])(
    'are an error of SkillManager for %s',
    async (name) => {
      const { runtime, project } = fixture()
      mkdirSync(join(project, 'skills'))
      const value = name === 'userSkillsDir' ? './skilz' : ['./skilz']
      const manager = new root.SkillManager({ runtime, [name]: value })
      await expectClear(() => manager.list(), name, 'skilz', 'Folders next to it: .git, skills.')
    },
  )

  it.each(['skillDirs', 'trustedPaths', 'project'])(
    'are an error of createSkills and Agent for %s',
    async (name) => {
      const { runtime } = fixture()
      const value = name === 'project' ? './skilz' : ['./skilz']
      await expectClear(() => call(ai.createSkills, { runtime, [name]: value }), name, 'skilz')
      const options = { runtime, model, skills: [], [name]: value }
      const use = () => new agents.Agent(options).ready()
      await expectClear(use, name, 'skilz')
    },
  )
})
