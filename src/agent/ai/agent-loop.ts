import type { LanguageModelUsage, OutputInterface, Tool, ToolLoopAgent, ToolSet } from 'ai'
import { aiSdk } from '../ai-sdk.ts'
import { type AgentEnvironment, defaultTimeoutMs } from '../agent-options.ts'
import { Compactor } from '../conversation/compact.ts'
import { maxTurnsExceeded, summaryRequest } from '../loop/run-loop.ts'
import { defaultMaxTurns } from '../session.ts'
import type { AgentTool, UsageEntry } from '../types.ts'
import type { McpPart } from '../mcp-tools/mcp-part.ts'
import type { SkillSettings, Skills } from './skills.ts'
import type { SkillTools } from './skill-tool-set.ts'
import { toToolSet } from './tool-set.ts'

/** Settings of the loop of the AI SDK for an agent: its turns, its limits, and the rules of calls. */
export function loopSettings(
  environment: AgentEnvironment,
  skills: Skills,
  tools: ToolSet,
): SkillSettings<ToolSet> {
  const { maxTurns = defaultMaxTurns, limits } = environment.options
  const instructions = environment.instructions()
  return skills.settings({
    ...(instructions === '' ? {} : { instructions }),
    tools,
    stopWhen: ({ steps }) => steps.length > maxTurns,
    async prepareStep({ stepNumber, messages }) {
      const fitted = [...(await new Compactor(limits).fit(messages))]
      const isSame =
        fitted.length === messages.length &&
        fitted.every((message, index) => message === messages[index])
      if (stepNumber < maxTurns) return isSame ? undefined : { messages: fitted }
      const content = summaryRequest(maxTurnsExceeded)
      return { activeTools: [], messages: [...fitted, { role: 'user', content }] }
    },
  })
}

type Loop = ToolLoopAgent<never, ToolSet & SkillTools, Record<string, unknown>, OutputInterface>

/** The loop of the AI SDK with everything that an agent has. It keeps no conversation. */
export async function openLoop(
  environment: AgentEnvironment,
  settings: SkillSettings<ToolSet>,
  onUsage: (entry: UsageEntry) => void,
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
      onUsage({ model: call.modelId, agent: name, usage: tokenUsage(call.usage) }),
    ...settings,
  })
}

/** The agent's own tools as those of the AI SDK; workflows are checked around every call. */
export function agentToolSet(tools: readonly AgentTool[], servers: McpPart): Record<string, Tool> {
  const checked = tools.map((tool): AgentTool => {
    return {
      ...tool,
      async execute(input, context) {
        await servers.beforeTool?.(tool, input, context)
        const output = await tool.execute(input, context)
        await servers.afterTool?.(tool, input, output, false)
        return output
      },
    }
  })
  return toToolSet(checked)
}
