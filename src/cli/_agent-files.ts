import type { AgentDiscovery, SubagentConfig } from '../agent/index.ts'
import type { CommandContext } from './command.ts'

/** The files that define subagents, as the user's and the project's configuration have it. */
export async function agentFiles({ runtime, settings }: CommandContext): Promise<AgentDiscovery> {
  const { discoverAgents } = await import('../agent/index.ts')
  const { trustedPaths, precedence } = settings.skills
  const { workspaceTrust } = settings
  return discoverAgents({ runtime, trustedPaths, precedence, workspaceTrust })
}

/** The fields of a definition, as JSON has them; the prompt stands by itself. */
export function agentFieldsJson(definition: SubagentConfig): Record<string, unknown> {
  const { systemPrompt: _, config, ...fields } = definition
  return { ...fields, timeoutMs: config?.timeoutMs }
}
