import { compareText } from '../../core/diagnostic.ts'
import type { JsonValue } from '../../skill/model.ts'
import { resolveName } from '../call/find-tool.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'
import { choiceRule } from './choice-rule.ts'
import { customaryRule, impliedChoice } from './customary-rule.ts'
import { flagRule } from './flag-rule.ts'
import { namedRule } from './named-rule.ts'
import { numberRule, remainingNumberRule } from './number-rule.ts'
import { type Parameter, parametersOf } from './parameter.ts'
import { commandRule, phraseRule, remainingTextRule } from './phrase-rule.ts'
import { type MappingRule, readRequest, type RequestReading } from './request.ts'
import { typedRule } from './typed-rule.ts'
import { writtenParameters } from './written-parameters.ts'

export interface MappingContext {
  /** Values known without the request, such as the page that is open; used for required ones only. */
  known?: JsonObject | undefined
}

/** Where the value of a parameter came from. */
export interface MappedValue {
  parameter: string
  value: JsonValue
  /** The rule that found it, in words. */
  rule: string
  /** The words of the request it was read from; empty where it came from elsewhere. */
  text: string
}

export interface ParameterMapping {
  /**
   * Only fields of the schema, each accepted by it as far as type, choices and range go; besides, as
   * it is, what the request gives as JSON.
   */
  params: JsonObject
  /** Names of required parameters without a value, in the schema's order. */
  missing: readonly string[]
  trace: readonly MappedValue[]
}

/**
 * The rules, strongest first. A rule is tried on every parameter before the next rule is, so that
 * what the request names outright is never taken by a guess for another parameter.
 */
const rules: readonly MappingRule[] = [
  namedRule,
  typedRule,
  numberRule,
  choiceRule,
  flagRule,
  phraseRule,
  commandRule,
  remainingNumberRule,
  remainingTextRule,
  customaryRule,
]

/**
 * Reads the parameters of a tool out of a request, by the tool's own schema (seed 3, parameter
 * mapping). Pure. Nothing is invented: an optional parameter that the request does not speak of is
 * left out, a required one is listed in `missing`.
 *
 * @example
 * mapParameters('PR 123 in octo/hello', tool).params // { owner: 'octo', repo: 'hello', pull_number: 123 }
 */
export function mapParameters(
  request: string,
  tool: ToolDefinition,
  context: MappingContext = {},
): ParameterMapping {
  const parameters = parametersOf(tool.inputSchema)
  const { given, meant, rest } = writtenParameters(request, parameters)
  const reading = readRequest(rest)
  spendName(reading, tool)
  const found = new Map(given.map((value) => [value.parameter, value]))
  for (const rule of rules) {
    for (const parameter of inOrder(parameters)) {
      if (found.has(parameter.name) || meant.has(parameter.name)) continue
      const finding = rule.find(parameter, reading, tool)
      if (finding === undefined) continue
      for (const slot of finding.slots ?? []) reading.spent.add(slot)
      found.set(parameter.name, { parameter: parameter.name, rule: rule.name, ...plain(finding) })
    }
  }
  for (const parameter of parameters) {
    if (!meant.has(parameter.name)) addImplied(parameter, found, context)
  }
  const known = parameters.map(({ name }) => name)
  const trace = [
    ...known.flatMap((name) => found.get(name) ?? []),
    ...given.filter(({ parameter }) => !known.includes(parameter)),
  ]
  return {
    params: Object.fromEntries(trace.map(({ parameter, value }) => [parameter, value])),
    missing: parameters
      .filter(({ name, required }) => required && !found.has(name))
      .map(({ name }) => name),
    trace,
  }
}

/** The tool's own name is not a value: `use execute_query` asks for no query of that text. */
function spendName({ slots, spent }: RequestReading, { id, name }: ToolDefinition): void {
  const own = { tools: [{ id, name }] }
  for (const slot of slots) {
    const mayBe = slot.kind === 'identifier' || slot.kind === 'quoted'
    if (mayBe && resolveName(slot.value, own).kind === 'found') spent.add(slot)
  }
}

/** Required parameters choose first; among equals the more telling name, then the schema's order. */
function inOrder(parameters: readonly Parameter[]): readonly Parameter[] {
  return parameters.toSorted(
    (one, other) =>
      Number(other.required) - Number(one.required) ||
      other.words.length - one.words.length ||
      parameters.indexOf(one) - parameters.indexOf(other) ||
      compareText(one.name, other.name),
  )
}

function addImplied(
  parameter: Parameter,
  found: Map<string, MappedValue>,
  { known }: MappingContext,
): void {
  const { name, required } = parameter
  const params = Object.fromEntries([...found].map(([key, { value }]) => [key, value]))
  const choice = found.has(name) ? undefined : impliedChoice(parameter, params)
  if (choice !== undefined) {
    found.set(name, { parameter: name, value: choice, rule: `implied by ${choice}`, text: '' })
  }
  const value = known?.[name]
  if (required && value !== undefined && !found.has(name)) {
    found.set(name, { parameter: name, value, rule: 'known from before', text: '' })
  }
}

function plain({ value, text }: { value: JsonValue; text: string }): {
  value: JsonValue
  text: string
} {
  return { value, text }
}
