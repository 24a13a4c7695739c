import { fileURLToPath } from 'node:url'
import { isList, isObject } from '../../core/json.ts'
import { safeText } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject, ToolDefinition } from '../model.ts'

import type { ProposedCall, RequestSetup } from './do-request.ts'
import { ToolRefusedError } from './errors.ts'
import { permissionOf } from '../workflow/match.ts'
import { readsHere } from './foresee.ts'

export type ConsentSetup = Pick<RequestSetup, 'context' | 'yes' | 'user' | 'toAllow'>

export interface CallToAllow {
  tool: ToolDefinition
  params: JsonObject
  bindings?: ProposedCall['bindings'] | undefined
  unplaced?: readonly string[] | undefined
}

/**
 * Requires a yes to a plan with calls that may change something and were not asked for by name,
 * before its first call. A yes in advance does not cover a path that the request does not name,
 * since an earlier answer may have given it. Returns whether somebody said yes to this plan; throws {@link
 * ToolRefusedError} without a yes, with all that would have been called.
 */
export async function requireYes(
  calls: readonly CallToAllow[],
  request: string,
  setup: ConsentSetup,
): Promise<boolean> {
  const plan = calls.map((call) => proposed(call, request, setup))
  if (plan.every(({ readOnly, unusual }) => readOnly && unusual === undefined)) return false
  if (setup.yes && plan.every(({ unusual }) => unusual === undefined)) return false
  const answer = await setup.user?.confirm(plan)
  if (answer === true) return true
  throw refusal(plan, answer, setup.toAllow)
}

function proposed(
  { tool, params, bindings = [], unplaced = [] }: CallToAllow,
  request: string,
  { context }: ConsentSetup,
): ProposedCall {
  const said = permissionOf(tool.id, context.permissions)
  const readOnly = said !== 'ask' && (said === 'allow' || readsHere(tool, context))
  const path = readOnly ? undefined : unnamedPath(params, request)
  const reasons = [
    ...(path === undefined ? [] : [`The request does not name the path ${path}.`]),
    ...(unplaced.length === 0 ? [] : [unplacedText(unplaced)]),
  ]
  const unusual = reasons.length === 0 ? undefined : reasons.join(' ')
  return { tool, params, bindings, readOnly, unusual }
}

export function unplacedText(unplaced: readonly string[]): string {
  const list = unplaced.map((text) => JSON.stringify(text)).join(', ')
  return `The request says ${list}, which no parameter takes.`
}

/**
 * Checks a call again once the answers of earlier steps are in its parameters: a path that only an
 * answer names needs a yes of its own. Throws {@link ToolRefusedError} without it.
 */
export async function requireNamedPaths(
  tool: ToolDefinition,
  params: JsonObject,
  request: string,
  setup: ConsentSetup,
): Promise<void> {
  if (unnamedPath(params, request) !== undefined)
    await requireYes([{ tool, params }], request, setup)
}

function refusal(
  plan: readonly ProposedCall[],
  answer: boolean | undefined,
  toAllow: string | undefined,
): ToolRefusedError {
  const lines = plan.map((call) => ({ ...call, tool: call.tool.id }))
  const [only, ...others] = lines
  const isOne = only !== undefined && others.length === 0
  const what = isOne ? `${only.tool} ${JSON.stringify(only.params)}` : planText(lines)
  if (answer === false) {
    const message = isOne ? `not called: ${what}` : `nothing of this was called:\n${what}`
    return new ToolRefusedError({ code: 'tool-declined', message })
  }
  const unusual = plan.flatMap((call) => call.unusual ?? [])
  const why = unusual.length === 0 ? 'It may change something.' : unusual.join(' ')
  return new ToolRefusedError({
    code: 'tool-needs-yes',
    message: isOne
      ? `${what} needs your approval. ${why}`
      : `this plan needs your approval. ${why}\n${what}`,
    hint: toAllow ?? `Approve it in a terminal${unusual.length === 0 ? ', or pass --yes' : ''}.`,
  })
}

/** What is called with all of its parameters, as a user has to see it before a yes. */
export function proposalText(plan: readonly ProposedCall[]): string {
  const [only, ...others] = plan
  if (only !== undefined && others.length === 0) {
    const { tool, params, unusual } = only
    const lines = [`Tool: ${tool.id}`, `Params: ${JSON.stringify(params, null, 2)}`]
    return safeText([...lines, ...(unusual === undefined ? [] : [unusual])].join('\n'))
  }
  const lines = plan.map(({ unusual, tool, ...call }) => ({
    ...call,
    tool: tool.id,
    facts: unusual === undefined ? [] : [unusual],
  }))
  return safeText(`Plan:\n${planText(lines)}`)
}

export interface PlanLine {
  tool: string
  params: JsonObject
  outputAs?: string | undefined
  reason?: string | undefined
  bindings?: readonly { parameter: string; from: string }[] | undefined
  readOnly: boolean
  facts?: readonly string[] | undefined
}

/**
 * `fs__read_file {"path":"a"} (reads)`: the tool with all of its parameters, for a user to approve.
 * Not yet safe to print.
 */
export function planLine(line: PlanLine): string {
  const { tool, params, outputAs, reason, bindings = [], readOnly, facts = [] } = line
  const kept = outputAs === undefined ? '' : ` → $${outputAs}`
  const why = reason === undefined ? [] : [reason]
  const taken = bindings.map(({ parameter, from }) => `${parameter} from the answer of ${from}`)
  const may = readOnly ? 'reads' : 'may change something'
  return `${tool} ${JSON.stringify(params)}${kept} (${[...why, ...taken, may, ...facts].join('; ')})`
}

export function planText(lines: readonly PlanLine[]): string {
  return lines.map((line, index) => `${index + 1}. ${planLine(line)}`).join('\n')
}

/**
 * The first path in the parameters, at any depth, that the request does not name. A path is known
 * by the name of its parameter, or by the scheme `file:`; the members of a list have the list's
 * name.
 */
export function unnamedPath(params: JsonObject, request: string): string | undefined {
  return pathsIn('', params).find((path) => !isNamed(path, request))
}

const pathParameter =
  /(?:^|_)(?:path|file|file_?name|file_?path|path_?name|director(?:y|ie)|dir|folder|(?:save|write|export|download)_?(?:to|as))s?$/

/** These may be paths; `target` of a click is the id of an element. */
const placeParameter = /(?:^|_)(?:destination|dest|target|output|out)s?$/

function pathsIn(name: string, value: JsonValue): string[] {
  if (typeof value === 'string') return isPath(name, value) ? [value] : []
  if (isList(value)) return value.flatMap((item) => pathsIn(name, item))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) =>
    // `files: { "src/a.ts": "its content" }`
    isPathParameter(name) && looksLikePath(key) ? [key] : pathsIn(key, member),
  )
}

function isPath(name: string, value: string): boolean {
  if (/^file:/i.test(value) || isPathParameter(name)) return true
  return placeParameter.test(inSnakeCase(name)) && looksLikePath(value)
}

function isPathParameter(name: string): boolean {
  return pathParameter.test(inSnakeCase(name))
}

function inSnakeCase(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
}

function looksLikePath(text: string): boolean {
  return /[/\\.]/.test(text)
}

function isNamed(path: string, request: string): boolean {
  return request.includes(path) || request.includes(filePath(path) ?? path)
}

function filePath(address: string): string | undefined {
  try {
    return fileURLToPath(address)
  } catch {
    return undefined
  }
}
