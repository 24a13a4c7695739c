import { safeText } from '../../base/index.ts'
import { planText } from './plan-text.ts'
import type { ProposedCall } from './request-world.ts'

/** What is called with all of its parameters, as a person has to see it before a yes. */
export function proposalText(plan: readonly ProposedCall[]): string {
  const [only, ...others] = plan
  if (only !== undefined && others.length === 0) {
    const { tool, params, unusual } = only
    const lines = [`Tool: ${tool.id}`, `Params: ${JSON.stringify(params, null, 2)}`]
    return safeText([...lines, ...(unusual === undefined ? [] : [unusual])].join('\n'))
  }
  const lines = plan.map(({ unusual, tool, ...call }) => ({
    ...call,
    tool: tool.id,
    facts: unusual === undefined ? [] : [unusual],
  }))
  return safeText(`Plan:\n${planText(lines)}`)
}
