import { type CallGate, type ServerListFailure, ToolRefusedError } from '../../tools/index.ts'
import {
  matchWorkflows,
  type WorkflowDefinition,
  type WorkflowTool,
} from '../../workflow/index.ts'

export interface FailClosedOptions {
  workflows: readonly WorkflowDefinition[]
  /** Servers that could not be listed; what they have is not known. */
  failures: readonly Pick<ServerListFailure, 'server' | 'message'>[]
  tools: () => readonly WorkflowTool[]
}

/**
 * A workflow whose tools are nowhere is reported and lets the call pass. Where a server that may have
 * them cannot be used, because it is down or its project was never trusted, the call is refused.
 */
export function failClosed(gate: CallGate, options: FailClosedOptions): CallGate {
  const { workflows, failures, tools } = options
  const binding = workflows.filter(({ mode }) => mode !== 'suggest')
  if (failures.length === 0 || binding.length === 0) return gate
  return {
    async pass(call, callStep) {
      const { notInstalled } = matchWorkflows(call, binding, tools())
      const [first] = notInstalled
      if (first !== undefined) throw refusal(first, failures)
      await gate.pass(call, callStep)
    },
    after: (call, text) => gate.after(call, text),
  }
}

function refusal(
  { workflow, missing }: { workflow: string; missing: readonly string[] },
  failures: FailClosedOptions['failures'],
): ToolRefusedError {
  const reasons = failures.map(({ server, message }) => `${server} cannot be used: ${message}`)
  return new ToolRefusedError({
    code: 'workflow-servers',
    message: `Workflow '${workflow}' must run first and cannot: it needs ${missing.join(', ')}, and ${reasons.join('; ')}`,
    hint: 'skillrail tools servers says what is wrong with them.',
  })
}
