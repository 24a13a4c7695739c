import type { JsonObject } from '../model.ts'
import type { MappingRule } from './request.ts'
import type { Parameter } from './parameter.ts'
import { customaryValues } from './synonym-table.ts'

/** What a first call of this kind customarily says although the request does not. */
export const customaryRule: MappingRule = {
  name: 'customary',
  find: ({ name, choices }, _reading, tool) => {
    const row = customaryValues.find(
      (entry) =>
        entry.parameter.test(name) &&
        entry.tool.test(tool.name) &&
        (entry.beside === undefined ||
          (choices.includes(entry.beside) && choices.includes(entry.value))),
    )
    return row === undefined ? undefined : { value: row.value, text: '' }
  },
}

/**
 * A choice that is the name of another parameter which has got a value: with a `url`, the `type` of
 * a navigation is `url`. Only required or otherwise undecided parameters are decided so.
 */
export function impliedChoice({ choices }: Parameter, params: JsonObject): string | undefined {
  return choices.find(
    (choice): choice is string => typeof choice === 'string' && Object.hasOwn(params, choice),
  )
}
