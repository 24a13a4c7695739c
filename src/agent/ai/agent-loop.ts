import type {
  LanguageModelUsage,
  ModelMessage,
  OutputInterface,
  StepResult,
  ToolLoopAgent,
  ToolSet,
} from 'ai'
import { messageOf } from '#core/errors'
import { present } from '#core/json'
import { untilAborted } from '#core/runtime'
import { aiSdk } from '#agent/ai-sdk'
import { type AgentEnvironment, type AgentOptions, defaultTimeoutMs } from '#agent/agent-options'
import { Compactor } from '#agent/conversation/compact'
import { maxTurnsExceeded, Repetition, summaryRequest } from '#agent/loop/run-loop'
import { defaultMaxTurns } from '#agent/session'
import type { TokenUsage } from '#agent/types'
import type { RunUsage } from '#agent/usage'
import type { OwnSettings, Skills } from './skills.ts'
import type { SkillTools } from './skill-tool-set.ts'

type Loop = ToolLoopAgent<never, ToolSet & SkillTools, Record<string, unknown>, OutputInterface>

/** The loop of the AI SDK for one call, with an agent's limits and rules. Keeps no conversation. */
export async function openLoop(
  environment: AgentEnvironment,
  skills: Skills,
  tools: ToolSet,
  run: RunUsage,
  signal: AbortSignal | undefined,
): Promise<Loop> {
  const { ToolLoopAgent } = await aiSdk()
  const { askModel, tokenUsage } = await import('#agent/loop/sdk')
  const { options, name } = environment
  const { callSettings = {}, output, telemetry, timeoutMs = defaultTimeoutMs } = options
  const instructions = environment.instructions()
  const model = await environment.model()
  const onUsage = (answering: string, usage: TokenUsage) =>
    run.record({ model: answering, agent: name, usage })
  const ask = (prompt: string) => {
    const limit = AbortSignal.timeout(timeoutMs)
    const stop = signal ? AbortSignal.any([signal, limit]) : limit
    return untilAborted(askModel(prompt, model, callSettings, stop, onUsage), stop)
  }
  return new ToolLoopAgent({
    ...present({ ...callSettings, output, telemetry }),
    id: name,
    model,
    timeout: timeoutMs,
    repairToolCall: async ({ toolCall, tools }) => {
      // Models know tools of servers as `mcp__server__tool` from other agents.
      const toolName = toolCall.toolName.replace(/^mcp__/, '')
      const isKnown = toolName !== toolCall.toolName && Object.hasOwn(tools, toolName)
      return isKnown ? { ...toolCall, toolName } : null
    },
    onLanguageModelCallEnd: (call: { modelId: string; usage: LanguageModelUsage }) =>
      onUsage(call.modelId, tokenUsage(call.usage)),
    onEnd() {
      const spent = run.exhausted()
      if (spent !== undefined) skills.notice(spent)
    },
    ...skills.settings({
      instructions: instructions || undefined,
      tools,
      ...stepRules(options, ask, run, skills.notice, signal),
    }),
  })
}

/** When a run ends, and what the model reads before each of its steps. */
function stepRules(
  { limits, maxTurns = defaultMaxTurns }: AgentOptions,
  ask: (prompt: string) => Promise<string>,
  run: RunUsage,
  notice: (message: string) => void,
  signal: AbortSignal | undefined,
): Pick<OwnSettings<ToolSet>, 'stopWhen' | 'prepareStep'> {
  const repetition = new Repetition()
  let lastStep = Infinity
  return {
    stopWhen: [({ steps }) => steps.length > lastStep, () => run.exhausted() !== undefined],
    async prepareStep({ stepNumber, steps, messages, model }) {
      const { notice: told, end } = repetition.add(callsOf(steps.at(-1)))
      const reason = stepNumber < maxTurns ? end : maxTurnsExceeded
      if (reason !== undefined) {
        lastStep = stepNumber
        notice(reason)
      }
      const { resultsAsText } = await import('#agent/loop/sdk')
      const shown = typeof model === 'string' ? messages : resultsAsText(messages, model)
      const fitted = await new Compactor(limits).fit(shown, ask)
      // A strategy can do without an answer; a call that was aborted is over all the same.
      signal?.throwIfAborted()
      const content = reason === undefined ? told : summaryRequest(reason)
      if (content === undefined) return fitted === messages ? undefined : { messages: [...fitted] }
      const asked: ModelMessage[] = [...fitted, { role: 'user', content }]
      return { messages: asked, ...(reason === undefined ? {} : { activeTools: [] }) }
    },
  }
}

function callsOf(step: StepResult<ToolSet> | undefined) {
  return (step?.content ?? []).flatMap((part) => {
    if (part.type !== 'tool-result' && part.type !== 'tool-error') return []
    const { toolName: name, input } = part
    const result = part.type === 'tool-error' ? messageOf(part.error) : part.output
    return { name, input, result }
  })
}
