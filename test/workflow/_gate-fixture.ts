import type {
  GatedCall,
  JsonObject,
  WorkflowDefinition,
  WorkflowTool,
} from '../../src/tools/workflow/model.ts'
import type { StepAnswer } from '../../src/tools/call/context.ts'
import { type GateOptions, runGate } from '../../src/tools/workflow/gate.ts'
import { openSession, type SessionStore } from '../../src/tools/workflow/session.ts'
import { settings, temporaryProject, testRuntime } from './helpers.ts'

/** A gate with a separate session, and its calls and notes. */
export interface Fixture {
  session: SessionStore
  /** The calls, as `tool {params}`. */
  calls: string[]
  notes: string[]
  gate(call: GatedCall, more?: Partial<GateOptions>): Promise<void>
}

export type Answer = (tool: WorkflowTool, params: JsonObject) => StepAnswer

export function fixture(
  workflows: readonly WorkflowDefinition[],
  tools: readonly WorkflowTool[],
  answer: Answer = ({ name }) => ({ ok: true, text: `${name} done`, value: {} }),
): Fixture {
  const runtime = testRuntime()
  const session = openSession({ project: temporaryProject(), runtime, settings })
  const calls: string[] = []
  const notes: string[] = []
  return {
    session,
    calls,
    notes,
    gate: (gated, more) =>
      runGate(gated, {
        workflows,
        tools,
        session,
        note: (line) => void notes.push(line),
        callStep: async (id, params) => {
          calls.push(`${id} ${JSON.stringify(params)}`)
          const called = tools.find((tool) => tool.id === id)
          if (called === undefined) throw new Error(`${id} is not installed`)
          return answer(called, params)
        },
        ...more,
      }),
  }
}
