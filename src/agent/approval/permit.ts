import { inspect } from 'node:util'
import { isObject, type JsonObject } from '#core/json'
import { untilAborted } from '#core/runtime'
import type { AllowedTool } from '#skill/model'
import { usageError } from '#agent/errors'
import { Queue } from '#agent/queue'
import type { SessionPart } from '#agent/session-contract'
import type { HookAnswer } from '#agent/skills/hook-format'
import type { AgentTool, Approver, Permission, Permit, ToolContext } from '#agent/types'
import type { PermissionMode } from './permission-mode.ts'
import { callFits, listAllows, listDenies, listNames } from './tool-patterns.ts'

/** The decision of the PreToolUse hooks of active skills about a call. */
export type HookVerdict = Pick<HookAnswer, 'decision' | 'reason' | 'input'>

export interface CallRules {
  preApproved: readonly AllowedTool[]
  /** The only tools that each active untrusted skill permits. */
  narrowed: readonly { skill: string; tools: readonly AllowedTool[] }[]
  /** By the name of a tool: patterns of which each of its calls must match one. */
  limits?: ReadonlyMap<string, readonly string[]> | undefined
  /** Asks the hooks about a call; undefined if there are none. */
  beforeTool?: ((...call: Parameters<Permit>) => Promise<HookVerdict | undefined>) | undefined
}

export interface PermitOptions {
  agent: string
  platform: NodeJS.Platform
  rules?: (() => CallRules | undefined) | undefined
  denied?: readonly AllowedTool[] | undefined
  mode?: PermissionMode | undefined
  approver?: Approver | undefined
  /** Whether a call can wait until its approval comes with a later request; default false. */
  suspends?: boolean | undefined
}

export function approvalPart(options: PermitOptions): SessionPart {
  return { offers: (tool) => offersTool(tool, options), permit: createPermit(options) }
}

/** Whether some call of a tool could be allowed, whatever skills are active. */
export function offersTool(
  tool: AgentTool,
  { denied = [], mode }: Pick<PermitOptions, 'denied' | 'mode'>,
): boolean {
  const never = denied.filter(({ pattern }) => pattern === undefined)
  return (mode !== 'plan' || tool.readOnly) && !listNames(never, tool)
}

export function createPermit(options: PermitOptions): Permit {
  return async (tool, input, context) => {
    const judgement = await judgeCall(tool, input, context, options)
    if (judgement.kind === 'allow') return { allowed: true, input: judgement.input }
    const { reason } = judgement
    if (judgement.kind === 'refuse' || options.approver === undefined) {
      return { allowed: false, reason }
    }
    return await askApprover(options.approver, tool, judgement, {
      ...context,
      agent: options.agent,
    })
  }
}

/** Decides about one call with the hooks of the active skills, without asking the approver. */
export async function judgeCall(
  tool: AgentTool,
  input: JsonObject,
  context: ToolContext,
  options: PermitOptions,
): Promise<Judgement> {
  const hooks = options.rules?.()?.beforeTool
  let verdict: HookVerdict | undefined
  if (hooks) {
    // No hook runs for a call that is refused even if a hook allows it.
    const maxLenient = decide(tool, input, { decision: 'allow' }, options)
    if (maxLenient.kind === 'refuse') return { ...maxLenient, input }
    verdict = await hooks(tool, input, context)
  }
  const usedInput = verdict?.input ?? input
  return { ...decide(tool, usedInput, verdict, options), input: usedInput }
}

export async function askApprover(
  approver: Approver,
  tool: AgentTool,
  { input, reason }: { input: JsonObject; reason: string },
  { agent, signal }: Pick<ToolContext, 'signal'> & { agent: string },
): Promise<Permission> {
  const request = { agent, tool, input, reason, effect: tool.effect?.(input), signal }
  const queue = queues.get(approver) ?? new Queue(1)
  queues.set(approver, queue)
  const approval = await queue.run(signal, () => untilAborted(approver(request), signal))
  // A program may return anything, such as a text that says no.
  if (!isObject(approval)) throw invalidApproval(approval)
  const approvalValue: unknown = approval.approved
  if (approvalValue === true) return { allowed: true, input }
  if (approvalValue === 'later') return { allowed: false, reason, waits: true }
  if (approvalValue !== false) throw invalidApproval(approval)
  const refusal: unknown = 'reason' in approval ? approval.reason : undefined
  const isText = typeof refusal === 'string'
  return { allowed: false, reason: isText ? refusal : 'the user did not approve it' }
}

/** The error for an answer of another form, which approves nothing. */
function invalidApproval(approval: unknown) {
  const message = `The approver returned ${inspect(approval, { depth: 1, breakLength: Infinity })}, which is not an approval.`
  const hint = "Return { approved: true }, { approved: false, reason }, or { approved: 'later' }."
  return usageError('approver-answer', message, hint)
}

/** An approver is asked one question at a time. */
const queues = new WeakMap<Approver, Queue>()

/** A decision, and the input that hooks may have changed. */
export type Judgement = Decision & { input: JsonObject }

type Decision = { kind: 'allow' } | { kind: 'ask' | 'refuse'; reason: string }

/**
 * Decides about one call. Restrictions come first, and nothing lifts them: deny lists, the lists of
 * untrusted skills, `plan`, hooks that deny. Then come approvals: by hooks, by skills, and of calls that
 * change nothing. The approver decides about all other calls; without one they are refused.
 */
function decide(
  tool: AgentTool,
  input: JsonObject,
  hook: HookVerdict | undefined,
  { rules: rulesNow, denied = [], mode = 'default', platform, ...options }: PermitOptions,
): Decision {
  const rules = rulesNow?.()
  const limit = rules?.limits?.get(tool.name)
  if (limit && !callFits(tool, input, limit, platform)) {
    return refuse(`this subagent may only call it as ${limit.join(' or ')}`)
  }
  const denial = listDenies(denied, tool, input, platform)
  if (denial === 'yes') return refuse('this agent may not use it')
  const isSkillTool = tool.origin.kind === 'agent' && skillTools.includes(tool.name)
  const narrowed = isSkillTool ? [] : (rules?.narrowed ?? [])
  const narrowing = narrowed.find(({ tools }) => !listAllows(tools, tool, input, platform))
  if (narrowing) {
    const { skill } = narrowing
    return refuse(`the untrusted skill ${skill} is active, and its allowed-tools do not have it`)
  }
  if (mode === 'plan' && !tool.readOnly) {
    return refuse('only tools that change nothing may be used in permission mode plan')
  }
  if (hook?.decision === 'deny') return refuse(hook.reason ?? '')
  const reason = reasonToAsk()
  if (reason === undefined) return { kind: 'allow' }
  if (mode === 'dont-ask') {
    return refuse(`permission mode dont-ask refuses calls that need an approval (${reason})`)
  }
  if (options.approver !== undefined || options.suspends) return { kind: 'ask', reason }
  return refuse(`it needs an approval (${reason}), and this session cannot ask for one`)

  function reasonToAsk(): string | undefined {
    // Called for every call: a tool for paths remembers where an approved path led.
    const toolReason = tool.alwaysAsk?.(input)
    if (hook?.decision === 'ask') return hook.reason ?? 'asked by a hook'
    if (tool.mustAsk !== undefined) return tool.mustAsk
    if (denial === 'unclear') return 'it is unclear whether the deny list contains it'
    if (hook?.decision === 'allow') return undefined
    if (toolReason !== undefined) return toolReason
    if (tool.needsApproval === false) return undefined
    if (listAllows(rules?.preApproved ?? [], tool, input, platform)) return undefined
    if (tool.needsApproval === true) return 'it needs an approval'
    return tool.readOnly || tool.origin.kind === 'program' ? undefined : 'not read-only'
  }
}

function refuse(reason: string): Decision {
  return { kind: 'refuse', reason }
}

/** The tools that find and read skills change nothing, so the list of an untrusted skill permits them. */
const skillTools: readonly string[] = ['skill', 'skill_resource', 'search_skills']
