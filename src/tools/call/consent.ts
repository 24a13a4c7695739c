import { fileURLToPath } from 'node:url'
import { safeText } from '#core/text'
import { isList, isObject, type JsonValue, type JsonObject } from '#core/json'
import type { ToolDefinition } from '#tools/model'
import type { CallContext } from './context.ts'
import { ToolRefusedError } from '#tools/errors'
import { only } from '#tools/parameters/reading'
import { readsHere } from './foresee.ts'
import { permissionOf } from '#tools/workflow/match'

/** Who can say yes to calls, and what says it in advance. The rest is the same for every caller. */
export interface ConsentSetup {
  context: CallContext
  /** A yes in advance to whatever a tool may change: `--yes`. */
  yes: boolean
  /** Undefined where no user can be asked. */
  user?: UserWhoConfirms | undefined
  /** How a user allows the call where nobody can be asked; default: as at a terminal. */
  toAllow?: string | undefined
  /** The user wrote the calls themselves: that is a yes, except to a tool that always asks. */
  isWritten?: boolean | undefined
}

export interface UserWhoConfirms {
  /** Asks once about the whole plan: everything that is called, in order. */
  confirm(plan: readonly ProposedCall[]): Promise<boolean>
}

export interface CallToAllow {
  tool: ToolDefinition
  params: JsonObject
  bindings?: readonly { parameter: string; from: string }[] | undefined
  unplaced?: readonly string[] | undefined
  /** Optional parameters of which the call sets none, and so changes nothing. */
  unset?: readonly string[] | undefined
  /** What a user has to see before a call that may change something. */
  doubts?: readonly string[] | undefined
}

export interface ProposedCall extends CallToAllow {
  readOnly: boolean
  /** Why it needs a yes; undefined where it does not. */
  asks?: ReasonToAsk | undefined
  /** Why a yes in advance is not enough; undefined where it is. */
  unusual?: string | undefined
}

export type ReasonToAsk = 'setting' | 'may-change'

export const reasonTexts: Record<ReasonToAsk, string> = {
  setting: 'The setting tools.ask names it.',
  'may-change': 'It may change something.',
}

/** Why a call of a tool needs the yes of a user, by the settings, then by what is known of the tool. */
export function reasonToAsk(
  tool: Pick<ToolDefinition, 'id' | 'server' | 'name' | 'annotations'>,
  context: Pick<CallContext, 'permissions' | 'rules'>,
): ReasonToAsk | undefined {
  const permission = permissionOf(tool.id, context.permissions)
  if (permission === 'ask') return 'setting'
  if (permission === 'allow' || readsHere(tool, context)) return undefined
  return 'may-change'
}

/**
 * Requires a yes to calls that need one. A yes in advance does not cover a path that the request
 * does not name. Returns whether a user said yes; throws {@link ToolRefusedError}.
 */
export async function requireYes(
  calls: readonly CallToAllow[],
  request: string,
  setup: ConsentSetup,
): Promise<boolean> {
  const plan = calls.map((call) => proposed(call, request, setup))
  if (plan.every(({ asks, unusual }) => asks === undefined && unusual === undefined)) return false
  if (setup.yes && plan.every(({ unusual }) => unusual === undefined)) return false
  const answer = await setup.user?.confirm(plan)
  if (answer === true) return true
  throw refusal(plan, answer, setup.toAllow)
}

function proposed(
  call: CallToAllow,
  request: string,
  { context, isWritten = false }: ConsentSetup,
): ProposedCall {
  const { tool, params, unplaced = [], unset = [], doubts = [] } = call
  const reason = reasonToAsk(tool, context)
  const readOnly = reason === undefined || (reason === 'setting' && readsHere(tool, context))
  if (isWritten) return { ...call, readOnly, asks: reason === 'setting' ? reason : undefined }
  const path = reason === undefined ? undefined : unnamedPath(params, request)
  const reasons: string[] = []
  if (path !== undefined) reasons.push(`The request does not name the path ${path}.`)
  if (unplaced.length > 0) reasons.push(unplacedText(unplaced))
  if (unset.length > 0) reasons.push(unsetText(unset))
  if (reason !== undefined) reasons.push(...doubts)
  return { ...call, readOnly, asks: reason, unusual: reasons.join(' ') || undefined }
}

export function unplacedText(unplaced: readonly string[]): string {
  const list = unplaced.map((text) => JSON.stringify(text)).join(', ')
  return `The request says ${list}, which no parameter takes.`
}

export function unsetText(unset: readonly string[]): string {
  const list = unset.slice(0, 5).join(', ')
  return `The request does not say what changes: ${list}${unset.length > 5 ? ', …' : ''}.`
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
  const asks = call?.asks ?? 'may-change'
  const why = `needs your approval. ${unusual || reasonTexts[asks]}`
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
  const { tool, params, asks, unusual = '' } = call
  const always = asks === 'setting' ? reasonTexts.setting : ''
  const reasons = [always, unusual].filter((text) => text !== '').join(' ')
  const text = `Tool: ${tool.id}\nParams: ${JSON.stringify(params, null, 2)}\n${reasons}`
  return safeText(text.trimEnd())
}

interface PlanLine {
  tool: string | { id: string }
  params: JsonObject
  outputAs?: string | undefined
  reason?: string | undefined
  bindings?: CallToAllow['bindings']
  readOnly: boolean
  asks?: ReasonToAsk | undefined
  unusual?: string | undefined
  facts?: readonly string[] | undefined
}

/** `fs__read_file {"path":"a"} (reads)`, for a user to approve. Not yet safe to print. */
export function planLine(line: PlanLine): string {
  const { tool, params, outputAs, reason, bindings = [], readOnly } = line
  const { asks, unusual, facts = [] } = line
  const id = typeof tool === 'string' ? tool : tool.id
  const kept = outputAs === undefined ? '' : ` → $${outputAs}`
  const taken = bindings.map(({ parameter, from }) => `${parameter} from the answer of ${from}`)
  const may = readOnly ? 'reads' : 'may change something'
  const always = asks === 'setting' ? reasonTexts.setting : undefined
  const said = [reason, ...taken, may, always, unusual, ...facts].filter(
    (fact) => fact !== undefined,
  )
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
