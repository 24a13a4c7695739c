import type { JsonObject } from '../model.ts'

/** One line of a plan. */
export interface PlanLine {
  /** Id of the tool. */
  tool: string
  params: JsonObject
  /** The variable that keeps the answer. */
  outputAs?: string | undefined
  /** Why it is called. */
  reason?: string | undefined
  /** Parameters that the answer of an earlier step gives. */
  bindings?: readonly { parameter: string; from: string }[] | undefined
  readOnly: boolean
  /** What else there is to know. */
  facts?: readonly string[] | undefined
}

/**
 * `fs__read_file {"path":"a"} (reads)`: the tool with all of its parameters, as a person has to see
 * them before a yes. From a request, so it is not yet safe to print.
 */
export function planLine(line: PlanLine): string {
  const { tool, params, outputAs, reason, bindings = [], readOnly, facts = [] } = line
  const kept = outputAs === undefined ? '' : ` → $${outputAs}`
  const why = reason === undefined ? [] : [reason]
  const taken = bindings.map(({ parameter, from }) => `${parameter} from the answer of ${from}`)
  const may = readOnly ? 'reads' : 'may change something'
  return `${tool} ${JSON.stringify(params)}${kept} (${[...why, ...taken, may, ...facts].join('; ')})`
}

/** The lines of a plan, numbered. */
export function planText(lines: readonly PlanLine[]): string {
  return lines.map((line, index) => `${index + 1}. ${planLine(line)}`).join('\n')
}
