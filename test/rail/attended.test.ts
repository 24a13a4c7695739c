import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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

  it.each([
    ['a file that registers one', '{"hooks":{"PermissionRequest":[]}}'],
    ['a place that cannot be read', undefined],
  ])('approves nothing if another hook may answer it: %s', async (_, text) => {
    const session = await atGate()
    await session.before()
    const file = join(session.home, '.claude/settings.json')
    mkdirSync(text === undefined ? file : join(session.home, '.claude'), { recursive: true })
    if (text !== undefined) writeFileSync(file, text)
    expect((await session.after())?.systemMessage).toContain('PermissionRequest')
    expect(session.approvals()).toEqual([])
    expect((await session.before())?.hookSpecificOutput?.permissionDecision).toBe('deny')
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
