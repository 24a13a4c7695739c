import {
  type CallAtGate,
  gatedCall,
  type ServerListFailure,
  ToolRefusedError,
} from '../../tools/index.ts'
import { matchWorkflows, type WorkflowDefinition, type WorkflowTool } from '../../workflow/index.ts'

export interface FailClosedOptions {
  /** Those that bind: none that only suggests. */
  workflows: readonly WorkflowDefinition[]
  /** Servers that could not be listed; what they have is not known. */
  failures: readonly Pick<ServerListFailure, 'server' | 'message'>[]
  installed: readonly WorkflowTool[]
}

/**
 * A workflow whose tools are nowhere is reported and lets the call pass.
 * @throws {ToolRefusedError} where a server that may have them cannot be used.
 */
export function failClosed(call: CallAtGate, options: FailClosedOptions): void {
  const { workflows, failures, installed } = options
  if (failures.length === 0) return
  const [first] = matchWorkflows(gatedCall(call), workflows, installed).notInstalled
  if (first === undefined) return
  const reasons = failures.map(({ server, message }) => `${server} cannot be used: ${message}`)
  throw new ToolRefusedError({
    code: 'workflow-servers',
    message: `Workflow '${first.workflow}' must run first and cannot: it needs ${first.missing.join(', ')}, and ${reasons.join('; ')}`,
    hint: 'skillrail tools servers says what is wrong with them.',
  })
}
