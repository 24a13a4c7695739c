import { createRequire } from 'node:module'
import type * as Zod from 'zod'
import { deepestJson, isList, isObject, parseJson, tooDeepAt } from '../../core/json.ts'
import { redactText, redactValue } from '../../core/redact.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { ScopeValues } from './model.ts'

export interface Completion {
  at: string
  /** The result's text, at most 200 characters. */
  result: string
  scope: ScopeValues
  /** The result itself, where later steps refer to it and it is small. */
  value?: JsonValue | undefined
}

export interface SessionState {
  sessionId: string
  startedAt: string
  completed: ReadonlyMap<string, ReadonlyMap<string, readonly Completion[]>>
}

/** Its value is kept whole up to 2,000 characters of JSON and without a secret, else not at all. */
export type CompletionRecord = Omit<Completion, 'at'> & { workflow: string; tool: string }

const resultLength = 200
const valueLength = 2000

/** Completions of one tool; the oldest are forgotten, and then simply run again. */
const scopeLimit = 200

/** Prerequisites that hold; one that ran for several scopes counts for each. */
export function completedCount({ completed }: Pick<SessionState, 'completed'>): number {
  const lists = [...completed.values()].flatMap((tools) => [...tools.values()])
  return lists.reduce((sum, list) => sum + list.length, 0)
}

/** The completion of exactly this scope, if it still holds. */
export function findCompletion(
  state: SessionState,
  workflow: string,
  tool: string,
  scope: ScopeValues,
): Completion | undefined {
  const wanted = scopeKey(scope)
  const found = state.completed.get(workflow)?.get(tool) ?? []
  // Files of other programs have no scopes: they count for steps without one.
  const bare = Object.keys(scope).every((key) => key === 'server') ? scopeKey({}) : wanted
  return found.findLast(({ scope: held }) => [wanted, bare].includes(scopeKey(held)))
}

export function withCompletion(
  state: SessionState,
  record: CompletionRecord,
  at: string,
): SessionState {
  const { workflow, tool, scope } = record
  const key = scopeKey(scope)
  const result = shorten(redactText(record.result))
  const others = (state.completed.get(workflow)?.get(tool) ?? []).filter(
    (completion) => scopeKey(completion.scope) !== key,
  )
  const { value } = record
  const isKept = value !== undefined && isKeepable(value)
  const kept = isKept ? { at, result, scope, value } : { at, result, scope }
  const list = [...others, kept].slice(-scopeLimit)
  return withList(state, workflow, tool, list)
}

function isKeepable(value: JsonValue): boolean {
  if (JSON.stringify(value).length > valueLength) return false
  // Later steps need the session ID of a server.
  const isHandle = (key: string): boolean => /session[_-]?id$/i.test(key)
  const rest = JSON.stringify(value, (key, member: unknown) => (isHandle(key) ? 0 : member))
  return JSON.stringify(redactValue(JSON.parse(rest))) === rest
}

/** Values are passed to calls: only the user's own file has them. */
export function withoutValues(state: SessionState): SessionState {
  const bare = ({ at, result, scope }: Completion): Completion => ({ at, result, scope })
  const completed = [...state.completed].map(
    ([workflow, tools]) =>
      [workflow, new Map([...tools].map(([tool, list]) => [tool, list.map(bare)]))] as const,
  )
  return { ...state, completed: new Map(completed) }
}

/** The completions of `state` that `other` has too: of the same scope and time. */
export function commonCompletions(state: SessionState, other: SessionState): SessionState {
  const markOf = ({ at, scope }: Completion): string => `${at} ${scopeKey(scope)}`
  let common = state
  for (const [workflow, tools] of state.completed) {
    for (const tool of tools.keys()) {
      const marks = new Set(other.completed.get(workflow)?.get(tool)?.map(markOf))
      common = keepCompletions(common, workflow, tool, (each) => marks.has(markOf(each)))
    }
  }
  return common
}

export function keepCompletions(
  state: SessionState,
  workflow: string,
  tool: string,
  holds: (completion: Completion) => boolean,
): SessionState {
  const list = state.completed.get(workflow)?.get(tool)
  if (list === undefined) return state
  const kept = list.filter(holds)
  return kept.length === list.length ? state : withList(state, workflow, tool, kept)
}

/** At most 200 characters, on one line; a longer text ends with an ellipsis. */
export function shorten(text: string): string {
  const characters = Array.from(
    text
      .slice(0, 4 * resultLength)
      .replace(/\s+/g, ' ')
      .trim(),
  )
  const whole = characters.length <= resultLength && text.length <= 4 * resultLength
  return whole ? characters.join('') : `${characters.slice(0, resultLength - 1).join('')}…`
}

export function scopeKey(value: JsonValue): string {
  if (isList(value)) return `[${value.map(scopeKey).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const keys = Object.keys(value).toSorted()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${scopeKey(value[key] ?? null)}`).join(',')}}`
}

function withList(
  state: SessionState,
  workflow: string,
  tool: string,
  list: readonly Completion[],
): SessionState {
  const tools = new Map(state.completed.get(workflow))
  if (list.length === 0) tools.delete(tool)
  else tools.set(tool, list)
  const completed = new Map(state.completed)
  if (tools.size === 0) completed.delete(workflow)
  else completed.set(workflow, tools)
  return { ...state, completed }
}

/** The version of what is written; a file without one is of the format's first authors. */
const version = 1

type SessionFileReading =
  | { kind: 'state'; state: SessionState }
  | { kind: 'corrupt'; problem: string }
  | { kind: 'newer'; version: number }

/** What a step answered lies a few levels below the top. */
const deepest = deepestJson + 20

/** Reads a session file. All of it is checked: a damaged file could vouch for what never ran. */
export function parseSession(text: string): SessionFileReading {
  if (tooDeepAt(text, deepest) !== undefined) return corrupt('it is nested too deep')
  const value = parseJson(text)
  if (value === undefined) return corrupt('it is not JSON')
  if (!isObject(value)) return corrupt('it is not an object')
  const { version: found } = value
  if (typeof found === 'number' && found > version) return { kind: 'newer', version: found }
  schema ??= sessionSchema()
  const { data, error } = schema.safeParse(value)
  if (data === undefined) {
    const place = error.issues[0]?.path.slice(0, 3).map(String).join('.') ?? ''
    return corrupt(`${place} is not what was written there`)
  }
  const { session_id: sessionId, started_at: startedAt } = data
  const completed = new Map(
    Object.entries(data.completed).map(([workflow, tools]) => [
      workflow,
      new Map(Object.entries(tools)),
    ]),
  )
  return { kind: 'state', state: { sessionId, startedAt, completed } }
}

let schema: ReturnType<typeof sessionSchema> | undefined

function sessionSchema() {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  const run = { at: z.string(), result: z.string() }
  const completion = z.object({
    ...run,
    scope: z.record(z.string(), z.custom<JsonValue>()),
    value: z.custom<JsonValue>().optional(),
  })
  const entry = z.union([
    z.object({ scopes: z.array(completion) }).transform(({ scopes }) => scopes),
    z
      .object({ ...run, value: z.custom<JsonValue>().optional(), scopes: z.undefined().optional() })
      .transform(({ at, result, value }) => [{ at, result, scope: {}, value }]),
  ])
  return z.object({
    session_id: z.string(),
    started_at: z.string().refine((text) => !Number.isNaN(Date.parse(text))),
    completed: z.record(z.string(), z.record(z.string(), entry)).default({}),
  })
}

/** The file's text: for every tool the latest run at the top, and below `scopes` what each was for. */
export function serializeSession(state: SessionState): string {
  const completed = Object.fromEntries(
    Array.from(state.completed, ([workflow, tools]) => [
      workflow,
      Object.fromEntries(Array.from(tools, ([tool, list]) => [tool, entryOf(list)])),
    ]),
  )
  const { sessionId, startedAt } = state
  const value = { version, session_id: sessionId, started_at: startedAt, completed }
  return `${JSON.stringify(value, undefined, 2)}\n`
}

function entryOf(list: readonly Completion[]): object {
  const last = list.at(-1)
  const scopes = list.map(({ scope, at, result, value }) => ({ scope, at, result, value }))
  const isBare = list.every(
    ({ scope, value }) => Object.keys(scope).length === 0 && value === undefined,
  )
  return { at: last?.at, result: last?.result, scopes: isBare ? undefined : scopes }
}

function corrupt(problem: string): SessionFileReading {
  return { kind: 'corrupt', problem }
}
