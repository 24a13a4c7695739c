import { isObject, redactText, redactValue } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import { isJsonList } from './_json-values.ts'
import type { ScopeValues } from './model.ts'

/** That a prerequisite finished, for one scope. */
export interface Completion {
  /** ISO time. */
  at: string
  /** The result's text, at most 200 characters. */
  result: string
  scope: ScopeValues
  /** The result itself, where later steps refer to it and it is small. */
  value?: JsonValue | undefined
}

/** What is known to have run in a session, by workflow and tool. */
export interface SessionState {
  sessionId: string
  /** ISO time. */
  startedAt: string
  completed: ReadonlyMap<string, ReadonlyMap<string, readonly Completion[]>>
}

/** One finished prerequisite. */
export interface CompletionRecord {
  workflow: string
  /** As the workflow names it. */
  tool: string
  scope: ScopeValues
  result: string
  /** Kept whole up to 2,000 characters of JSON and without a secret, else not at all. */
  value?: JsonValue | undefined
}

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
  // A file that others wrote knows no scopes: it speaks for steps that have none.
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
  // The id of a session with a server is what later steps are given.
  const isHandle = (key: string): boolean => /session[_-]?id$/i.test(key)
  const rest = JSON.stringify(value, (key, member: unknown) => (isHandle(key) ? 0 : member))
  return JSON.stringify(redactValue(JSON.parse(rest))) === rest
}

/** What others say has run counts; what they say came of it becomes no parameter of a call. */
export function withoutValues(state: SessionState): SessionState {
  const bare = ({ at, result, scope }: Completion): Completion => ({ at, result, scope })
  const completed = [...state.completed].map(
    ([workflow, tools]) =>
      [workflow, new Map([...tools].map(([tool, list]) => [tool, list.map(bare)]))] as const,
  )
  return { ...state, completed: new Map(completed) }
}

/** Without the completions that `holds` refuses. */
export function keepCompletions(
  state: SessionState,
  workflow: string,
  tool: string,
  holds: (scope: ScopeValues) => boolean,
): SessionState {
  const list = state.completed.get(workflow)?.get(tool)
  if (list === undefined) return state
  const kept = list.filter((completion) => holds(completion.scope))
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

/** The same text for the same values in any order. */
export function scopeKey(scope: ScopeValues): string {
  return canonical(scope)
}

function canonical(value: JsonValue): string {
  if (isJsonList(value)) return `[${value.map(canonical).join(',')}]`
  if (!isObject(value)) return JSON.stringify(value)
  const keys = Object.keys(value).toSorted()
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null)}`).join(',')}}`
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
