import { describe, expect, it } from 'vitest'
import { UsageLedger } from '../../src/agent/usage.ts'
import { AgentSession } from '../../src/agent/session.ts'
import type { SessionPart } from '../../src/agent/session-contract.ts'
import { call, echoTool, says, scripted } from './mock-replies.ts'

function sessionWith(
  replies: Parameters<typeof scripted>[0],
  parts: readonly SessionPart[],
): { session: AgentSession; model: ReturnType<typeof scripted> } {
  const model = scripted(replies)
  const usage = new UsageLedger()
  return { model, session: new AgentSession({ agent: 'main', model: () => model, usage, parts }) }
}

describe('the parts of a conversation', () => {
  it('add instructions, change the prompt in order, and are called at the end of the turn', async () => {
    const heard: string[] = []
    const part = (name: string): SessionPart => ({
      instructions: async () => `Know ${name}.`,
      prompt: async (text) => `${text} ${name}`,
      async turnEnded() {
        heard.push(name)
      },
    })
    const { session, model } = sessionWith([new Error('down')], [part('one'), part('two')])
    expect((await session.run('Go', {})).status).toBe('failed')
    expect(model.doGenerateCalls[0]?.prompt).toMatchObject([
      { content: 'Know one.\n\nKnow two.' },
      { content: [{ text: 'Go one two' }] },
    ])
    expect(heard).toEqual(['one', 'two'])
  })

  it('are asked about a call until one refuses, each with the input of the one before', async () => {
    const tool = echoTool('write', { readOnly: false, origin: { kind: 'built-in' } })
    const seen: unknown[] = []
    const guard = (answer: 'allow' | 'refuse'): SessionPart => ({
      async permit(_tool, input) {
        seen.push(input)
        return answer === 'allow'
          ? { allowed: true, input: { ...input, by: seen.length } }
          : { allowed: false, reason: 'no' }
      },
    })
    const parts = [{ tools: () => [tool] }, guard('allow'), guard('refuse'), guard('allow')]
    const { session } = sessionWith([call('write', { a: 1 }), says('Done.')], parts)
    await session.run('Go.')
    expect(seen).toEqual([{ a: 1 }, { a: 1, by: 1 }])
    expect(tool.seen).toEqual([])
  })

  it('refuse a call that needs an approval when none of them decides', async () => {
    const tool = echoTool('write', { readOnly: false, origin: { kind: 'built-in' } })
    const parts = [{ tools: () => [tool] }]
    const { session } = sessionWith([call('write'), says('Done.')], parts)
    await session.run('Go.')
    expect(session.contains('this session cannot ask for one')).toBe(true)
    expect(tool.seen).toEqual([])
  })

  it.each(['permit', 'beforeTool'] as const)(
    'start nothing and run no tool if the run was cancelled during %s',
    async (slow) => {
      const [controller, tool, begun] = [new AbortController(), echoTool('write'), new Set()]
      let goOn = (): void => undefined
      const late = new Promise<void>((resolve) => {
        goOn = resolve
      })
      const cancelling = async (): Promise<void> => {
        controller.abort()
        await late
      }
      const parts: SessionPart[] = [
        { tools: () => [tool] },
        slow === 'permit'
          ? { permit: () => cancelling().then(() => ({ allowed: true })) }
          : { beforeTool: cancelling },
        {
          async beforeTool() {
            begun.add('the next')
          },
        },
      ]
      const { session } = sessionWith([call('write'), says('Done.')], parts)
      const { status } = await session.run('Go.', { signal: controller.signal })
      goOn()
      await new Promise((resolve) => setImmediate(resolve))
      expect(status).toBe('cancelled')
      expect([...begun, ...tool.seen]).toEqual([])
    },
  )

  it('can prevent an allowed call', async () => {
    const tool = echoTool()
    const part: SessionPart = {
      tools: () => [tool],
      async beforeTool() {
        throw new Error('first look at the schema')
      },
    }
    const { session } = sessionWith([call('echo'), says('Done.')], [part])
    await session.run('Go.')
    expect(session.contains('Error: first look at the schema')).toBe(true)
    expect(tool.seen).toEqual([])
  })

  it('sends messages of the time between two runs with the next prompt', async () => {
    const { session, model } = sessionWith([says('a'), says('b')], [])
    await session.run('One.')
    session.steer('By the way.')
    await session.run('Two.')
    expect(JSON.stringify(model.doGenerateCalls[1]?.prompt)).toContain('By the way.')
  })
})
