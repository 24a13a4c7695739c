import { nearest } from '../../core/text.ts'
import { blankObjects, jsonObjectsIn } from '../call/directive-text.ts'
import type { MappedValue } from './map-parameters.ts'
import type { Parameter } from './parameter.ts'
import { maxRequestLength } from './slots.ts'

/** What a request gives as JSON, and the rest of it with every place as it was. */
export interface WrittenParameters {
  given: readonly MappedValue[]
  /** Parameters that a misspelt key was probably meant for: no other words are read for them. */
  meant: ReadonlySet<string>
  rest: string
}

/**
 * Parameters that a request gives as a JSON object: one whose keys are names of parameters, a
 * misspelt one perhaps. They are taken as they are written, so that the check of the schema says
 * what is wrong with them; no word in them is read for anything else. Any other JSON is a text.
 */
export function writtenParameters(
  request: string,
  parameters: readonly Parameter[],
): WrittenParameters {
  if (!request.includes('{')) return { given: [], meant: new Set(), rest: request }
  const names = parameters.map(({ name }) => name)
  const text = request.slice(0, maxRequestLength)
  const objects = jsonObjectsIn(text).filter(({ value }) =>
    Object.keys(value).every((key) => names.includes(key) || nearest(key, names) !== undefined),
  )
  const given = new Map<string, MappedValue>()
  const meant = new Set<string>()
  for (const { start, end, value } of objects) {
    for (const [parameter, one] of Object.entries(value)) {
      if (given.has(parameter)) continue
      const name = names.includes(parameter) ? undefined : nearest(parameter, names)
      if (name !== undefined) meant.add(name)
      const source = text.slice(start, end)
      given.set(parameter, { parameter, value: one, rule: 'written as JSON', text: source })
    }
  }
  return { given: [...given.values()], meant, rest: blankObjects(text, objects) }
}
