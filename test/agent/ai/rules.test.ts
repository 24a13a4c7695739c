import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { jsonSchema, tool, type ToolSet, ToolLoopAgent } from 'ai'
import { expect, it, onTestFinished } from 'vitest'
import type { Skills, SkillsOptions } from '../../../src/agent/ai/skills.ts'
import { openSandbox } from '../../../src/exec/sandbox/open-sandbox.ts'
import { emptyFixture } from '../_agent-fixture.ts'
import { place as serverPlace } from '../mcp-tools/_place.ts'
import { call, calls, type Reply, says, scripted } from '../mock-replies.ts'
import { Page, type Place, project, script, sent, skillsOf } from './_app.ts'

function texts(...names: string[]): ToolSet {
  return Object.fromEntries(
    names.map((name) => [
      name,
      tool({
        description: `The tool ${name}.`,
        inputSchema: jsonSchema<{ text?: string }>({
          type: 'object',
          properties: { text: { type: 'string' } },
        }),
        execute: async ({ text = '' }) => `${name} said ${text}`,
      }),
    ]),
  )
}

async function answer(
  skills: Skills,
  replies: readonly Reply[],
  tools: ToolSet = {},
  prompt = 'Go.',
) {
  const model = scripted(replies)
  const agent = new ToolLoopAgent({ model, ...skills.settings({ tools }) })
  return { model, result: await agent.generate({ prompt }) }
}

const seen = ({ doGenerateCalls }: ReturnType<typeof scripted>, step: number): string[] =>
  (doGenerateCalls[step]?.tools ?? []).map(({ name }) => name)

const untrusted: SkillsOptions = { workspaceTrust: 'ask' }

it('lets an untrusted skill narrow the tools, and neither the model end it nor a skill fork', async () => {
  const place = project('allowed-tools: read')
  place.skill('home/.claude/skills/audit', { more: 'context: fork' })
  const skills = await skillsOf(place, { ...untrusted, agents: {} })
  const replies = [
    call('skill', { name: 'notes' }, 'a'),
    calls([
      { name: 'write', input: { text: 'w' }, id: 'w' },
      { name: 'read', input: { text: 'r' }, id: 'r' },
    ]),
    call('skill', { name: 'notes', done: true }, 'c'),
    call('skill', { name: 'audit' }, 'd'),
    says('Done.'),
  ]
  const { model, result } = await answer(skills, replies, texts('read', 'write'))
  expect(result.text).toBe('Done.')
  expect(seen(model, 0)).toContain('write')
  expect(seen(model, 1)).not.toContain('write')
  expect(seen(model, 1)).toContain('read')
  expect(sent(model, 2)).not.toContain('write said')
  expect(sent(model, 2)).toContain('read said r')
  expect(sent(model, 3)).toContain('until the turn of the user ends')
  expect(sent(model, 4)).toContain('is not run in a subagent while')
})

it('runs a script of an untrusted skill in the sandbox or not at all', async () => {
  const place = project('license: MIT')
  place.executable(
    'project/.claude/skills/notes/scripts/count',
    `#!/bin/sh\ntouch ran\n${script('1').split('\n')[2]}\n`,
  )
  const skills = await skillsOf(place, { ...untrusted, approver: async () => ({ approved: true }) })
  const counts = call('skill_tool', { skill: 'notes', tool: 'count' }, 'b')
  const { model } = await answer(skills, [
    call('skill', { name: 'notes' }, 'a'),
    counts,
    says('Done.'),
  ])
  const { ok } = await openSandbox()
  expect(sent(model, 2)).toContain(ok ? '\\"status\\":\\"success\\"' : 'may not run scripts/count')
  expect(existsSync(join(place.project, 'ran'))).toBe(false)
})

it('puts references of triggers before the prompt, once, and none of untrusted skills', async () => {
  const place = project('triggers:\n  - match: deploy\n    inject: references/style.md')
  for (const trust of ['trusted', 'ask'] as const) {
    const notices: string[] = []
    const skills = await skillsOf(place, {
      workspaceTrust: trust,
      onNotice: (text) => notices.push(text),
    })
    const model = scripted([says('One.'), says('Two.')])
    const agent = new ToolLoopAgent({ model, ...skills.settings() })
    const page = new Page()
    await page.send(agent, 'please deploy')
    await page.send(agent, 'deploy again')
    const count = sent(model, 1).split('STYLE-TEXT').length - 1
    expect(count).toBe(trust === 'trusted' ? 1 : 0)
    expect(page.received + JSON.stringify(page.messages)).not.toContain('STYLE-TEXT')
    expect(notices.join('\n')).toMatch(
      trust === 'trusted' ? /^$/ : /references of the skill notes were left out/,
    )
  }
})

function guarded(event: string, hook: string): Place {
  const place = emptyFixture()
  const more = `hooks:\n  ${event}:\n    - hooks:\n        - { type: command, command: ./scripts/hook.sh }`
  place.skill('project/.claude/skills/guard', { more })
  place.executable('project/.claude/skills/guard/scripts/hook.sh', `#!/bin/sh\n${hook}\n`)
  return place
}

const guard = call('skill', { name: 'guard' }, 'a')

it('lets hooks of a skill refuse a call, change its input, and add to its result', async () => {
  const says2 = 'grep -q secret && { echo "not that" >&2; exit 2; }; exit 0'
  const refusing = await skillsOf(guarded('PreToolUse', says2))
  const written = (text: string) => call('write', { text }, text)
  const first = await answer(
    refusing,
    [guard, written('secret'), written('open'), says('Done.')],
    texts('write'),
  )
  expect(sent(first.model, 3)).toContain('not that')
  expect(sent(first.model, 3)).not.toContain('write said secret')
  expect(sent(first.model, 3)).toContain('write said open')
  const change = {
    hookEventName: 'PreToolUse',
    updatedInput: { text: 'other' },
    additionalContext: 'MIND',
  }
  const json = JSON.stringify({ hookSpecificOutput: change })
  const changing = await skillsOf(guarded('PreToolUse', `cat >/dev/null; echo '${json}'`))
  const second = await answer(changing, [guard, written('mine'), says('Done.')], texts('write'))
  expect(sent(second.model, 2)).toContain('write said other\\n\\nMIND')
  const post = await skillsOf(
    guarded('PostToolUse', 'cat >/dev/null; echo "run the linter" >&2; exit 2'),
  )
  const third = await answer(post, [guard, written('mine'), says('Done.')], texts('write'))
  expect(sent(third.model, 2)).toContain('write said mine\\n\\nrun the linter')
})

it('lets a Stop hook make the model continue, streamed or not, up to a limit', async () => {
  const once = 'cat >/dev/null; test -e ok || { touch ok; echo "not yet done" >&2; exit 2; }'
  for (const streams of [false, true]) {
    const skills = await skillsOf(guarded('Stop', once))
    const model = scripted([guard, says('Done?'), says('Really done.')])
    const agent = new ToolLoopAgent({ model, ...skills.settings() })
    const page = new Page()
    if (streams) await page.send(agent, 'Go.')
    else await agent.generate({ prompt: 'Go.' })
    expect(sent(model, 2)).toContain('not yet done')
  }
  const notices: string[] = []
  const always = await skillsOf(guarded('Stop', 'cat >/dev/null; echo more >&2; exit 2'), {
    onNotice: (text) => notices.push(text),
  })
  const replies = [guard, ...Array.from({ length: 9 }, () => says('Done.'))]
  const { result } = await answer(always, replies)
  expect(result.steps).toHaveLength(10)
  expect(notices.join()).toContain('kept the model from ending 8 times')
})

it('offers the tools of an MCP server while a skill that names the server is active', async () => {
  const { runtime, root, reached } = serverPlace()
  const fixture = emptyFixture()
  const path = fixture.skill('skills/things', { more: 'metadata:\n  mcp-servers: things' })
  const skills = await skillsOf(fixture, {
    runtime,
    project: root,
    skillDirs: [path],
    trustedPaths: [path],
    approver: async () => ({ approved: true }),
  })
  onTestFinished(() => skills.close())
  const echo = (id: string): Reply =>
    call('skill_tool', { skill: 'things', tool: 'get_echo', input: { message: 'hi' } }, id)
  const replies = [echo('b'), call('skill', { name: 'things' }, 'a'), echo('c'), says('Done.')]
  const { model } = await answer(skills, replies)
  expect(sent(model, 1)).toContain('is not active')
  expect(sent(model, 2)).toContain('get_echo')
  expect(reached()).toHaveLength(1)
})

it('checks the input of a tool that a program registers for a skill', async () => {
  const skills = await skillsOf(project())
  skills.manager.registerTool('notes', {
    name: 'words',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    execute: (input) => ({ counted: input }),
  })
  const replies = [
    call('skill', { name: 'notes' }, 'a'),
    call('skill_tool', { skill: 'notes', tool: 'words', input: {} }, 'b'),
    call('skill_tool', { skill: 'notes', tool: 'words', input: { text: 'x' } }, 'c'),
    says('Done.'),
  ]
  const { model } = await answer(skills, replies)
  expect(sent(model, 1)).toContain('words')
  expect(sent(model, 2)).toContain('notes.words was not called')
  expect(sent(model, 3)).toContain('counted')
})
