import {
  convertToModelMessages,
  createAgentUIStreamResponse,
  type ModelMessage,
  readUIMessageStream,
  type ToolSet,
  type UIMessage,
  type UIMessageChunk,
} from 'ai'
import { createSkills, type Skills, type SkillsOptions } from '../../../src/agent/ai/skills.ts'
import { emptyFixture } from '../_agent-fixture.ts'

export type Place = ReturnType<typeof emptyFixture>

/** Skills of a project that is trusted, as an application has them. */
export async function skillsOf(place: Place, options: SkillsOptions = {}): Promise<Skills> {
  const { runtime } = place
  return await createSkills({ runtime, discover: true, workspaceTrust: 'trusted', ...options })
}

/** A project with a skill that has a script, a file and an approved tool. */
export function project(more = 'allowed-tools: publish'): Place {
  const place = emptyFixture()
  place.skill('project/.claude/skills/notes', {
    more,
    body: 'SECRET-RECIPE: write the notes of $ARGUMENTS.',
  })
  place.executable('project/.claude/skills/notes/scripts/count', script('{"words": 7}'))
  place.write({ 'project/.claude/skills/notes/references/style.md': 'STYLE-TEXT: be short.' })
  return place
}

export function script(result: string): string {
  return `#!/bin/sh\ncat >/dev/null\necho '{"status":"success","result":${result}}'\n`
}

/** What a model was sent at one step: every text in it. */
export function sent(
  model: { doGenerateCalls: unknown[]; doStreamCalls: unknown[] },
  step: number,
): string {
  const calls = model.doGenerateCalls.length > 0 ? model.doGenerateCalls : model.doStreamCalls
  return JSON.stringify(calls.at(step))
}

type AnyUIAgent = Parameters<typeof createAgentUIStreamResponse>[0]['agent']

/** A page with `useChat`: it sends all messages, and keeps what it gets back. */
export class Page {
  messages: UIMessage[] = []
  /** Everything that the server ever sent, as text. */
  received = ''

  async send(agent: unknown, text?: string): Promise<UIMessage> {
    if (text !== undefined) {
      const parts = [{ type: 'text' as const, text }]
      this.messages.push({ id: `u${this.messages.length}`, role: 'user', parts })
    }
    const uiMessages = JSON.parse(JSON.stringify(this.messages))
    const response = await createAgentUIStreamResponse({ agent: agentOf(agent), uiMessages })
    const body = await response.text()
    this.received += body
    const chunks = body
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line): UIMessageChunk => JSON.parse(line.slice('data: '.length)))
    const last = this.messages.at(-1)
    const message = last?.role === 'assistant' ? last : undefined
    let answer: UIMessage | undefined
    const stream = ReadableStream.from(chunks)
    for await (const grown of readUIMessageStream({ stream, ...(message && { message }) })) {
      answer = grown
    }
    if (answer === undefined) throw new Error(`the server sent no message: ${body}`)
    if (message !== undefined) this.messages.pop()
    this.messages.push(structuredClone(answer))
    return answer
  }

  /** Answers the approval that waits, as the user. */
  answer(approved: boolean): void {
    const text = JSON.stringify(this.messages)
    this.messages = JSON.parse(text, (_, value) =>
      value?.state === 'approval-requested'
        ? { ...value, state: 'approval-responded', approval: { ...value.approval, approved } }
        : value,
    )
  }

  async modelMessages(tools: ToolSet): Promise<ModelMessage[]> {
    return await convertToModelMessages(this.messages, { tools })
  }
}

function isAgent(agent: unknown): agent is AnyUIAgent {
  return typeof agent === 'object' && agent !== null && 'stream' in agent
}

function agentOf(agent: unknown): AnyUIAgent {
  if (isAgent(agent)) return agent
  throw new Error('no agent')
}
