import type { Activation } from '../../library/index.ts'
import { type CallRules, createPermit } from '../approval/permit.ts'
import { callFits } from '../approval/tool-patterns.ts'
import type { SessionPart } from '../session-part.ts'
import { heldHooks } from '../skills/held-hooks.ts'
import type { PermissionMode, SubagentConfig } from './config.ts'
import type { SubagentParent } from './parent.ts'
import type { ToolSelection } from './select-tools.ts'

export interface GuardOptions {
  config: SubagentConfig
  /** The one that holds now. */
  selection: () => ToolSelection
  /** Skills whose permissions hold in this conversation. */
  skills: readonly Activation[]
  parent: SubagentParent
}

/**
 * Stands before every call of a subagent: the patterns of its definition, then everything that an
 * agent's own calls are held against, with whoever approves for the parent.
 */
export function guardPart(options: GuardOptions): SessionPart {
  const { config, selection, parent } = options
  const { platform } = parent.runtime
  const { mode, asks } = strictest(parent.permissionMode, config.permissionMode)
  const hooks = heldHooks(options.skills, {
    manager: parent.skills(),
    runtime: parent.runtime,
    project: parent.runtime.cwd,
    mode,
    notice: (message) => parent.onEvent({ type: 'notice', agent: config.name, message }),
  })
  const rules = rulesOf(options.skills, parent, hooks.beforeTool)
  return {
    afterTool: hooks.afterTool,
    beforeStop: hooks.beforeStop,
    permit(tool, input, context) {
      const { limits, denied } = selection()
      const limit = limits.get(tool.name)
      if (limit !== undefined && !callFits(tool, input, limit, platform)) {
        const reason = `this subagent may only call it as ${limit.join(' or ')}`
        return Promise.resolve({ allowed: false, reason })
      }
      const permit = createPermit({
        agent: config.name,
        platform,
        rules,
        denied: [...(parent.denied ?? []), ...denied],
        mode,
        approver: asks ? parent.approver() : undefined,
      })
      return permit(tool, input, context)
    },
  }
}

/**
 * Two modes at once: what one of them rules out is ruled out. Reading only and asking nobody can
 * both hold.
 */
export function strictest(...modes: readonly (PermissionMode | undefined)[]): {
  mode: PermissionMode
  asks: boolean
} {
  const silent = modes.includes('dont-ask')
  if (modes.includes('plan')) return { mode: 'plan', asks: !silent }
  return { mode: silent ? 'dont-ask' : 'default', asks: !silent }
}

/** What the skills of a subagent allow, and what they and those of its parent narrow. */
function rulesOf(
  skills: readonly Activation[],
  { narrowed: above }: SubagentParent,
  beforeTool: CallRules['beforeTool'],
): CallRules {
  const preApproved = skills.flatMap(({ effects }) => effects.preApproved)
  const narrowed = skills.flatMap(({ name, effects: { narrowedTo } }) =>
    narrowedTo === undefined ? [] : [{ skill: name, tools: narrowedTo }],
  )
  return {
    preApproved: () => preApproved,
    narrowed: () => [...(above?.() ?? []), ...narrowed],
    beforeTool,
  }
}
