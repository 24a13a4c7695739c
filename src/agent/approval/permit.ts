import type { AllowedTool } from '../../skill/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import type {
  AgentTool,
  ApprovalRequest,
  Approver,
  Approval,
  LoopRequest,
  Permission,
  ToolContext,
} from '../model.ts'
import type { PermissionMode } from '../subagents/config.ts'
import { untilAborted } from '../loop/until-aborted.ts'
import { decideCall, type Decision } from './decide.ts'
import { listAllows, listDenies } from './tool-patterns.ts'

/** What the PreToolUse hooks of the active skills say about a call. */
export interface HookVerdict {
  decision: 'allow' | 'ask' | 'deny' | undefined
  reason: string
  /** The input that a hook wants instead. */
  input: JsonObject | undefined
}

/** What active skills do to calls; the skills of a conversation implement it. */
export interface CallRules {
  /** What trusted skills approve. */
  preApproved(): readonly AllowedTool[]
  /** What untrusted skills are limited to, each by itself. */
  narrowed(): readonly { skill: string; tools: readonly AllowedTool[] }[]
  /** Undefined: there are no hooks. */
  beforeTool?:
    | ((tool: AgentTool, input: JsonObject, context: ToolContext) => Promise<HookVerdict>)
    | undefined
}

export interface PermitOptions {
  agent: string
  platform: NodeJS.Platform
  rules?: CallRules | undefined
  /** Tools and calls that are never allowed, in the notation of `allowed-tools`. */
  denied?: readonly AllowedTool[] | undefined
  mode?: PermissionMode | undefined
  approver?: Approver | undefined
}

/** Decides about every call of an agent, and asks the approver where that is needed. */
export function createPermit(options: PermitOptions): LoopRequest['permit'] {
  return async (tool, input, context) => {
    const { rules, approver } = options
    let used = input
    let verdict: HookVerdict | undefined
    if (rules?.beforeTool !== undefined) {
      // No hook runs for what no hook could allow.
      const best = decide(tool, input, allowing, options)
      if (best.kind === 'refuse') return { allowed: false, reason: best.reason }
      verdict = await rules.beforeTool(tool, input, context)
      used = verdict.input ?? input
    }
    const decision = decide(tool, used, verdict, options)
    if (decision.kind === 'allow') return { allowed: true, input: used }
    const { reason } = decision
    if (decision.kind === 'refuse' || approver === undefined) return { allowed: false, reason }
    return await askFor(tool, used, reason, context, { ...options, approver })
  }
}

const allowing: HookVerdict = { decision: 'allow', reason: '', input: undefined }

function decide(
  tool: AgentTool,
  input: JsonObject,
  verdict: HookVerdict | undefined,
  { rules, denied = [], mode = 'default', approver, platform }: PermitOptions,
): Decision {
  const decision = verdict?.decision
  return decideCall({
    denied: listDenies(denied, tool, input, platform),
    narrowedBy: isOfSkills(tool)
      ? undefined
      : rules?.narrowed().find(({ tools }) => !listAllows(tools, tool, input, platform))?.skill,
    hook: decision === undefined ? undefined : { decision, reason: verdict?.reason ?? '' },
    preApproved: listAllows(rules?.preApproved() ?? [], tool, input, platform),
    readOnly: tool.readOnly,
    needsApproval: tool.needsApproval,
    own: tool.origin.kind === 'program',
    alwaysAsk: tool.alwaysAsk?.(input),
    mode,
    approver: approver !== undefined,
  })
}

/** The tools by which a model finds and reads skills act on nothing, and no list of tools has them. */
const skillToolNames: ReadonlySet<string> = new Set(['skill', 'skill_resource', 'search_skills'])

function isOfSkills({ name, origin }: AgentTool): boolean {
  return origin.kind === 'agent' && skillToolNames.has(name)
}

async function askFor(
  tool: AgentTool,
  input: JsonObject,
  reason: string,
  { signal }: ToolContext,
  { agent, approver }: Pick<PermitOptions, 'agent'> & { approver: Approver },
): Promise<Permission> {
  const effect = tool.effect?.(input)
  const request = { agent, tool, input, reason, effect, signal }
  const approval = await untilAborted(oneByOne(approver, request), signal)
  if (approval.approved) return { allowed: true, input }
  return { allowed: false, reason: approval.reason ?? 'the user did not approve it' }
}

const questions = new WeakMap<Approver, Promise<unknown>>()

/**
 * A model may call several tools at once, and subagents too; a person answers one question a time.
 * The next is asked when the one before is answered, or is no longer wanted.
 */
function oneByOne(approver: Approver, request: ApprovalRequest): Promise<Approval> {
  const { signal } = request
  const before = questions.get(approver) ?? Promise.resolve()
  const answer = before
    .catch(() => undefined)
    .then(() => {
      signal.throwIfAborted()
      return untilAborted(approver(request), signal)
    })
  questions.set(
    approver,
    answer.catch(() => undefined),
  )
  return answer
}
