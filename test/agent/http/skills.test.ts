import { tool, ToolLoopAgent } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Page, project, skillsOf } from '../ai/_app.ts'
import { protocols, serve } from './_protocols.ts'

describe.each(protocols)('skills of an application over %s', (_protocol, modelAt) => {
  it('activate, and a call waits in the page for its approval', async () => {
    const { server, told } = await serve([
      { calls: [{ name: 'skill', input: { name: 'notes', arguments: 'May' } }] },
      { calls: [{ name: 'publish', input: { title: 'May' } }] },
      { text: 'It is published.' },
    ])
    const published: string[] = []
    const publish = tool({
      description: 'Publishes.',
      inputSchema: z.object({ title: z.string() }),
      execute: async ({ title }) => `Published ${title} as number ${published.push(title)}.`,
    })
    const skills = await skillsOf(project(''))
    const tools = { publish }
    const toolApproval = { publish: 'user-approval' as const }
    const agent = new ToolLoopAgent({
      model: modelAt(server.url),
      ...skills.settings({ tools, toolApproval }),
    })
    const page = new Page()
    await page.send(agent, 'Publish the notes.')
    expect(JSON.stringify(page.messages)).toContain('approval-requested')
    expect(published).toEqual([])
    page.answer(true)
    await page.send(agent)
    expect(published).toEqual(['May'])
    const texts = told().map(({ messages }) => JSON.stringify(messages))
    expect(texts[1]).toContain('SECRET-RECIPE: write the notes of May.')
    expect(texts[2]).toContain('Published May as number 1.')
    expect(JSON.stringify(page.messages)).toContain('It is published.')
    expect(page.received).not.toContain('SECRET-RECIPE')
  })
})
