import { describe, expect, it } from 'vitest'
import { adapters, type Platform } from '../../src/hooks/adapters.ts'
import { type HookJson, makeSession } from './_session.ts'

const ship = {
  ship: { metadata: ['chain: |', '  implement check="test -f done.txt"', '  publish'] },
  implement: { body: 'Write done.txt.' },
  publish: { body: 'Push the branch.' },
}

function contextIn(answer: HookJson | undefined): string {
  return answer?.additionalContext ?? answer?.hookSpecificOutput?.additionalContext ?? ''
}

/** A session of a client whose agent has the first step. */
async function workingIn(client: Platform) {
  const session = makeSession(ship, client)
  const more = { source: 'interactive', submitted_prompt: '/ship' }
  await session.prompt(client === 'pi' ? '/skill:ship' : '/ship', { more })
  let calls = 0
  return {
    ...session,
    async after(more: object = {}): Promise<string> {
      const call = { tool_name: 'read', tool_input: { path: 'a' }, tool_use_id: `x${calls++}` }
      return contextIn(await session.send({ hook_event_name: 'PostToolUse', ...call, ...more }))
    },
    async go(): Promise<string> {
      const prompted = { source: 'interactive', submitted_prompt: 'go on' }
      return contextIn(await session.prompt('go on', { more: prompted }))
    },
  }
}

describe.each(['copilot', 'opencode', 'pi', 'qwen'] as const)(
  'an agent whose context %s has compacted',
  (client) => {
    const compacted = { hook_event_name: adapters[client].events.compact }

    it('gets its step again once, with the result of its next call or with the next prompt', async () => {
      const session = await workingIn(client)
      expect(await session.after()).toBe('')
      expect(await session.send(compacted)).toBeUndefined()
      // The context of a subagent is its own.
      expect(await session.after({ agent_id: 'a1' })).toBe('')
      const again = await session.after()
      expect(again).toContain('the current step `implement` again')
      expect(again).toContain('Write done.txt.')
      expect(await session.after()).toBe('')

      await session.send(compacted)
      expect(await session.go()).toContain('Write done.txt.')
      // As in a session that was resumed.
      const later = await session.go()
      expect(later).toContain('Its current step is `implement`.')
      expect(later).not.toContain('Write done.txt.')
    })
  },
)

it('gives only the next step once the check of a lost one has passed', async () => {
  const session = await workingIn('qwen')
  await session.send({ hook_event_name: 'PostCompact' })
  session.write('done.txt', 'x')
  expect((await session.stop())?.reason).toContain('Push the branch.')
  expect(await session.after()).toBe('')
})

it('gives an agent of Gemini CLI its step again after so many calls as a reference is remembered', async () => {
  const session = await workingIn('gemini')
  const most = adapters.gemini.callsRemembered ?? 0
  const answers: string[] = []
  for (let call = 0; call <= most; call++) {
    await session.send({ hook_event_name: 'BeforeTool', tool_name: 'read_file', tool_input: {} })
    answers.push(await session.after())
  }
  const given = answers.flatMap((text, index) => (text === '' ? [] : [index + 1]))
  expect(given).toEqual([most])
  expect(answers[most - 1]).toContain('Write done.txt.')
  expect(await session.go()).toContain('Its current step is `implement`.')
})
