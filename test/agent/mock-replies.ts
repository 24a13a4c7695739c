import { MockLanguageModelV4 } from 'ai/test'
import type { AgentTool } from '../../src/agent/types.ts'

export type Reply = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

type Streamed = Awaited<ReturnType<MockLanguageModelV4['doStream']>>['stream']
type StreamPart = Streamed extends ReadableStream<infer Part> ? Part : never

/** Tokens of one answer, as a provider reports them. */
export function tokens(input: number, output: number): Reply['usage'] {
  return {
    inputTokens: { total: input, noCache: input, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: output, text: output, reasoning: undefined },
  }
}

export function says(text: string, usage: Reply['usage'] = tokens(10, 2)): Reply {
  return {
    content: text === '' ? [] : [{ type: 'text', text }],
    finishReason: { unified: 'stop', raw: 'stop' },
    usage,
    warnings: [],
  }
}

/** Calls of tools by wire name; `input` that is a string goes out as it stands. */
export function calls(
  wanted: readonly { name: string; input?: unknown; id?: string }[],
  usage: Reply['usage'] = tokens(10, 2),
): Reply {
  return {
    content: wanted.map(({ name, input = {}, id }, index) => ({
      type: 'tool-call',
      toolCallId: id ?? `call-${index}-${name}`,
      toolName: name,
      input: typeof input === 'string' ? input : JSON.stringify(input),
    })),
    finishReason: { unified: 'tool-calls', raw: 'tool_calls' },
    usage,
    warnings: [],
  }
}

export function call(name: string, input: unknown = {}, id?: string): Reply {
  return calls([{ name, input, ...(id === undefined ? {} : { id }) }])
}

/** Answers in this order, streamed or not; anything beyond the last one is an error. */
export function scripted(
  replies: readonly (Reply | Error)[],
  modelId = 'mock',
): MockLanguageModelV4 {
  let next = 0
  const take = (): Reply => {
    const reply = replies[next++]
    if (reply === undefined) throw new Error(`no reply ${next} was scripted`)
    if (reply instanceof Error) throw reply
    return reply
  }
  return new MockLanguageModelV4({
    modelId,
    doGenerate: async () => take(),
    doStream: async () => ({ stream: ReadableStream.from(streamOf(take())) }),
  })
}

/** The parts of an answer as a provider streams them, text word by word. */
export function streamOf({ content, finishReason, usage }: Reply): StreamPart[] {
  const parts = content.flatMap((part, index): StreamPart[] => {
    const id = `${index}`
    if (part.type === 'text') {
      const words = part.text.match(/\S*\s*/g)?.filter((word) => word !== '') ?? []
      return [
        { type: 'text-start', id },
        ...words.map((delta) => ({ type: 'text-delta' as const, id, delta })),
        { type: 'text-end', id },
      ]
    }
    return part.type === 'tool-call' ? [part] : []
  })
  return [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }]
}

/** A tool that needs no approval and remembers what it was called with. */
export function echoTool(
  name = 'echo',
  parts: Partial<AgentTool> = {},
): AgentTool & { seen: unknown[] } {
  const seen: unknown[] = []
  return {
    seen,
    name,
    description: `The tool ${name}.`,
    inputSchema: { type: 'object', properties: {} },
    readOnly: true,
    origin: { kind: 'program' },
    async execute(input) {
      seen.push(input)
      return `${name} said ${JSON.stringify(input)}`
    },
    ...parts,
  }
}

interface AnyMessage {
  content: string | readonly { type: string; output?: { type: string; value?: unknown } }[]
}

/** The texts of the tool results in a message, as the model reads them. */
export function resultTexts({ content }: AnyMessage): string[] {
  if (typeof content === 'string') return []
  return content.flatMap(({ output }) => (typeof output?.value === 'string' ? [output.value] : []))
}
