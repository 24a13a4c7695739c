import type { Runtime } from '../../base/index.ts'
import {
  afterCall,
  type GatedCall,
  matchWorkflows,
  planGate,
  type PlannedStep,
  type StepStatus,
  runGate,
  type SessionStore,
  type WorkflowDefinition,
  workflowTool,
} from '../../workflow/index.ts'
import type { CallAtGate, CallGate, CallIndex, CallToForesee, ForeseenStep } from './context.ts'
import { ToolRefusedError } from './errors.ts'

export interface WorkflowGateOptions {
  workflows: readonly WorkflowDefinition[]
  session: SessionStore
  /** Read at every call: discovery may replace it. */
  index: () => CallIndex
  /** Asks a person whether the steps of a `warn` workflow run; without it they do. */
  ask?: ((warning: string) => Promise<'run' | 'skip'>) | undefined
  skipPrerequisites?: boolean | undefined
  /**
   * Why the workflows of a file may make no calls, such as a project's that was never trusted. A call
   * that they stand before is then refused, neither carried out nor let pass.
   */
  blockOf: (path: string) => { message: string; hint: string } | undefined
  note: (line: string) => void
  runtime: Pick<Runtime, 'elapsed'>
}

/** The gate of the project's workflows, as every call passes it. */
export function workflowGate(options: WorkflowGateOptions): CallGate {
  const { workflows, session, index, ask, skipPrerequisites, note, runtime } = options
  return {
    async pass(call, callStep) {
      const tools = index().tools.map(workflowTool)
      await runGate(gatedCall(call), {
        workflows,
        tools,
        session,
        caller: (tool, params, { signal }) => callStep(tool.id, params, signal),
        permit: (workflow) => requireTrusted(workflow, options),
        ask,
        skipPrerequisites,
        note,
        runtime,
        signal: call.signal,
      })
    },
    async foresee(call) {
      const { state } = await session.read()
      const plan = planGate(gatedCall(call), workflows, state, index().tools.map(workflowTool))
      const { workflow } = plan
      const open = plan.steps.filter(({ status }) => openStatuses.has(status))
      if (workflow === undefined || open.length === 0) return undefined
      const acts = workflow.mode === 'enforce' || skipPrerequisites !== true
      if (workflow.mode !== 'suggest' && acts) requireTrusted(workflow, options)
      const prerequisites = acts ? open.map(foreseenStep) : []
      return { workflow: workflow.name, mode: workflow.mode, prerequisites }
    },
    lacks(call) {
      const binding = workflows.filter(({ mode }) => mode !== 'suggest')
      const tools = index().tools.map(workflowTool)
      return matchWorkflows(gatedCall(call), binding, tools).notInstalled.length > 0
    },
    async after(call, text) {
      await afterCall(gatedCall(call), session, workflows, text)
    },
  }
}

/** @throws {ToolRefusedError} where the file of a workflow may make no calls. */
export function requireTrusted(
  workflow: WorkflowDefinition,
  { blockOf }: Pick<WorkflowGateOptions, 'blockOf'>,
): void {
  const block = blockOf(workflow.path)
  if (block === undefined) return
  const message = `Workflow '${workflow.name}' must run first and may not: ${block.message}`
  throw new ToolRefusedError({ code: 'workflow-not-trusted', message, hint: block.hint })
}

/** What is not done yet. */
const openStatuses: ReadonlySet<StepStatus> = new Set(['run', 'waits', 'blocked'])

function foreseenStep({ step, tool, id, params, required }: PlannedStep): ForeseenStep {
  return { step, tool, id, params, required }
}

/** A call as workflows see it: its category is one of the tool. */
export function gatedCall(call: CallToForesee & Partial<CallAtGate>): GatedCall {
  const { tool, category, params, request, instance } = call
  const { id, server, name } = tool
  return { tool: { id, server, name, category }, params, request, instance }
}
