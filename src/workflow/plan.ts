import { type MatchReason, matchWorkflows, type NotInstalled } from './match.ts'
import { planStep, type PlannedStep } from './plan-step.ts'
import { findCompletion, type SessionState } from './session-state.ts'
import type { GatedCall, WorkflowDefinition, WorkflowTool } from './model.ts'

/** What stands before one call. */
export interface GatePlan {
  /** Undefined: nothing does. */
  workflow?: WorkflowDefinition | undefined
  why?: MatchReason | undefined
  steps: readonly PlannedStep[]
  /** How many of the steps would run. */
  open: number
  also: readonly string[]
  notInstalled: readonly NotInstalled[]
  keywordOnly: readonly { workflow: string; keyword: string }[]
}

/**
 * What would run before a call, with which parameters, and what holds already. Pure: the same
 * values always give the same plan.
 */
export function planGate(
  call: GatedCall,
  workflows: readonly WorkflowDefinition[],
  session: SessionState,
  installed: readonly WorkflowTool[],
): GatePlan {
  const { matched: workflow, ...match } = matchWorkflows(call, workflows, installed)
  if (workflow === undefined) return { ...match, steps: [], open: 0 }
  const planned = workflow.prerequisites.map((step) =>
    planStep(step, {
      call,
      workflow,
      installed,
      results: new Map(),
      completion: (tool, scope) => findCompletion(session, workflow.name, tool, scope),
    }),
  )
  const steps = rerunWhatIsNeeded(planned)
  const open = steps.filter(({ status }) => status === 'run' || status === 'waits').length
  return { ...match, workflow, steps, open }
}

/** The result of a finished step was not kept; where a later step needs it, it runs again. */
function rerunWhatIsNeeded(steps: readonly PlannedStep[]): PlannedStep[] {
  const needed = new Set(steps.flatMap((step) => (step.status === 'waits' ? step.waitsFor : [])))
  return steps.map((step) =>
    step.status === 'valid' && needed.has(step.step)
      ? { ...step, status: 'run', reason: 'a later step needs its result' }
      : step,
  )
}
