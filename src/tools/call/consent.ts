import { fileURLToPath } from 'node:url'
import { safeText } from '#core/text'
import { isList, isObject, type JsonValue, type JsonObject } from '#core/json'
import type { ToolDefinition } from '#tools/model'
import type { RequestSetup } from './do-request.ts'
import { ToolRefusedError } from '#tools/errors'
import { only } from '#tools/parameters/reading'
import { readsHere } from './foresee.ts'
import { permissionOf } from '#tools/workflow/match'

export type ConsentSetup = Pick<RequestSetup, 'context' | 'yes' | 'user' | 'toAllow'>

export interface CallToAllow {
  tool: ToolDefinition
  params: JsonObject
  bindings?: readonly { parameter: string; from: string }[] | undefined
  unplaced?: readonly string[] | undefined
}

export interface ProposedCall extends CallToAllow {
  readOnly: boolean
  /** Why a yes in advance is not enough; undefined where it is. */
  unusual?: string | undefined
}

/**
 * Requires a yes to calls that may change something. A yes in advance does not cover a path that the
 * request does not name. Returns whether a user said yes; throws {@link ToolRefusedError}.
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

function proposed(call: CallToAllow, request: string, { context }: ConsentSetup): ProposedCall {
  const { tool, params, unplaced = [] } = call
  const said = permissionOf(tool.id, context.permissions)
  const readOnly = said !== 'ask' && (said === 'allow' || readsHere(tool, context))
  const path = readOnly ? undefined : unnamedPath(params, request)
  const reasons: string[] = []
  if (path !== undefined) reasons.push(`The request does not name the path ${path}.`)
  if (unplaced.length > 0) reasons.push(unplacedText(unplaced))
  return { ...call, readOnly, unusual: reasons.join(' ') || undefined }
}

export function unplacedText(unplaced: readonly string[]): string {
  const list = unplaced.map((text) => JSON.stringify(text)).join(', ')
  return `The request says ${list}, which no parameter takes.`
}

/** A path that only an answer names needs a yes of its own. Throws {@link ToolRefusedError}. */
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
  const call = only(plan)
  const one = call && `${call.tool.id} ${JSON.stringify(call.params)}`
  if (answer === false) {
    const message =
      one === undefined ? `nothing of this was called:\n${planText(plan)}` : `not called: ${one}`
    return new ToolRefusedError({ code: 'tool-declined', message })
  }
  const unusual = plan.flatMap((each) => each.unusual ?? []).join(' ')
  const why = `needs your approval. ${unusual || 'It may change something.'}`
  return new ToolRefusedError({
    code: 'tool-needs-yes',
    message: one === undefined ? `this plan ${why}\n${planText(plan)}` : `${one} ${why}`,
    hint: toAllow ?? `Approve it in a terminal${unusual === '' ? ', or pass --yes' : ''}.`,
  })
}

/** What is called with all of its parameters, as a user has to see it before a yes. */
export function proposalText(plan: readonly ProposedCall[]): string {
  const call = only(plan)
  if (!call) return safeText(`Plan:\n${planText(plan)}`)
  const { tool, params, unusual = '' } = call
  const text = `Tool: ${tool.id}\nParams: ${JSON.stringify(params, null, 2)}\n${unusual}`
  return safeText(text.trimEnd())
}

interface PlanLine {
  tool: string | { id: string }
  params: JsonObject
  outputAs?: string | undefined
  reason?: string | undefined
  bindings?: CallToAllow['bindings']
  readOnly: boolean
  unusual?: string | undefined
  facts?: readonly string[] | undefined
}

/** `fs__read_file {"path":"a"} (reads)`, for a user to approve. Not yet safe to print. */
export function planLine(line: PlanLine): string {
  const { tool, params, outputAs, reason, bindings = [], readOnly, unusual, facts = [] } = line
  const id = typeof tool === 'string' ? tool : tool.id
  const kept = outputAs === undefined ? '' : ` → $${outputAs}`
  const taken = bindings.map(({ parameter, from }) => `${parameter} from the answer of ${from}`)
  const may = readOnly ? 'reads' : 'may change something'
  const said = [reason, ...taken, may, unusual, ...facts].filter((fact) => fact !== undefined)
  return `${id} ${JSON.stringify(params)}${kept} (${said.join('; ')})`
}

export function planText(lines: readonly PlanLine[]): string {
  return lines.map((line, index) => `${index + 1}. ${planLine(line)}`).join('\n')
}

/**
 * The first path in the parameters, by the name of one or the scheme `file:`, that is not named.
 */
export function unnamedPath(params: JsonObject, request: string): string | undefined {
  return pathsIn('', params).find((path) => !isNamed(path, request))
}

const pathParameter =
  /(?:^|_)(?:path|file|file_?name|file_?path|path_?name|director(?:y|ie)|dir|folder|(?:save|write|export|download)_?(?:to|as))s?$/

/** These may be paths; `target` of a click is the id of an element. */
const placeParameter = /(?:^|_)(?:destination|dest|target|output|out)s?$/

function pathsIn(name: string, value: JsonValue): string[] {
  const snake = name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
  const isOfPath = pathParameter.test(snake)
  if (typeof value === 'string') {
    const isPlace = placeParameter.test(snake) && looksLikePath(value)
    return isOfPath || isPlace || /^file:/i.test(value) ? [value] : []
  }
  if (isList(value)) return value.flatMap((item) => pathsIn(name, item))
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) =>
    // `files: { "src/a.ts": "its content" }`
    isOfPath && looksLikePath(key) ? [key] : pathsIn(key, member),
  )
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
