import { UsageError } from '../base/index.ts'
import type { InstructionExecutor } from '../chain/index.ts'
import { agentClis, type AgentCliName, isAgentCli } from '../exec/index.ts'

/** How `--via` has the steps executed that have no script. */
export function viaInstructions(via: string | undefined): InstructionExecutor | undefined {
  const client = clientNamed(via)
  if (client === undefined) return undefined
  return { kind: 'agent', client, honours: agentClis[client].honours }
}

/** @throws {UsageError} for a name that is none of ours. */
export function clientNamed(via: string | undefined): AgentCliName | undefined {
  if (via === undefined || isAgentCli(via)) return via
  throw new UsageError({
    code: 'wrong-use',
    message: `--via ${via}: there is no such agent client`,
    hint: `Known are ${Object.keys(agentClis).join(', ')}.`,
  })
}
