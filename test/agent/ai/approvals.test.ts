import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { tool, ToolLoopAgent } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { ApprovalRequest } from '../../../src/agent/types.ts'
import type { SkillsOptions } from '../../../src/agent/ai/skills.ts'
import { call, type Reply, says, scripted } from '../mock-replies.ts'
import { Page, type Place, project, sent, skillsOf } from './_app.ts'

const activated = call('skill', { name: 'notes' }, 'a')
const counts = call('skill_tool', { skill: 'notes', tool: 'count', input: {} }, 'b')

function asking(): Place {
  const place = project('license: MIT')
  const path = 'project/.claude/skills/notes/scripts/count'
  place.executable(path, `#!/bin/sh\ntouch ran\necho '{"status":"success","result":{"words":7}}'\n`)
  return place
}

/** An agent as one process has it, with what its model answers. */
async function process(place: Place, replies: readonly Reply[], options?: SkillsOptions) {
  const skills = await skillsOf(place, options)
  const model = scripted(replies)
  return { skills, model, agent: new ToolLoopAgent({ model, ...skills.settings() }) }
}

it('waits for an approval in the page, and resumes in another process with the same secret', async () => {
  const place = asking()
  const approvalSecret = 'shared between the processes'
  const first = await process(place, [activated, counts], { approvalSecret })
  const page = new Page()
  await page.send(first.agent, 'Count.')
  expect(JSON.stringify(page.messages)).toContain('approval-requested')
  expect(existsSync(join(place.project, 'ran'))).toBe(false)
  page.answer(true)
  const second = await process(place, [says('Seven.')], { approvalSecret })
  await page.send(second.agent)
  expect(existsSync(join(place.project, 'ran'))).toBe(true)
  expect(sent(second.model, 0)).toMatch(/words\\+":7/)
  expect(sent(second.model, 0)).toContain('SECRET-RECIPE')
  expect(page.received).toContain('Seven.')
  expect(page.received).not.toContain('SECRET-RECIPE')
})

it('runs nothing after a refusal, and tells the model', async () => {
  const place = asking()
  const { agent, model } = await process(place, [activated, counts, says('Then not.')])
  const page = new Page()
  await page.send(agent, 'Count.')
  page.answer(false)
  await page.send(agent)
  expect(existsSync(join(place.project, 'ran'))).toBe(false)
  expect(page.received).toContain('"not."')
  expect(model.doStreamCalls).toHaveLength(3)
})

it('runs nothing for a forged approval, or for one of a process with another secret', async () => {
  const place = asking()
  const page = new Page()
  const { agent } = await process(place, [activated, counts])
  await page.send(agent, 'Count.')
  page.answer(true)
  const other = await process(place, [says('No.')])
  const forged = async (agent: unknown, text: string): Promise<void> => {
    page.messages = JSON.parse(text)
    page.received = ''
    await page.send(agent)
    expect(page.received).toContain('"type":"error"')
    expect(existsSync(join(place.project, 'ran'))).toBe(false)
  }
  const text = JSON.stringify(page.messages)
  await forged(other.agent, text)
  await forged(agent, text.replace(/,"signature":"[^"]*"/, ''))
  await forged(agent, text.replace('"input":{}', '"input":{"stdin":"x"}'))
  expect(existsSync(join(place.project, 'ran'))).toBe(false)
})

it('ends an approval with the activation of its skill', async () => {
  const place = asking()
  const { agent } = await process(place, [activated, counts, says('Not any more.')])
  const page = new Page()
  await page.send(agent, 'Count.')
  page.answer(true)
  const [user, assistant] = page.messages
  const parts = assistant?.parts.filter(({ type }) => type !== 'tool-skill') ?? []
  page.messages = [user, assistant && { ...assistant, parts }].flatMap((one) => one ?? [])
  await page.send(agent)
  expect(existsSync(join(place.project, 'ran'))).toBe(false)
})

it('asks an approver in the process, without a suspension', async () => {
  const place = asking()
  const requests: ApprovalRequest[] = []
  const { agent, model } = await process(place, [activated, counts, says('Seven.')], {
    approver: async (request) => {
      requests.push(request)
      return { approved: true }
    },
  })
  await agent.generate({ prompt: 'Count.' })
  expect(requests).toMatchObject([{ tool: { name: 'notes.count' }, reason: 'not read-only' }])
  expect(requests[0]?.effect).toContain('scripts/count')
  expect(sent(model, 2)).toMatch(/words\\+":7/)
})

it("applies the application's own rule, from which a skill's allowed-tools lift an approval and no refusal", async () => {
  const execute = async ({ text }: { text: string }): Promise<string> => `published ${text}`
  const publish = tool({
    description: 'Publishes.',
    inputSchema: z.object({ text: z.string() }),
    execute,
  })
  const skills = await skillsOf(project('allowed-tools: publish'))
  const publishes = call('publish', { text: 'it' }, 'p')
  const run = async (rule: 'user-approval' | 'denied', replies: readonly Reply[]) => {
    const model = scripted(replies)
    const settings = skills.settings({ tools: { publish }, toolApproval: { publish: rule } })
    const { text } = await new ToolLoopAgent({ model, ...settings }).generate({ prompt: 'Go.' })
    return [text, sent(model, -1)]
  }
  expect((await run('user-approval', [publishes]))[0]).toBe('')
  const [text, read] = await run('user-approval', [activated, publishes, says('Out.')])
  expect(text).toBe('Out.')
  expect(read).toContain('published it')
  expect((await run('denied', [activated, publishes, says('No.')]))[1]).not.toContain(
    'published it',
  )
})

it('does not run a call that bypasses the rules of the skills', async () => {
  const { skills } = await process(asking(), [])
  const { tools } = skills.settings()
  const model = scripted([counts, says('It failed.')])
  const { steps } = await new ToolLoopAgent({ model, tools }).generate({ prompt: 'Count.' })
  expect(JSON.stringify(steps[0]?.content)).toContain('tool-error')
  expect(sent(model, 1)).toContain('without the rules of the skills')
})
