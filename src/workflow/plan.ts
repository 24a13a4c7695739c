import type { JsonValue } from '../skill/index.ts'
import { type MatchReason, matchWorkflows, type NotInstalled } from './match.ts'
import { planStep, type PlannedStep } from './plan-step.ts'
import { type Completion, findCompletion, type SessionState } from './session-state.ts'
import type { GatedCall, ScopeValues, WorkflowDefinition, WorkflowTool } from './model.ts'

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
  const known = planSteps(call, workflow, session, installed, true)
  // What was kept may be out of date; where it leads nowhere the step is asked again.
  const isStuck = known.some(({ status }) => status === 'blocked')
  const planned = isStuck ? planSteps(call, workflow, session, installed, false) : known
  const steps = rerunWhatIsNeeded(planned)
  const open = steps.filter(({ status }) => status === 'run' || status === 'waits').length
  return { ...match, workflow, steps, open }
}

function planSteps(
  call: GatedCall,
  workflow: WorkflowDefinition,
  session: SessionState,
  installed: readonly WorkflowTool[],
  withKept: boolean,
): PlannedStep[] {
  const results = new Map<number, JsonValue>()
  const completion = (tool: string, scope: ScopeValues): Completion | undefined =>
    findCompletion(session, workflow.name, tool, scope)
  return workflow.prerequisites.map((step) => {
    const planned = planStep(step, { call, workflow, installed, results, completion })
    const value =
      planned.status === 'valid' ? completion(step.tool, planned.scope)?.value : undefined
    if (withKept && value !== undefined) results.set(step.step, value)
    return planned
  })
}

/** Where a later step needs the result of a finished one and it was not kept, that runs again. */
function rerunWhatIsNeeded(steps: readonly PlannedStep[]): PlannedStep[] {
  const needed = new Set(steps.flatMap((step) => (step.status === 'waits' ? step.waitsFor : [])))
  return steps.map((step) =>
    step.status === 'valid' && needed.has(step.step)
      ? { ...step, status: 'run', reason: 'a later step needs its result' }
      : step,
  )
}
