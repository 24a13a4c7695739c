import type { JsonObject } from '#core/json'
import { untilAborted } from '#core/runtime'
import type { AllowedTool } from '#skill/model'
import { Queue } from '#agent/queue'
import type { SessionPart } from '#agent/session'
import type { HookAnswer } from '#agent/skills/hook-format'
import type { PermissionMode } from '#agent/subagents/config'
import type { AgentTool, Approver, Permission, Permit, ToolContext } from '#agent/types'
import { callFits, listAllows, listDenies, listNames } from './tool-patterns.ts'

/** What the PreToolUse hooks of the active skills say about a call. */
export type HookVerdict = Pick<HookAnswer, 'decision' | 'reason' | 'input'>

export interface CallRules {
  preApproved: readonly AllowedTool[]
  /** What untrusted skills are limited to, each by itself. */
  narrowed: readonly { skill: string; tools: readonly AllowedTool[] }[]
  /** Patterns of which every call of a tool must fit one; a tool that is not here has none. */
  limits?: ReadonlyMap<string, readonly string[]> | undefined
  /** Undefined: there are no hooks. */
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
    const judged = await judgeCall(tool, input, context, options)
    if (judged.kind === 'allow') return { allowed: true, input: judged.input }
    const { reason } = judged
    if (judged.kind === 'refuse' || options.approver === undefined) {
      return { allowed: false, reason }
    }
    return await askApprover(options.approver, tool, judged, { ...context, agent: options.agent })
  }
}

/** Decides about one call, with the hooks of the active skills. Asks nobody. */
export async function judgeCall(
  tool: AgentTool,
  input: JsonObject,
  context: ToolContext,
  options: PermitOptions,
): Promise<Judgement> {
  const hooks = options.rules?.()?.beforeTool
  let verdict: HookVerdict | undefined
  if (hooks) {
    // No hook runs for what no hook could allow.
    const best = decide(tool, input, { decision: 'allow' }, options)
    if (best.kind === 'refuse') return { ...best, input }
    verdict = await hooks(tool, input, context)
  }
  const used = verdict?.input ?? input
  return { ...decide(tool, used, verdict, options), input: used }
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
  const approved: unknown = approval.approved
  if (approved === true) return { allowed: true, input }
  if (approved === 'later') return { allowed: false, reason, waits: true }
  const why = 'reason' in approval ? approval.reason : undefined
  return { allowed: false, reason: why ?? 'the user did not approve it' }
}

const queues = new WeakMap<Approver, Queue>()

/** `input` is the one that hooks want. */
export type Judgement = Decision & { input: JsonObject }

type Decision = { kind: 'allow' } | { kind: 'ask' | 'refuse'; reason: string }

/**
 * Decides about one call. What takes away is looked at first and nothing later gives it back: deny
 * lists, the lists of untrusted skills, `plan`, hooks that deny. Then what approves: hooks, skills,
 * and that nothing is changed. What is left is asked for, and refused where no user can be asked.
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
  const isOfSkills = tool.origin.kind === 'agent' && skillTools.includes(tool.name)
  const narrowed = isOfSkills ? [] : (rules?.narrowed ?? [])
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
    return refuse(`permission mode dont-ask refuses what would be asked for (${reason})`)
  }
  if (options.approver !== undefined || options.suspends) return { kind: 'ask', reason }
  return refuse(`it needs an approval (${reason}), and this session cannot ask for one`)

  function reasonToAsk(): string | undefined {
    // Asked of every call: a tool for paths remembers where an approved path led.
    const outside = tool.alwaysAsk?.(input)
    if (hook?.decision === 'ask') return hook.reason ?? 'asked by a hook'
    if (denial === 'unclear') return 'it cannot be told whether the deny list has it'
    if (hook?.decision === 'allow') return undefined
    if (outside !== undefined) return outside
    if (tool.needsApproval === false) return undefined
    if (listAllows(rules?.preApproved ?? [], tool, input, platform)) return undefined
    if (tool.needsApproval === true) return 'it needs an approval'
    return tool.readOnly || tool.origin.kind === 'program' ? undefined : 'not read-only'
  }
}

function refuse(reason: string): Decision {
  return { kind: 'refuse', reason }
}

/** The tools by which a model finds and reads skills act on nothing, and no list of tools has them. */
const skillTools: readonly string[] = ['skill', 'skill_resource', 'search_skills']
