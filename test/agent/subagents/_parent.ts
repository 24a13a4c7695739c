import { setImmediate } from 'node:timers/promises'
import { MockLanguageModelV4 } from 'ai/test'
import { Agent } from '../../../src/agent/agent.ts'
import type { AgentOptions } from '../../../src/agent/agent-options.ts'
import type { SubagentConfig } from '../../../src/agent/subagents/config.ts'
import type { SubagentManager } from '../../../src/agent/subagents/manager.ts'
import type { AgentEvent, AgentTool, UsageEntry } from '../../../src/agent/types.ts'
import { until } from '../../patience.ts'
import { type Reply, says, scripted } from '../mock-replies.ts'

export interface Delegating {
  agent: Agent
  manager: SubagentManager
  model: MockLanguageModelV4
  /** What was booked, by model and delegation. */
  usage: () => readonly UsageEntry[]
  events: AgentEvent[]
}

export interface DelegatingOptions {
  replies?: readonly (Reply | Error)[] | undefined
  model?: MockLanguageModelV4 | undefined
  configs?: readonly SubagentConfig[] | undefined
  tools?: readonly AgentTool[] | undefined
  parent?: Partial<AgentOptions> | undefined
}

/** The manager of an agent that has nothing but what the test gives it. */
export function delegating(given: DelegatingOptions = {}): Delegating {
  const model = given.model ?? scripted(given.replies ?? [says('Done.')], 'parent-model')
  const events: AgentEvent[] = []
  const agent = new Agent({
    model,
    discover: false,
    tools: given.tools,
    subagents: given.configs ?? [worker()],
    onEvent: (event) => events.push(event),
    ...given.parent,
  })
  const usage = (): readonly UsageEntry[] => agent.usage.entries
  return { agent, manager: agent.subagentManager, model, usage, events }
}

export function worker(more: Partial<SubagentConfig> = {}): SubagentConfig {
  return { name: 'worker', description: 'Works.', ...more }
}

/** What a model was sent at its nth call: the texts of one role. */
export function textsOf(model: MockLanguageModelV4, index: number, role: string): string[] {
  const prompt = model.doGenerateCalls[index]?.prompt ?? []
  return prompt.flatMap((message) => {
    if (message.role !== role) return []
    if (typeof message.content === 'string') return [message.content]
    return message.content.flatMap((part) => {
      if (part.type === 'text') return [part.text]
      if (part.type !== 'tool-result' || !('value' in part.output)) return []
      return typeof part.output.value === 'string' ? [part.output.value] : []
    })
  })
}

export function toolsOffered(model: MockLanguageModelV4, index: number): string[] {
  return (model.doGenerateCalls[index]?.tools ?? []).map(({ name }) => name)
}

/** A model that answers only when it is told to, or when it is aborted. */
export function hanging(): {
  model: MockLanguageModelV4
  asked: Promise<void>
  answer: (r: Reply) => void
} {
  let answer: (reply: Reply) => void = () => undefined
  let seen: () => void = () => undefined
  const asked = new Promise<void>((resolve) => {
    seen = resolve
  })
  const model = new MockLanguageModelV4({
    modelId: 'slow',
    doGenerate: ({ abortSignal }) =>
      new Promise((resolve, reject) => {
        answer = resolve
        abortSignal?.addEventListener('abort', () => reject(abortSignal.reason), { once: true })
        seen()
      }),
  })
  return { model, asked, answer: (reply) => answer(reply) }
}

/** A model that does not answer before so many are asking it at once; `most` is how many ever did. */
export function askedTogether(count: number): { model: MockLanguageModelV4; most: () => number } {
  let now = 0
  let most = 0
  const model = new MockLanguageModelV4({
    doGenerate: async () => {
      now += 1
      most = Math.max(most, now)
      await until(() => most >= count)
      await setImmediate()
      now -= 1
      return says('ok')
    },
  })
  return { model, most: () => most }
}
