import { isObject } from '../../base/index.ts'
import type { JsonObject } from '../model.ts'
import type { Mask } from './mask-secrets.ts'

/** What a server asks for instead of giving a result (MCP of 2026-07-28, Multi Round-Trip Requests). */
export interface InputRequired {
  requests: JsonObject
  /** To be handed back; with no requests it is all that is wanted. */
  state?: string | undefined
}

/** Undefined for a result that is one. */
export function readInputRequired(result: JsonObject): InputRequired | undefined {
  const { resultType, inputRequests, requestState } = result
  // A server of an earlier protocol that answers so has its `resultType` taken away by the client.
  const asks =
    resultType === 'input_required' || (isObject(inputRequests) && !('content' in result))
  if (!asks) return undefined
  return {
    requests: isObject(inputRequests) ? inputRequests : {},
    state: typeof requestState === 'string' ? requestState : undefined,
  }
}

/**
 * What a server wants to know before it goes on, and whether it can be told in the parameters.
 * Skillrail has nobody to ask during a call: it declares none of these capabilities.
 */
export function inputRequiredText(
  tool: string,
  { requests }: InputRequired,
  inputSchema: JsonObject | undefined,
  mask: Mask,
): string {
  // A secret that was cut is none that a mask knows.
  const shown = (text: string): string => cut(mask(text))
  const wanted = Object.values(requests).map((request) => describe(request, shown))
  const asks = wanted.map(({ text }) => text).join('; ')
  const names = wanted.flatMap(({ fields }) => fields)
  const properties = inputSchema?.['properties']
  const known = isObject(properties) ? Object.keys(properties) : []
  const given = names.filter((name) => known.includes(name))
  const advice =
    names.length > 0 && given.length === names.length
      ? `Give ${given.join(' and ')} as a parameter of the call`
      : 'The tool has no parameter for it, and Skillrail answers no questions during a call'
  return `${tool} was not finished, because its server needs an answer first: ${asks || 'it does not say which'}. ${advice}`
}

interface Wanted {
  text: string
  /** Names of what a form asks for. */
  fields: readonly string[]
}

function describe(request: unknown, shown: (text: string) => string): Wanted {
  const named = isObject(request) ? request['method'] : undefined
  const method = typeof named === 'string' ? named : 'none'
  const given = isObject(request) ? request['params'] : undefined
  const params = isObject(given) ? given : {}
  const { message, url, requestedSchema } = params
  const said = typeof message === 'string' ? `"${shown(message)}"` : 'a question'
  switch (method) {
    case 'elicitation/create': {
      if (typeof url === 'string')
        return { text: `${said}, to be answered at ${shown(url)}`, fields: [] }
      const fields = isObject(requestedSchema) ? requestedSchema['properties'] : undefined
      if (!isObject(fields)) return { text: said, fields: [] }
      const names = Object.keys(fields)
      const list = names.map((name) => `${shown(name)}: ${shown(kindOf(fields[name]))}`).join('; ')
      return { text: names.length === 0 ? said : `${said} (${cut(list)})`, fields: names }
    }
    case 'sampling/createMessage':
      return { text: 'an answer of a model', fields: [] }
    case 'roots/list':
      return { text: 'the directories that it may work in', fields: [] }
    default:
      return { text: `something of a kind that is not known (${shown(method)})`, fields: [] }
  }
}

function kindOf(schema: unknown): string {
  if (!isObject(schema)) return 'anything'
  const { type, enum: values } = schema
  if (Array.isArray(values)) return `one of ${values.map(String).join(', ')}`
  return typeof type === 'string' ? type : 'anything'
}

function cut(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 499)}…`
}
