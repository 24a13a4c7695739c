import { untilAborted } from '../../core/runtime.ts'
import type { AllowedTool } from '../../skill/model.ts'
import type { JsonObject } from '../../tools/model.ts'
import type { SessionPart } from '../session.ts'
import type { PermissionMode } from '../subagents/config.ts'
import type {
  AgentTool,
  Approval,
  ApprovalRequest,
  Approver,
  Permit,
  Permission,
  ToolContext,
} from '../types.ts'
import { listAllows, listDenies, listNames } from './tool-patterns.ts'

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
export function createPermit(options: PermitOptions): Permit {
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
 * A model may call several tools at once, and subagents too; a user answers one question at a time.
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

/** Decides about every call of an agent, and hides the tools that it may never call. */
export function approvalPart(options: PermitOptions): SessionPart {
  const { denied = [], mode } = options
  const never = denied.filter(({ pattern }) => pattern === undefined)
  const hides = mode === 'plan' || never.length > 0
  return {
    offers: hides
      ? (tool) => (mode !== 'plan' || tool.readOnly) && !listNames(never, tool)
      : undefined,
    permit: createPermit(options),
  }
}

/** What is known about a call when it is decided. */
export interface CallFacts {
  /** A list of tools that this agent may not use names the call; `unclear`: nobody can tell. */
  denied: 'yes' | 'no' | 'unclear'
  /** An active untrusted skill whose list does not have the call. */
  narrowedBy: string | undefined
  /** What the PreToolUse hooks of the active skills say; undefined where they say nothing. */
  hook: { decision: 'allow' | 'ask' | 'deny'; reason: string } | undefined
  /** An active trusted skill approves such calls. */
  preApproved: boolean
  readOnly: boolean
  /** What the tool says of itself: `false` is never asked for, `true` always. */
  needsApproval: boolean | undefined
  /** The tool is the program's own. */
  own: boolean
  /** Why this very call is asked for, whatever approves its tool. */
  alwaysAsk: string | undefined
  mode: PermissionMode
  /** Whether there is somebody to ask. */
  approver: boolean
}

type Decision =
  | { kind: 'allow' }
  | { kind: 'ask'; reason: string }
  | { kind: 'refuse'; reason: string }

/**
 * Decides about one call. What takes away is looked at first and nothing later gives it back: deny
 * lists, the lists of untrusted skills, `plan`, hooks that deny. Then what approves: hooks, skills,
 * and that nothing is changed. What is left is asked for, and refused where no user can be asked.
 */
export function decideCall(facts: CallFacts): Decision {
  const { denied, narrowedBy, hook, alwaysAsk, mode } = facts
  if (denied === 'yes') return refuse('this agent may not use it')
  if (narrowedBy !== undefined) {
    return refuse(
      `the untrusted skill ${narrowedBy} is active, and its allowed-tools do not have it`,
    )
  }
  if (mode === 'plan' && !facts.readOnly) {
    return refuse('only tools that change nothing may be used in permission mode plan')
  }
  if (hook?.decision === 'deny') return refuse(hook.reason)
  if (hook?.decision === 'ask') return ask(facts, hook.reason)
  if (denied === 'unclear') return ask(facts, 'it cannot be told whether the deny list has it')
  if (hook?.decision === 'allow') return allow
  if (alwaysAsk !== undefined) return ask(facts, alwaysAsk)
  if (facts.preApproved || facts.needsApproval === false) return allow
  if (facts.needsApproval === undefined && (facts.readOnly || facts.own)) return allow
  return ask(facts, facts.needsApproval === true ? 'it needs an approval' : 'not read-only')
}

function ask({ mode, approver }: CallFacts, reason: string): Decision {
  if (mode === 'dont-ask') {
    return refuse(
      `it would have to be asked for (${reason}), and permission mode dont-ask refuses that`,
    )
  }
  if (!approver)
    return refuse(`it needs an approval (${reason}), and this session cannot ask for one`)
  return { kind: 'ask', reason }
}

const allow: Decision = { kind: 'allow' }

function refuse(reason: string): Decision {
  return { kind: 'refuse', reason }
}
