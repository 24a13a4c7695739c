import type { Agent, LanguageModelUsage, ModelMessage, Tool, UIMessage } from 'ai'
import { aiSdk } from '#agent/ai-sdk'
import { z } from 'zod'
import { checkArgument, type OptionOwner, required, rule } from '#core/api-options'
import { isObject } from '#core/json'
import { checkAgentOptions } from '#agent/check-options'
import { messageOf } from '#core/errors'
import type { ToolModelOutput } from './tool-set.ts'

/** The progress of a subagent. The last output is its result. */
export interface SubagentOutput {
  subagent: string
  /** Its texts and calls, as a message that a page can display. */
  message: UIMessage | undefined
  /** Its answer, or the reason of its failure. */
  text: string
  failed: boolean
  /** Tokens of its finished model calls and of the subagents that it called. */
  usage: LanguageModelUsage
}

/** An AI SDK agent: a `ToolLoopAgent`, or another implementation of its interface. */
export type AnyAgent = Pick<Agent, 'version' | 'id'> & {
  // Only the parts of the call and of the result that do not depend on its tools and options.
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
  /** When to delegate to it; the model reads this. */
  description: string
  agent: AnyAgent
}

const toolOptions: OptionOwner<SubagentToolOptions> = {
  of: 'subagentTool',
  rules: {
    name: required(rule.text),
    description: required(rule.text),
    agent: required({
      form: 'an agent of the AI SDK',
      fits: (value) => isObject(value) && typeof value['stream'] === 'function',
    }),
  },
}

/**
 * Creates a tool that delegates a task to another AI SDK agent. Its progress arrives as preliminary
 * results; a failure is a result with `failed`. A subagent cannot wait for an approval that comes with
 * a later request: give its tools an approver, or use tools that need no approval.
 *
 * @example
 * tools: { researcher: subagentTool({ name: 'researcher', description: 'Finds facts.', agent }) }
 */
export function subagentTool(options: SubagentToolOptions): Tool<{ task: string }, SubagentOutput> {
  const { name, description, agent } = checkAgentOptions(options, toolOptions)
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

/** Runs an agent on a task. Throws only if the signal aborts. */
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
    for await (const snapshot of readUIMessageStream({ stream, onError })) {
      message = snapshot
      yield output(message)
    }
    abortSignal?.throwIfAborted()
    if (failure === undefined) {
      usage = sumOf(usage, ...subagentUsages(await result.responseMessages))
      const waitsForApproval = message?.parts.some(
        (part) => 'state' in part && part.state === 'approval-requested',
      )
      if (waitsForApproval) failure = 'It needs an approval, and a subagent cannot wait for one.'
      else if (lastText(message) === '') failure = 'It answered nothing.'
    }
  } catch (error) {
    abortSignal?.throwIfAborted()
    failure = messageOf(error)
  }
  yield output(message, failure)
}

/** The text of the last step, which is the answer. */
function lastText(message: UIMessage | undefined) {
  const start = message?.parts.findLastIndex(({ type }) => type === 'step-start') ?? -1
  const parts = message?.parts.slice(start + 1) ?? []
  return parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('')
}

/** Returns the answer for the model. It carries the usage, which {@link totalUsage} reads. */
export function subagentAnswer(
  { text, failed, usage }: SubagentOutput,
  introduction = '',
): ToolModelOutput {
  return {
    type: failed ? 'error-text' : 'text',
    value: `${failed ? 'Error: ' : introduction}${text}`,
    providerOptions: { skillrail: { usage: { ...usage } } },
  }
}

/**
 * Returns the tokens of a result and of the subagents that it called, including those that failed and
 * those that a resumed call ran before the first step. A count that no provider reported is undefined.
 *
 * @example const { totalTokens } = await totalUsage(await agent.generate({ prompt }))
 */
export async function totalUsage(result: {
  usage: LanguageModelUsage | PromiseLike<LanguageModelUsage>
  responseMessages: ModelMessage[] | PromiseLike<ModelMessage[]>
}): Promise<LanguageModelUsage> {
  checkArgument(result, 'A result', rule.object)
  return sumOf(await result.usage, ...subagentUsages(await result.responseMessages))
}

function subagentUsages(messages: readonly ModelMessage[]): Usage[] {
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
    return counts.length === 0 ? undefined : counts.reduce((total, one) => total + one)
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
