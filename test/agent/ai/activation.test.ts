import { generateText, streamText, tool, ToolLoopAgent } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call, says, scripted } from '../mock-replies.ts'
import { Page, project, sent, skillsOf } from './_app.ts'

const publish = tool({
  description: 'Publishes a text.',
  inputSchema: z.object({ text: z.string() }),
  execute: async ({ text }) => `published ${text}`,
})

describe('skills in an application of the AI SDK', () => {
  it('are activated by the model in generateText, with their tools and files', async () => {
    const place = project('allowed-tools: notes.count')
    const skills = await skillsOf(place)
    const model = scripted([
      call('skill', { name: 'notes', arguments: 'May' }, 'a'),
      call('skill_tool', { skill: 'notes', tool: 'count', input: {} }, 'b'),
      call('skill_resource', { skill: 'notes', path: 'references/style.md' }, 'c'),
      says('Done.'),
    ])
    const result = await generateText({
      model,
      prompt: 'Notes!',
      ...skills.settings({ tools: { publish } }),
    })
    expect(result.text).toBe('Done.')
    expect(sent(model, 0)).toContain('Does notes. Use when asked for notes.')
    expect(sent(model, 0)).not.toContain('SECRET-RECIPE')
    expect(sent(model, 1)).toContain('SECRET-RECIPE: write the notes of May.')
    expect(sent(model, 2)).toMatch(/words\\+":7/)
    expect(sent(model, 3)).toContain('STYLE-TEXT')
  })

  it('are activated in streamText and in an agent', async () => {
    const skills = await skillsOf(project())
    for (const way of ['stream', 'agent'] as const) {
      const model = scripted([call('skill', { name: 'notes' }, 'a'), says('Done.')])
      const settings = skills.settings({ tools: { publish } })
      const { text } =
        way === 'stream'
          ? streamText({ model, prompt: 'Notes!', ...settings })
          : await new ToolLoopAgent({ model, ...settings }).generate({ prompt: 'Notes!' })
      expect(await text).toBe('Done.')
      expect(sent(model, 1)).toContain('SECRET-RECIPE')
    }
  })

  it('are activated by the user with /name, and none of their text is sent to the page', async () => {
    const skills = await skillsOf(project())
    const model = scripted([
      call('skill', { name: 'notes', arguments: 'June' }, 'a'),
      says('Two.'),
      says('One.'),
      says('Three.'),
    ])
    const agent = new ToolLoopAgent({ model, ...skills.settings({ tools: { publish } }) })
    const page = new Page()
    await page.send(agent, 'Notes of June, please.')
    expect(sent(model, 1)).toContain('SECRET-RECIPE: write the notes of June')
    await page.send(agent, '/notes May')
    expect(sent(model, 2)).toContain('SECRET-RECIPE: write the notes of May')
    expect(sent(model, 2)).toContain('SECRET-RECIPE: write the notes of June')
    expect(await skills.activeIn(await page.modelMessages(agent.tools))).toEqual(['notes'])
    await page.send(agent, 'And now?')
    expect(await skills.activeIn(await page.modelMessages(agent.tools))).toEqual([])
    expect(page.received).toContain('Three.')
    expect(page.received).not.toContain('SECRET-RECIPE')
    expect(page.received).not.toContain('STYLE-TEXT')
  })

  it('stay with the model when the application prunes the conversation', async () => {
    const skills = await skillsOf(project())
    const model = scripted([
      call('skill', { name: 'notes', arguments: 'May' }, 'a'),
      call('publish', { text: 'x' }, 'b'),
      call('skill', { name: 'notes', done: true }, 'c'),
      says('Done.'),
    ])
    const settings = skills.settings({
      tools: { publish },
      instructions: 'You write.',
      prepareStep: ({ messages }) => ({ messages: messages.slice(0, 1) }),
    })
    await generateText({ model, prompt: 'Notes!', ...settings })
    for (const step of [1, 2]) expect(sent(model, step)).toContain('SECRET-RECIPE')
    expect(sent(model, 2)).toContain('You write.')
    expect(sent(model, 3)).not.toContain('SECRET-RECIPE')
    expect(sent(model, 3)).toContain('You write.')
  })

  it('refuse a tool of the application with the name of one of their tools', async () => {
    const skills = await skillsOf(project())
    expect(() => skills.settings({ tools: { skill: publish } })).toThrow(
      expect.objectContaining({ code: 'tool-name' }),
    )
  })
})
