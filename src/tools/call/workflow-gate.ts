import type { Runtime } from '../../base/index.ts'
import {
  afterCall,
  type GatedCall,
  runGate,
  type SessionStore,
  type WorkflowDefinition,
  workflowTool,
} from '../../workflow/index.ts'
import type { CallAtGate, CallGate, CallIndex } from './context.ts'
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
      await runGate(gated(call), {
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
    async after(call, text) {
      await afterCall(gated(call), session, workflows, text)
    },
  }
}

function requireTrusted(workflow: WorkflowDefinition, { blockOf }: WorkflowGateOptions): void {
  const block = blockOf(workflow.path)
  if (block === undefined) return
  const message = `Workflow '${workflow.name}' must run first and may not: ${block.message}`
  throw new ToolRefusedError({ code: 'workflow-not-trusted', message, hint: block.hint })
}

function gated({ tool, category, params, request, instance }: CallAtGate): GatedCall {
  const { id, server, name } = tool
  return { tool: { id, server, name, category }, params, request, instance }
}
