import type { JsonValue } from '../../skill/index.ts'
import type { ToolDefinition } from '../model.ts'
import { coerceText } from '../parameters/coerce.ts'
import { type Parameter, parametersOf } from '../parameters/parameter.ts'
import type { PlannedCall } from '../parameters/plan-request.ts'
import { callToComplete } from './call-to-complete.ts'
import type { CallIndex } from './context.ts'
import type { Proposal } from './propose.ts'
import type { RequestAnswer, RequestWorld } from './request-world.ts'

/** A plan with what a person gave. */
export interface FilledPlan {
  steps: readonly PlannedCall[]
  /** The step whose parameters stayed missing, with what is known; the plan cannot be carried out. */
  open?: PlannedCall | undefined
}

/** Asks for what the request does not say, until somebody who is asked twice gives nothing. */
export async function fillMissing(
  { steps }: Pick<Proposal, 'steps'>,
  world: RequestWorld,
): Promise<FilledPlan> {
  const filled: PlannedCall[] = []
  for (const step of steps) {
    const params = { ...step.params }
    for (const [index, name] of step.missing.entries()) {
      const value = await provided(step.tool, name, world)
      const missing = step.missing.slice(index)
      if (value === undefined) return { steps, open: { ...step, params, missing } }
      params[name] = value
    }
    filled.push({ ...step, params, missing: [] })
  }
  return { steps: filled }
}

/** How often a person is asked for one parameter. */
const mostQuestions = 2

async function provided(
  tool: string,
  name: string,
  { context, person }: RequestWorld,
): Promise<JsonValue | undefined> {
  const definition = context.index.definition(tool)
  const parameter =
    definition && parametersOf(definition.inputSchema).find((one) => one.name === name)
  if (definition === undefined || parameter === undefined || person === undefined) return undefined
  let problem: string | undefined
  for (let asked = 0; asked < mostQuestions; asked++) {
    const text = await person.provide(definition, name, problem)
    if (text === undefined) return undefined
    const value = text.trim() === '' ? undefined : coerceText(text, parameter)
    if (value !== undefined) return value
    problem = problemOf(text, parameter, definition)
  }
  return undefined
}

function problemOf(
  text: string,
  { name, kind }: Parameter,
  { name: tool }: ToolDefinition,
): string {
  return text.trim() === ''
    ? `${tool} cannot be called without ${name}.`
    : `${name} cannot be ${text.trim().slice(0, 80)}: ${kind} is needed.`
}

/** What is given back when something stays missing, with the command to complete. */
export function unsaid(
  { tool, params, missing, bindings }: PlannedCall,
  index: CallIndex,
): Omit<RequestAnswer & { kind: 'unsure' }, 'tried'> {
  const definition = index.definition(tool)
  const names = [...new Set(missing)]
  const open = [...bindings.map(({ parameter }) => parameter), ...names]
  return {
    kind: 'unsure',
    reason: `The request does not say ${names.join(', ')}.`,
    tool,
    missing: names,
    complete:
      definition &&
      callToComplete(
        definition,
        params,
        open.map((name) => [name]),
      ),
  }
}
