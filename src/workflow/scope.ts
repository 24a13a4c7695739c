import { redactValue, sha256 } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import { callParameter } from './resolve-params.ts'
import type { GatedCall, JsonObject, Prerequisite, ScopeValues } from './model.ts'

/** The scope key that stands for the life of the tool's server. */
const instanceKey = 'instance'

/** Names under which servers have what a scope key means; the key itself is one anyway. */
const scopeParameters: Readonly<Record<string, readonly string[]>> = {
  page: ['pageId', 'tabId', 'page_index'],
  table: ['table_name'],
  database: ['database_name', 'db'],
}

/**
 * The values for which a prerequisite is one and the same check. Without `scope` these are all its
 * parameters, and the server's life where other tools can make it stale. Always its server; a tool of
 * the agent itself has none, and the empty name.
 */
export function scopeValues(
  step: Prerequisite,
  params: JsonObject,
  call: Pick<GatedCall, 'params' | 'instance'>,
  server: string,
): ScopeValues {
  const values: ScopeValues = { server }
  for (const key of keysOf(step)) {
    const value =
      key === instanceKey
        ? instanceOf(server, call)
        : (scopeParameter(params, key) ?? scopeParameter(call.params, key))
    if (value !== undefined) values[key] = value
  }
  return values
}

function instanceOf(server: string, { instance }: Pick<GatedCall, 'instance'>): string | undefined {
  return server === '' ? undefined : instance
}

/**
 * Whether a completion survives a call that makes the step stale: only where the call names another
 * page, database or the like, or happens on another server. A tool of the agent itself is on none.
 */
export function survives(completion: ScopeValues, step: Prerequisite, call: GatedCall): boolean {
  const { server } = call.tool
  const { server: held = '' } = completion
  if (server !== '' && held !== '' && held !== server) return true
  return keysOf(step).some((key) => {
    const touched = key === instanceKey ? undefined : scopeParameter(call.params, key)
    const held = Object.hasOwn(completion, key) ? completion[key] : undefined
    return touched !== undefined && held !== undefined && !sameValue(touched, held)
  })
}

function keysOf(step: Prerequisite): readonly string[] {
  if (step.scope !== undefined) return step.scope
  const params = Object.keys(step.params ?? {})
  return step.invalidatedBy === undefined ? params : [...params, instanceKey]
}

function scopeParameter(params: JsonObject, key: string): JsonValue | undefined {
  const names = Object.hasOwn(scopeParameters, key) ? (scopeParameters[key] ?? []) : []
  for (const name of [key, ...names]) {
    const value = callParameter(params, name)
    if (value !== undefined) return recognisable(key, value)
  }
  return undefined
}

/** A scope is kept in a file: of a secret only enough to know it again. */
function recognisable(key: string, value: JsonValue): JsonValue {
  const text = JSON.stringify({ [key]: value })
  if (JSON.stringify(redactValue({ [key]: value })) === text) return value
  return sha256(text).slice(0, 'sha256:'.length + 8)
}

/** `2` and `"2"` are one page. */
function sameValue(a: JsonValue, b: JsonValue): boolean {
  const text = (value: JsonValue): string =>
    typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text(a) === text(b)
}
