import type { LanguageModelUsage, OutputInterface, StepResult, ToolLoopAgent, ToolSet } from 'ai'
import { messageOf } from '../../core/errors.ts'
import { aiSdk } from '../ai-sdk.ts'
import { type AgentEnvironment, defaultTimeoutMs } from '../agent-options.ts'
import { Compactor } from '../conversation/compact.ts'
import { maxTurnsExceeded, Repetition, summaryRequest } from '../loop/run-loop.ts'
import { defaultMaxTurns } from '../session.ts'
import type { TokenUsage } from '../types.ts'
import type { RunUsage } from '../usage.ts'
import type { SkillSettings, Skills } from './skills.ts'
import type { SkillTools } from './skill-tool-set.ts'

/** Settings of the loop of the AI SDK for one call: its turns, its limits, and the rules of calls. */
export function loopSettings(
  environment: AgentEnvironment,
  skills: Skills,
  tools: ToolSet,
  usage: RunUsage,
): SkillSettings<ToolSet> {
  const { maxTurns = defaultMaxTurns, limits } = environment.options
  const instructions = environment.instructions()
  const repetition = new Repetition()
  let lastStep = Infinity
  return skills.settings({
    ...(instructions === '' ? {} : { instructions }),
    tools,
    stopWhen: [({ steps }) => steps.length > lastStep, () => usage.exhausted() !== undefined],
    async prepareStep({ stepNumber, steps, messages }) {
      const { notice, end } = repetition.add(callsOf(steps.at(-1)))
      const reason = stepNumber < maxTurns ? end : maxTurnsExceeded
      if (reason !== undefined) lastStep = stepNumber
      const { resultsAsText } = await import('../loop/sdk.ts')
      const read = resultsAsText(messages, await environment.model())
      const ask = (prompt: string): Promise<string> => askBeside(environment, prompt, usage)
      const fitted = [...(await new Compactor(limits).fit(read, ask))]
      const content = reason === undefined ? notice : summaryRequest(reason)
      const isSame =
        content === undefined &&
        fitted.length === messages.length &&
        fitted.every((message, index) => message === messages[index])
      if (isSame) return undefined
      if (content !== undefined) fitted.push({ role: 'user', content })
      return { messages: fitted, ...(reason === undefined ? {} : { activeTools: [] }) }
    },
  })
}

/** The calls of a step with what came of them. */
function callsOf(step: StepResult<ToolSet> | undefined) {
  return (step?.content ?? []).flatMap((part) => {
    if (part.type !== 'tool-result' && part.type !== 'tool-error') return []
    const { toolName: name, input } = part
    const result = part.type === 'tool-error' ? messageOf(part.error) : part.output
    return { name, input, result }
  })
}

async function askBeside(
  environment: AgentEnvironment,
  prompt: string,
  run: RunUsage,
): Promise<string> {
  const { askModel } = await import('../loop/sdk.ts')
  const { callSettings: settings, timeoutMs = defaultTimeoutMs } = environment.options
  const model = await environment.model()
  const signal = AbortSignal.timeout(timeoutMs)
  const agent = environment.name
  const onUsage = (answering: string, usage: TokenUsage): void =>
    run.record({ model: answering, agent, usage })
  return await askModel(prompt, { model, settings, signal, onUsage })
}

type Loop = ToolLoopAgent<never, ToolSet & SkillTools, Record<string, unknown>, OutputInterface>

/** The loop of the AI SDK with everything that an agent has. It keeps no conversation. */
export async function openLoop(
  environment: AgentEnvironment,
  settings: SkillSettings<ToolSet>,
  run: RunUsage,
): Promise<Loop> {
  const { ToolLoopAgent } = await aiSdk()
  const { tokenUsage } = await import('../loop/sdk.ts')
  const { options, name } = environment
  const { callSettings = {}, output, telemetry, timeoutMs = defaultTimeoutMs } = options
  const set = Object.entries(callSettings).filter(([, value]) => value !== undefined)
  return new ToolLoopAgent({
    ...Object.fromEntries(set),
    id: name,
    model: await environment.model(),
    timeout: timeoutMs,
    ...(output === undefined ? {} : { output }),
    ...(telemetry === undefined ? {} : { telemetry }),
    repairToolCall: async ({ toolCall, tools }) => {
      // Models know tools of servers as `mcp__server__tool` from other agents.
      const toolName = toolCall.toolName.replace(/^mcp__/, '')
      const isKnown = toolName !== toolCall.toolName && Object.hasOwn(tools, toolName)
      return isKnown ? { ...toolCall, toolName } : null
    },
    onLanguageModelCallEnd: (call: { modelId: string; usage: LanguageModelUsage }) =>
      run.record({ model: call.modelId, agent: name, usage: tokenUsage(call.usage) }),
    ...settings,
  })
}
