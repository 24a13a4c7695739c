import type {
  GatedCall,
  JsonObject,
  WorkflowDefinition,
  WorkflowTool,
} from '../../src/tools/workflow/model.ts'
import {
  type GateOptions,
  type PrerequisiteResult,
  runGate,
} from '../../src/tools/workflow/gate.ts'
import { openSession, type SessionStore } from '../../src/tools/workflow/session.ts'
import { settings, temporaryProject, testRuntime } from './helpers.ts'

/** A gate with a session of its own, and what was called and said. */
export interface World {
  session: SessionStore
  /** What was called, as `tool {params}`. */
  calls: string[]
  notes: string[]
  gate(call: GatedCall, more?: Partial<GateOptions>): Promise<void>
}

export type Answer = (tool: WorkflowTool, params: JsonObject) => PrerequisiteResult

export function world(
  workflows: readonly WorkflowDefinition[],
  tools: readonly WorkflowTool[],
  answer: Answer = ({ name }) => ({ ok: true, text: `${name} done`, value: {} }),
): World {
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
        caller: async (called, params) => {
          calls.push(`${called.id} ${JSON.stringify(params)}`)
          return answer(called, params)
        },
        ...more,
      }),
  }
}
