import { generateText, tool, ToolLoopAgent } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { runSubagent, subagentTool, totalUsage } from '../../../src/agent/ai/subagent-tool.ts'
import { fromToolSet, toToolSet } from '../../../src/agent/ai/tool-set.ts'
import { emptyFixture } from '../_agent-fixture.ts'
import { call, echoTool, says, scripted, tokens } from '../mock-replies.ts'
import { Page, sent, skillsOf } from './_app.ts'

const look = tool({
  description: 'Looks.',
  inputSchema: z.object({ at: z.string() }),
  execute: async ({ at }) => `saw ${at}`,
})

function finder(replies = [call('look', { at: 'x' }, 'l'), says('Found it.', tokens(5, 5))]) {
  const model = scripted(replies)
  const agent = new ToolLoopAgent({ id: 'finder', model, tools: { look } })
  return subagentTool({ name: 'finder', description: 'Finds.', agent })
}

it('returns the answer of a subagent, shows its progress to the page, and counts its tokens', async () => {
  const model = scripted([call('finder', { task: 'Find x.' }, 'a'), says('Here it is.')])
  const agent = new ToolLoopAgent({ model, tools: { finder: finder() } })
  const page = new Page()
  const message = await page.send(agent, 'Where is x?')
  expect(sent(model, 1)).toContain('Found it.')
  expect(JSON.stringify(message)).toContain('tool-look')
  expect(page.received).toContain('"preliminary":true')

  const again = scripted([call('finder', { task: 'Find x.' }, 'a'), says('Here it is.')])
  const result = await generateText({
    model: again,
    prompt: 'Go.',
    tools: { finder: finder() },
    stopWhen: [],
  })
  expect(result.usage.totalTokens).toBe(24)
  expect((await totalUsage(result)).totalTokens).toBe(24 + 12 + 10)
})

it('returns a failed subagent as a result with its tokens, also one that would have to wait', async () => {
  const failing = finder([call('look', { at: 'x' }, 'l')])
  const model = scripted([call('finder', { task: 'Find x.' }, 'a'), says('It is lost.')])
  const result = await new ToolLoopAgent({ model, tools: { finder: failing } }).generate({
    prompt: 'Go.',
  })
  expect(result.text).toBe('It is lost.')
  expect(sent(model, 1)).toMatch(/error-text.*no reply 2 was scripted/)
  expect((await totalUsage(result)).totalTokens).toBe(24 + 12)

  const child = new ToolLoopAgent({
    model: scripted([call('look', { at: 'x' }, 'l')]),
    tools: { look },
    toolApproval: { look: 'user-approval' },
  })
  const waits = subagentTool({ name: 'finder', description: 'Finds.', agent: child })
  const parent = scripted([call('finder', { task: 'Find x.' }, 'a'), says('Not so.')])
  await new ToolLoopAgent({ model: parent, tools: { finder: waits } }).generate({ prompt: 'Go.' })
  expect(sent(parent, 1)).toContain('a subagent cannot wait for one')
})

it('passes an abort on to the subagent', async () => {
  const aborter = new AbortController()
  const model = new MockLanguageModelV4({
    doStream: async ({ abortSignal }) => {
      aborter.abort(new Error('enough'))
      abortSignal?.throwIfAborted()
      throw new Error('it was not aborted')
    },
  })
  const agent = new ToolLoopAgent({ model })
  const work = async (): Promise<void> => {
    const outputs = runSubagent('finder', agent, 'Find x.', aborter.signal)
    for await (const { failed } of outputs) expect(failed).toBe(false)
  }
  await expect(work()).rejects.toThrow('enough')
})

it('runs a skill with context: fork in the agent that it names, also when the user types it', async () => {
  const place = emptyFixture()
  const more = 'context: fork\nagent: auditor\ndisable-model-invocation: true'
  place.skill('project/.claude/skills/audit', { more, body: 'AUDIT-RULES for $ARGUMENTS.' })
  const child = scripted([says('All is well.', tokens(7, 3))])
  const skills = await skillsOf(place, { agents: { auditor: new ToolLoopAgent({ model: child }) } })
  const model = scripted([call('skill', { name: 'audit', arguments: 'src' }, 'a'), says('It is.')])
  const agent = new ToolLoopAgent({ model, ...skills.settings() })
  const page = new Page()
  await page.send(agent, '/audit src')
  expect(JSON.stringify(model.doStreamCalls[0]?.toolChoice)).toContain('skill')
  expect(model.doStreamCalls[1]?.toolChoice).toEqual({ type: 'auto' })
  expect(sent(child, 0)).toContain('AUDIT-RULES for src')
  expect(sent(model, 1)).toContain('Its answer:\\nAll is well.')
  expect(page.received).not.toContain('AUDIT-RULES')

  const refused = scripted([call('skill', { name: 'audit' }, 'a'), says('No.')])
  const other = new ToolLoopAgent({ model: refused, ...skills.settings() })
  await other.generate({ prompt: 'Audit!' })
  expect(child.doStreamCalls).toHaveLength(1)
})

it('converts tools in both directions', async () => {
  const ours = echoTool('group.echo', {
    inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  })
  const set = toToolSet([ours])
  const model = scripted([
    call('group__echo', {}, 'a'),
    call('group__echo', { n: 1 }, 'b'),
    says('Done.'),
  ])
  await new ToolLoopAgent({ model, tools: set }).generate({ prompt: 'Go.' })
  expect(sent(model, 1)).toContain('InvalidToolInput')
  expect(ours.seen).toEqual([{ n: 1 }])
  expect(fromToolSet(set)).toEqual([ours])

  const [back] = fromToolSet({ look })
  expect(back).toMatchObject({ name: 'look', readOnly: false, needsApproval: false })
  expect(back?.inputSchema).toMatchObject({ required: ['at'] })
  const context = {
    toolCallId: 'c',
    signal: new AbortController().signal,
    onEvent: () => undefined,
  }
  expect(await back?.execute({ at: 'y' }, context)).toBe('saw y')
  await expect(back?.execute({}, context)).rejects.toThrow(/invalid_type/)
})
