import type { PermissionMode } from '../subagents/config.ts'

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

export type Decision =
  | { kind: 'allow'; because: string }
  | { kind: 'ask'; reason: string }
  | { kind: 'refuse'; reason: string }

/**
 * Decides about one call. What takes away is looked at first and nothing later gives it back: deny
 * lists, the lists of untrusted skills, `plan`, hooks that deny. Then what approves: hooks, skills,
 * and that nothing is changed. What is left is asked for, and refused where nobody can be asked.
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
  if (hook?.decision === 'allow') return allow('a hook of an active skill allows it')
  if (alwaysAsk !== undefined) return ask(facts, alwaysAsk)
  if (facts.preApproved) return allow('an active skill approves it')
  if (facts.needsApproval === false) return allow('it needs no approval')
  if (facts.needsApproval === undefined && facts.readOnly) return allow('it changes nothing')
  if (facts.needsApproval === undefined && facts.own) return allow('it is the tool of the program')
  return ask(facts, facts.needsApproval === true ? 'it needs an approval' : 'not read-only')
}

function ask({ mode, approver }: CallFacts, reason: string): Decision {
  if (mode === 'dont-ask') {
    return refuse(
      `it would have to be asked for (${reason}), and permission mode dont-ask refuses that`,
    )
  }
  if (!approver) return refuse(`it needs an approval (${reason}), and nobody can give one here`)
  return { kind: 'ask', reason }
}

function allow(because: string): Decision {
  return { kind: 'allow', because }
}

function refuse(reason: string): Decision {
  return { kind: 'refuse', reason }
}
