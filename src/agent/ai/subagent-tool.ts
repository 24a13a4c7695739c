import type { Agent, LanguageModelUsage, ModelMessage, Tool, UIMessage } from 'ai'
import { aiSdk } from '#agent/ai-sdk'
import { z } from 'zod'
import { messageOf } from '#core/errors'
import type { ToolModelOutput } from './tool-set.ts'

/** What a subagent has done until now; the last one is its result. */
export interface SubagentOutput {
  subagent: string
  /** What it wrote and called, as a message that a page can show. */
  message: UIMessage | undefined
  /** Its answer; of a failure, why it failed. */
  text: string
  failed: boolean
  /** Of its finished model calls, and of the subagents that it called. */
  usage: LanguageModelUsage
}

/** An agent of the AI SDK: `ToolLoopAgent`, `Agent` of `skillrail/agent`, or one of your own. */
export type AnyAgent = Pick<Agent, 'version' | 'id'> & {
  // What it is called with and returns here does not depend on its tools and options.
  stream(call: {
    prompt: string
    abortSignal?: AbortSignal
    onStepEnd?: (step: { usage: LanguageModelUsage }) => void
  }): PromiseLike<{
    stream: Parameters<typeof import('ai').toUIMessageStream>[0]['stream']
    responseMessages: PromiseLike<ModelMessage[]>
  }>
}

export interface SubagentToolOptions {
  name: string
  /** What it is for; the model decides by it. */
  description: string
  agent: AnyAgent
}

/**
 * A tool that hands a task to another agent of the AI SDK. What it does arrives as preliminary
 * results while it works; a failure is a result with `failed`. It cannot wait for an approval that
 * comes with a later request: give its tools an approver, or none that need one.
 *
 * @example
 * tools: { researcher: subagentTool({ name: 'researcher', description: 'Finds facts.', agent }) }
 */
export function subagentTool({
  name,
  description,
  agent,
}: SubagentToolOptions): Tool<{ task: string }, SubagentOutput> {
  return {
    description,
    inputSchema: z.object({
      task: z.string().describe('What to do, with everything that is needed for it.'),
    }),
    async *execute({ task }, { abortSignal }) {
      yield* runSubagent(name, agent, task, abortSignal)
    },
    toModelOutput: ({ output }) => subagentAnswer(output),
  }
}

/** Runs an agent on a task. Only an abort is thrown. */
export async function* runSubagent(
  subagent: string,
  agent: AnyAgent,
  task: string,
  abortSignal: AbortSignal | undefined,
): AsyncGenerator<SubagentOutput> {
  const { readUIMessageStream, toUIMessageStream } = await aiSdk()
  let usage = sumOf()
  const output = (message: UIMessage | undefined, failure?: string): SubagentOutput => {
    const text = failure ?? lastText(message)
    return { subagent, message, text, failed: failure !== undefined, usage }
  }
  let message: UIMessage | undefined
  let failure: string | undefined
  try {
    const result = await agent.stream({
      prompt: task,
      ...(abortSignal ? { abortSignal } : {}),
      onStepEnd: (step) => void (usage = sumOf(usage, step.usage)),
    })
    const onError = (error: unknown) => (failure = messageOf(error))
    const stream = toUIMessageStream({ stream: result.stream, onError })
    for await (const grown of readUIMessageStream({ stream, onError })) {
      message = grown
      yield output(message)
    }
    abortSignal?.throwIfAborted()
    if (failure === undefined) {
      usage = sumOf(usage, ...nestedIn(await result.responseMessages))
      if (message?.parts.some((part) => 'state' in part && part.state === 'approval-requested'))
        failure = 'It needs an approval, and a subagent cannot wait for one.'
      else if (lastText(message) === '') failure = 'It answered nothing.'
    }
  } catch (error) {
    abortSignal?.throwIfAborted()
    failure = messageOf(error)
  }
  yield output(message, failure)
}

function lastText(message: UIMessage | undefined) {
  const start = message?.parts.findLastIndex(({ type }) => type === 'step-start') ?? -1
  const parts = message?.parts.slice(start + 1) ?? []
  return parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('')
}

/** What the model reads of an answer; the usage travels along, for {@link totalUsage}. */
export function subagentAnswer(
  { text, failed, usage }: SubagentOutput,
  before = '',
): ToolModelOutput {
  return {
    type: failed ? 'error-text' : 'text',
    value: `${failed ? 'Error: ' : before}${text}`,
    providerOptions: { skillrail: { usage: { ...usage } } },
  }
}

/**
 * Returns the tokens of a result with those of the subagents that it called, also before its first
 * step and where they failed. A count that no provider reported is undefined.
 *
 * @example const { totalTokens } = await totalUsage(await agent.generate({ prompt }))
 */
export async function totalUsage(result: {
  usage: LanguageModelUsage | PromiseLike<LanguageModelUsage>
  responseMessages: ModelMessage[] | PromiseLike<ModelMessage[]>
}): Promise<LanguageModelUsage> {
  return sumOf(await result.usage, ...nestedIn(await result.responseMessages))
}

function nestedIn(messages: readonly ModelMessage[]): Usage[] {
  return messages.flatMap(({ content }) => {
    if (typeof content === 'string') return []
    return content.flatMap((part) => {
      if (part.type !== 'tool-result' || part.output.type === 'content') return []
      return usageSchema.safeParse(part.output.providerOptions?.['skillrail']?.['usage']).data ?? []
    })
  })
}

const count = z.number().optional()

const usageSchema = z.object({
  inputTokens: count,
  inputTokenDetails: z.object({
    noCacheTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
  }),
  outputTokens: count,
  outputTokenDetails: z.object({ textTokens: count, reasoningTokens: count }),
  totalTokens: count,
})

type Usage = z.infer<typeof usageSchema>

function sumOf(...usages: readonly Usage[]): LanguageModelUsage {
  const sum = (read: (usage: Usage) => number | undefined) => {
    const counts = usages.flatMap((usage) => read(usage) ?? [])
    return counts.length === 0 ? undefined : counts.reduce((all, one) => all + one)
  }
  return {
    inputTokens: sum((usage) => usage.inputTokens),
    inputTokenDetails: {
      noCacheTokens: sum(({ inputTokenDetails: input }) => input.noCacheTokens),
      cacheReadTokens: sum(({ inputTokenDetails: input }) => input.cacheReadTokens),
      cacheWriteTokens: sum(({ inputTokenDetails: input }) => input.cacheWriteTokens),
    },
    outputTokens: sum((usage) => usage.outputTokens),
    outputTokenDetails: {
      textTokens: sum(({ outputTokenDetails: output }) => output.textTokens),
      reasoningTokens: sum(({ outputTokenDetails: output }) => output.reasoningTokens),
    },
    totalTokens: sum((usage) => usage.totalTokens),
  }
}
