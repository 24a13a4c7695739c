import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { adapters, type Platform } from '../../src/hooks/adapters.ts'
import { firstProcess, makeSession } from './_session.ts'

const chain = {
  ship: {
    metadata: [
      'chain: |',
      '  build',
      '  publish gate=attended guard="Bash(git push:*)"',
      '  tell guard="Bash(gh release:*)"',
    ],
  },
  build: { run: 'echo built' },
  publish: { body: 'PUBLISH IT.' },
  tell: {},
}

const push = { tool_name: 'Bash', tool_input: { command: 'git push origin main' } }

/** A chain that waits for an approval which is attended. */
async function atGate(client?: Platform) {
  const session = makeSession(chain, client)
  await session.prompt('/ship', { more: { source: 'interactive', submitted_prompt: '/ship' } })
  const about = client === 'copilot' ? { hook_event_name: 'preToolUse' } : {}
  return {
    ...session,
    before: (more: object = {}) =>
      session.send({ hook_event_name: 'PreToolUse', ...push, ...about, ...more }),
    after: (more: object = {}) =>
      session.send({ hook_event_name: 'PostToolUse', ...push, ...more }),
  }
}

describe('the question of the client about a guarded call', () => {
  it('approves the step when the user agrees, and further calls of the step need no question', async () => {
    const session = await atGate()
    expect(session.standingReason()).toContain('the client asks you')
    const told = await session.prompt('go on')
    expect(told?.hookSpecificOutput?.additionalContext).toContain('PUBLISH IT.')

    const preToolAnswer = await session.before()
    expect(preToolAnswer?.hookSpecificOutput?.permissionDecision).toBe('ask')
    const question = preToolAnswer?.hookSpecificOutput?.permissionDecisionReason ?? ''
    expect(question).toContain('approve the step publish of the chain ship')
    expect(question).toContain('build: success (exit-code)')
    expect(session.approvals()).toEqual([])

    const ran = await session.after()
    expect(ran?.hookSpecificOutput?.additionalContext).toContain('PUBLISH IT.')
    expect(session.approvals()).toMatchObject([
      { channel: 'client', strength: 'attended', shownDigest: expect.stringContaining('sha256:') },
    ])
    expect(await session.before()).toBeUndefined()
  })

  it('approves nothing while the user has not agreed', async () => {
    const session = await atGate()
    await session.before()
    await session.stop()
    await session.prompt('go on')
    expect(session.approvals()).toEqual([])
    expect((await session.before())?.hookSpecificOutput?.permissionDecision).toBe('ask')
  })

  it('is not asked about the calls of other steps, or of a subagent', async () => {
    const session = await atGate()
    const others = [
      { tool_input: { command: 'gh release create' } },
      { tool_input: { command: 'git push && gh release create' } },
      { agent_id: 'a1' },
    ]
    for (const more of others) {
      const answer = await session.before(more)
      expect(answer?.hookSpecificOutput?.permissionDecision).toBe('deny')
    }
    await session.after()
    expect(session.approvals()).toEqual([])
  })

  it('approves nothing if the call came from another process, before or after it', async () => {
    const session = await atGate()
    session.sendAs({ kind: 'client', process: { pid: 2, startedAt: 'noon' } })
    expect((await session.before())?.hookSpecificOutput?.permissionDecision).toBe('deny')
    session.sendAs({ kind: 'client', process: firstProcess })
    await session.before()
    session.sendAs({ kind: 'agent', why: 'the shell of an agent called the hook' })
    await session.after()
    expect(session.approvals()).toEqual([])
  })

  const registered = '{"hooks":{"PermissionRequest":[]}}'
  const withHooks = '---\nname: x\nhooks:\n  PermissionRequest: []\n---\n'
  it.each<[place: string, files: Record<string, string | undefined>]>([
    ['settings', { '.claude/settings.json': registered }],
    [
      'settings with an escape',
      { '.claude/settings.json': '{"hooks":{"Permission\\u0052equest":[]}}' },
    ],
    ['settings that are not JSON', { '.claude/settings.local.json': '{' }],
    ['settings that cannot be read', { '.claude/settings.json': undefined }],
    ['a list of plugins that cannot be read', { '.claude/plugins/installed_plugins.json': '[' }],
    [
      "a plugin's hooks",
      {
        '.claude/plugins/installed_plugins.json': '{"plugins":{"p":[{"installPath":"HOME/p"}]}}',
        'p/hooks/hooks.json': registered,
      },
    ],
    [
      'a file that a plugin names',
      {
        '.claude/plugins/installed_plugins.json': '{"plugins":{"p":[{"installPath":"HOME/p"}]}}',
        'p/.claude-plugin/plugin.json': '{"hooks":["more.json"]}',
        'p/more.json': registered,
      },
    ],
    ['a skill', { '.claude/skills/x/SKILL.md': withHooks }],
    ['a subagent in a folder', { '.claude/agents/y/x.md': withHooks }],
    ['a command with an escape', { '.claude/commands/x.md': '---\n"h\\u006foks": {}\n---\n' }],
    ['a list of skills that cannot be read', { '.claude/skills/x/SKILL.md': undefined }],
    ['a folder in which the client started', { 'start/.claude/settings.json': registered }],
  ])('approves nothing if a hook may answer it: %s', async (_, files) => {
    const session = await atGate()
    Object.assign(session.env, { CLAUDE_PROJECT_DIR: join(session.home, 'start') })
    await session.before()
    for (const [name, text] of Object.entries(files)) {
      const path = join(session.home, name)
      mkdirSync(text === undefined ? path : dirname(path), { recursive: true })
      if (text !== undefined) writeFileSync(path, text.replace('HOME', session.home))
    }
    expect((await session.after())?.systemMessage).toContain('PermissionRequest')
    expect(session.approvals()).toEqual([])
    expect((await session.before())?.hookSpecificOutput?.permissionDecision).toBe('deny')
  })

  it('counts beside hooks, skills and plugins that do not answer it', async () => {
    const session = await atGate()
    const files = {
      '.claude/settings.json': '{"hooks":{"Stop":[]},"note":"PermissionRequest"}',
      '.claude/plugins/installed_plugins.json': '{"plugins":{"p":[{"installPath":"HOME/p"}]}}',
      'p/.claude-plugin/plugin.json': '{"name":"p"}',
      'p/hooks/hooks.json': '{"hooks":{"PreToolUse":[]}}',
      '.claude/skills/x/SKILL.md': '---\nname: x\n---\nAbout hooks.\n',
    }
    for (const [name, text] of Object.entries(files)) {
      const path = join(session.home, name)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text.replace('HOME', session.home))
    }
    await session.before()
    await session.after()
    expect(session.approvals()).toMatchObject([{ strength: 'attended' }])
  })

  it('is denied in Gemini CLI without a terminal, where it would wait forever', async () => {
    const session = await atGate('gemini')
    expect(await session.before({ hook_event_name: 'BeforeTool' })).toMatchObject({
      decision: 'ask',
    })
    session.withoutTerminal()
    expect(await session.before({ hook_event_name: 'BeforeTool' })).toMatchObject({
      decision: 'deny',
    })
  })

  it.each(['codex', 'opencode'] as const)('is never asked in %s', async (client) => {
    expect(adapters[client].ask).toBeUndefined()
    const session = await atGate(client)
    const answer = JSON.stringify(await session.before())
    expect(answer).toContain('"permissionDecision":"deny"')
    expect(answer).not.toContain('"ask"')
    expect(session.standingReason()).toContain('In a terminal of your own')
  })
})

it('does not open `gate=attended` by a prompt', async () => {
  const session = await atGate()
  const answer = await session.prompt('rail approve')
  expect(answer?.systemMessage).toContain('needs an approval that is `attended`')
  expect(session.approvals()).toEqual([])
  expect(session.standing()).toBe('approval')
})
