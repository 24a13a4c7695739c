import { deepestJson, tooDeepAt } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import type { ScopeValues } from './model.ts'
import type { Completion, SessionState } from './session-state.ts'

/** The version of what is written; a file without one is of the format's first authors. */
const version = 1

export type SessionFileReading =
  | { kind: 'state'; state: SessionState }
  | { kind: 'corrupt'; problem: string }
  | { kind: 'newer'; version: number }

/** What a step answered lies a few levels below the top. */
const deepest = deepestJson + 20

type Fields = Readonly<Record<string, unknown>>

/** Reads a session file. Everything is checked: half of it could vouch for what never ran. */
export function parseSession(text: string): SessionFileReading {
  if (tooDeepAt(text, deepest) !== undefined) return corrupt('it is nested too deep')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return corrupt('it is no JSON')
  }
  if (!isFields(value)) return corrupt('it is no object')
  const { version: found = version, session_id: sessionId, started_at: startedAt } = value
  if (typeof found === 'number' && found > version) return { kind: 'newer', version: found }
  if (typeof sessionId !== 'string') return corrupt('session_id is no text')
  if (typeof startedAt !== 'string' || Number.isNaN(Date.parse(startedAt))) {
    return corrupt('started_at is no time')
  }
  const completed = readCompleted(value['completed'] ?? {})
  if (typeof completed === 'string') return corrupt(completed)
  return { kind: 'state', state: { sessionId, startedAt, completed } }
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

function readCompleted(value: unknown): SessionState['completed'] | string {
  if (!isFields(value)) return 'completed is no object'
  const completed = new Map<string, ReadonlyMap<string, readonly Completion[]>>()
  for (const [workflow, tools] of Object.entries(value)) {
    if (!isFields(tools)) return `completed.${workflow} is no object`
    const lists = new Map<string, readonly Completion[]>()
    for (const [tool, entry] of Object.entries(tools)) {
      const list = readEntry(entry)
      if (list === undefined) return `completed.${workflow}.${tool} is not what was written there`
      lists.set(tool, list)
    }
    completed.set(workflow, lists)
  }
  return completed
}

function readEntry(entry: unknown): Completion[] | undefined {
  if (!isFields(entry)) return undefined
  const { scopes } = entry
  if (scopes === undefined) {
    const bare = readCompletion(entry, {})
    return bare === undefined ? undefined : [bare]
  }
  if (!Array.isArray(scopes)) return undefined
  const list: Completion[] = []
  for (const item of scopes) {
    const scope: unknown = isFields(item) ? item['scope'] : undefined
    const completion = isScope(scope) ? readCompletion(item, scope) : undefined
    if (completion === undefined) return undefined
    list.push(completion)
  }
  return list
}

function readCompletion(value: unknown, scope: ScopeValues): Completion | undefined {
  if (!isFields(value)) return undefined
  const { at, result, value: kept } = value
  if (typeof at !== 'string' || typeof result !== 'string') return undefined
  return isJson(kept) ? { at, result, scope, value: kept } : { at, result, scope }
}

/** What `JSON.parse` gave is JSON wherever there is something. */
function isJson(value: unknown): value is JsonValue {
  return value !== undefined
}

/** What `JSON.parse` gives as an object holds only JSON values. */
function isScope(value: unknown): value is Record<string, JsonValue> {
  return isFields(value)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function corrupt(problem: string): SessionFileReading {
  return { kind: 'corrupt', problem }
}
