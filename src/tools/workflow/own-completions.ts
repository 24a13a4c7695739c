import { isList, type JsonValue } from '#core/json'
import { type PlannedStep, sameValue, scopeValues } from './plan.ts'
import type { Prerequisite, ScopeValues, WorkflowDefinition } from './model.ts'
import { type Completion, scopeKey, type SessionState } from './session-file.ts'

/** A step as it is planned, and what is known of the tool that completes it. */
export interface OwnStep {
  planned: PlannedStep
  prerequisite: Prerequisite
  server: string
  /** Whether the parameters of the tool are known. */
  isKnown: boolean
}

/**
 * Returns the completion of a step that somebody else calls: an agent with its own connection to a server. A
 * step counts as done after exactly the planned call, or all of them for a step that takes a list value by
 * value. If nobody knows which parameters the tool has, a call counts that names no other values than the
 * planned ones.
 */
export function ownCompletion(
  { completed }: SessionState,
  { name }: Pick<WorkflowDefinition, 'name'>,
  { planned, prerequisite, server, isKnown }: OwnStep,
): Completion | undefined {
  const ofStep = completed.filter(
    ({ workflow, tool, scope }) =>
      workflow === name && tool === planned.tool && scope['server'] === server,
  )
  const { params, each, status } = planned
  const scopeOf = (values: PlannedStep['params']): ScopeValues =>
    scopeValues(prerequisite, values, { params: {} }, server)
  const isOpen = status === 'waits' || status === 'blocked'
  if (!isKnown || isOpen) return looseCompletion(ofStep, scopeOf(params), isOpen)
  const list = each === undefined ? undefined : params[each]
  const wanted =
    each !== undefined && isList(list)
      ? list.map((value) => scopeOf({ ...params, [each]: value }))
      : [scopeOf(params)]
  const held = wanted.map((scope) =>
    ofStep.findLast((one) => scopeKey(one.scope) === scopeKey(scope)),
  )
  return held.includes(undefined) ? undefined : held.at(-1)
}

/** @param isOpen whether values of the step are unknown, so that a call may name any of them */
function looseCompletion(
  completed: readonly Completion[],
  planned: ScopeValues,
  isOpen: boolean,
): Completion | undefined {
  const wanted = Object.values(planned).flatMap(elementsOf)
  const fits = (key: string, value: JsonValue): boolean => {
    const own = planned[key]
    const allowed = own === undefined ? wanted : elementsOf(own)
    if (own === undefined && isOpen) return true
    return elementsOf(value).every((one) => allowed.some((other) => sameValue(one, other)))
  }
  const fitting = completed.filter(({ scope }) =>
    Object.entries(scope).every(([key, value]) => fits(key, value)),
  )
  // Of a list, either the calls name every element, or the tool does not take it.
  const named = fitting.flatMap(({ scope }) => Object.values(scope).flatMap(elementsOf))
  const isNamed = (one: JsonValue): boolean => named.some((other) => sameValue(one, other))
  const lists = Object.values(planned).filter((value) => isList(value))
  const isWhole = lists.every((list) => list.every(isNamed) || !list.some(isNamed))
  return isWhole ? fitting.at(-1) : undefined
}

function elementsOf(value: JsonValue): readonly JsonValue[] {
  return isList(value) ? value : [value]
}
