import { redactText, redactValue } from '#core/redact'
import { deepestJson, isList, isObject, parseJson, tooDeepAt, type JsonValue } from '#core/json'
import { zod } from '#core/zod'
import type { ScopeValues } from './model.ts'

export interface Completion {
  workflow: string
  tool: string
  at: string
  /** The result's text, at most 200 characters. */
  result: string
  scope: ScopeValues
  /** The result itself, if it is small and later steps refer to it. */
  value?: JsonValue | undefined
}

export interface SessionState {
  sessionId: string
  startedAt: string
  /** Prerequisites that count as completed, the latest last; one for several scopes is listed for each. */
  completed: readonly Completion[]
}

/** Its value is stored up to 2,000 characters of JSON and without a secret, else not at all. */
export type CompletionRecord = Omit<Completion, 'at'>

const resultLength = 200
const valueLength = 2000

/** Completions of one tool; the oldest ones are removed, and their steps simply run again. */
const scopeLimit = 200

/** Returns the completion with exactly this scope, if it still counts. */
export function findCompletion(
  { completed }: SessionState,
  workflow: string,
  tool: string,
  scope: ScopeValues,
): Completion | undefined {
  const key = scopeKey(scope)
  // Files of other programs have no scopes, so they count for steps without one.
  const bare = Object.keys(scope).every((name) => name === 'server') ? scopeKey({}) : key
  return completed
    .filter((one) => one.workflow === workflow && one.tool === tool)
    .findLast(({ scope: completionScope }) => [key, bare].includes(scopeKey(completionScope)))
}

export function withCompletion(
  state: SessionState,
  { value, ...record }: CompletionRecord,
  at: string,
): SessionState {
  const key = scopeKey(record.scope)
  const isOfTool = ({ workflow, tool }: Completion) =>
    workflow === record.workflow && tool === record.tool
  const otherCompletions = state.completed.filter(
    (one) => !isOfTool(one) || scopeKey(one.scope) !== key,
  )
  const ofTool = otherCompletions.filter(isOfTool)
  const oldest = ofTool.length < scopeLimit ? undefined : ofTool[0]
  const completion = { ...record, at, result: shorten(redactText(record.result)) }
  const storesValue = value !== undefined && isStorable(value)
  return {
    ...state,
    completed: [
      ...otherCompletions.filter((one) => one !== oldest),
      storesValue ? { ...completion, value } : completion,
    ],
  }
}

function isStorable(value: JsonValue) {
  if (JSON.stringify(value).length > valueLength) return false
  // Later steps need the session ID of a server.
  const isHandle = (key: string) => /session[_-]?id$/i.test(key)
  const json = JSON.stringify(value, (key, member: unknown) => (isHandle(key) ? 0 : member))
  return JSON.stringify(redactValue(JSON.parse(json))) === json
}

/** Removes values, which are passed to calls: only the user's own file may have them. */
export function withoutValues(state: SessionState): SessionState {
  return { ...state, completed: state.completed.map(({ value: _value, ...bare }) => bare) }
}

/** Returns the completions of `state` that `other` has too, with the same scope and time. */
export function commonCompletions(state: SessionState, other: SessionState): SessionState {
  const markOf = ({ workflow, tool, at, scope }: Completion) =>
    scopeKey([workflow, tool, at, scope])
  const marks = new Set(other.completed.map(markOf))
  return keepCompletions(state, (one) => marks.has(markOf(one)))
}

/** Returns the same object if all completions hold. */
export function keepCompletions(
  state: SessionState,
  holds: (completion: Completion) => boolean,
): SessionState {
  const completed = state.completed.filter(holds)
  return completed.length === state.completed.length ? state : { ...state, completed }
}

/** At most 200 characters, on one line; a longer text ends with an ellipsis. */
export function shorten(text: string): string {
  const characters = Array.from(
    text
      .slice(0, 4 * resultLength)
      .replace(/\s+/g, ' ')
      .trim(),
  )
  const isShort = characters.length <= resultLength && text.length <= 4 * resultLength
  return isShort ? characters.join('') : `${characters.slice(0, resultLength - 1).join('')}…`
}

export function scopeKey(value: JsonValue): string {
  if (isList(value)) return `[${value.map(scopeKey).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const keys = Object.keys(value).toSorted()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${scopeKey(value[key] ?? null)}`).join(',')}}`
}

/** The version that we write; a file without one comes from the format's first authors. */
const version = 1

type SessionFileReading =
  | { kind: 'state'; state: SessionState }
  | { kind: 'corrupt'; problem: string }
  | { kind: 'newer'; version: number }

/** The result of a step is a few levels below the top. */
const deepest = deepestJson + 20

/** Reads a session file. Checks all of it, because a damaged file could confirm calls that never ran. */
export function parseSession(text: string): SessionFileReading {
  if (tooDeepAt(text, deepest) !== undefined) return corrupt('it is nested too deep')
  const value = parseJson(text)
  if (value === undefined) return corrupt('it is not JSON')
  if (!isObject(value)) return corrupt('it is not an object')
  const { version: fileVersion } = value
  if (typeof fileVersion === 'number' && fileVersion > version)
    return { kind: 'newer', version: fileVersion }
  schema ??= sessionSchema()
  const { data, error } = schema.safeParse(value)
  if (!data) {
    const place = error.issues[0]?.path.slice(0, 3).map(String).join('.') ?? ''
    return corrupt(`${place} is not what was written there`)
  }
  const { session_id: sessionId, started_at: startedAt } = data
  const completed = Object.entries(data.completed).flatMap(([workflow, tools]) =>
    Object.entries(tools).flatMap(([tool, list]) =>
      list.map((one) => ({ workflow, tool, ...one })),
    ),
  )
  return { kind: 'state', state: { sessionId, startedAt, completed } }
}

let schema: ReturnType<typeof sessionSchema> | undefined

function sessionSchema() {
  const z = zod()
  const runFields = { at: z.string(), result: z.string() }
  const completion = z.object({
    ...runFields,
    scope: z.record(z.string(), z.custom<JsonValue>()),
    value: z.custom<JsonValue>().optional(),
  })
  const entry = z.union([
    z.object({ scopes: z.array(completion) }).transform(({ scopes }) => scopes),
    z
      .object({
        ...runFields,
        value: z.custom<JsonValue>().optional(),
        scopes: z.undefined().optional(),
      })
      .transform(({ at, result, value }) => [{ at, result, scope: {}, value }]),
  ])
  return z.object({
    session_id: z.string(),
    started_at: z.string().refine((text) => !Number.isNaN(Date.parse(text))),
    completed: z.record(z.string(), z.record(z.string(), entry)).default({}),
  })
}

/**
 * Returns the file's text: for every tool the latest run at the top, and in `scopes` one run for each
 * scope.
 */
export function serializeSession({
  sessionId,
  startedAt,
  completed: completions,
}: SessionState): string {
  const workflows = Map.groupBy(completions, ({ workflow }) => workflow)
  const completed = Object.fromEntries(
    Array.from(workflows, ([workflow, list]) => [
      workflow,
      Object.fromEntries(
        Array.from(
          Map.groupBy(list, ({ tool }) => tool),
          ([tool, ofTool]) => [tool, entryOf(ofTool)],
        ),
      ),
    ]),
  )
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
