import { plainWords, stemOf } from '#rank/words'
import type { JsonObject } from '#core/json'
import type { ToolDefinition } from '#tools/model'
import { isIdentifier, type Parameter, parametersOf } from './parameter.ts'
import { takesForm } from './place-by-form.ts'
import { ownDescription, saysItReads } from './reading.ts'

/** The tools of one server, and which of them are known to read only. */
interface ToolFamily {
  siblings: readonly ToolDefinition[]
  reads: (id: string) => boolean
}

/**
 * Returns the optional parameters of which a call must set one: `title` and `body` for `update issue 5`. Their tool
 * changes a thing, and all values of the call only say which one. `delete issue 5` and `merge PR 5` need nothing more.
 *
 * The schemas say which parameters these are: another tool of the server with a word of the name requires them
 * (`create_issue`), the description has them as its object ("Update a table's name or description"), or the name of the
 * parameter has the word "new".
 */
export function unsetProperties(
  tool: ToolDefinition,
  params: JsonObject,
  { siblings, reads }: ToolFamily,
): string[] {
  if (reads(tool.id) || saysItReads(tool)) return []
  const parameters = parametersOf(tool.inputSchema)
  const name = new Set(plainWords(tool.name).map(stemOf))
  const given = parameters.filter((one) => Object.hasOwn(params, one.name))
  const identities = new Set(
    siblings.filter(({ id }) => reads(id)).flatMap((one) => requiredNames(one)),
  )
  if (!given.every((one) => identities.has(one.name) || isIdentity(one, name))) return []

  const relatives = siblings.filter((one) => !reads(one.id) && isRelated(one, tool, siblings))
  const ofRelatives = new Set(relatives.flatMap((one) => requiredNames(one)))
  const required = parameters.filter((one) => one.required)
  const explained = new Set([...name, ...required.flatMap(({ words }) => words.map(stemOf))])
  const object = objectStems(tool).filter((stem) => !explained.has(stem))
  const isProperty = (one: Parameter) =>
    given.length > 0 &&
    (one.words.includes('new') || (ofRelatives.has(one.name) && !isIdentity(one, name)))
  const isInObject = ({ words }: Parameter) => words.some((word) => object.includes(stemOf(word)))
  const properties = parameters
    .filter((one) => !one.required)
    .filter(({ kind, default: value }) => kind !== 'boolean' && (value ?? null) === null)
    .filter((one) => isProperty(one) || isInObject(one))
  return properties.some((one) => given.includes(one)) ? [] : properties.map((one) => one.name)
}

function requiredNames({ inputSchema }: ToolDefinition): string[] {
  return parametersOf(inputSchema).flatMap(({ name, required }) => (required ? [name] : []))
}

/** Words that say which thing is meant, beside those of IDs. */
const identityWords: readonly string[] = ['number', 'key', 'slug', 'ref', 'token']

/** Whether a parameter can only say which thing is meant: by its name, a path, or the address of what the tool is for. */
function isIdentity(parameter: Parameter, toolStems: ReadonlySet<string>): boolean {
  const { words } = parameter
  const isAddress = takesForm(parameter, 'url') && words.some((word) => toolStems.has(stemOf(word)))
  return (
    isIdentifier(parameter) ||
    words.some((word) => identityWords.includes(word)) ||
    takesForm(parameter, 'path') ||
    isAddress
  )
}

/** Whether two names share a word that not all tools of the server have. */
function isRelated(
  one: ToolDefinition,
  tool: ToolDefinition,
  siblings: readonly ToolDefinition[],
): boolean {
  if (one.id === tool.id) return false
  const stems = new Set(plainWords(one.name).map(stemOf))
  const isOfAll = (stem: string) =>
    siblings.every(({ name }) => plainWords(name).map(stemOf).includes(stem))
  return plainWords(tool.name)
    .map(stemOf)
    .some((stem) => stems.has(stem) && !isOfAll(stem))
}

/** Words that end the object of a sentence: `Update a field in a table`. */
const endsOfObject: ReadonlySet<string> = new Set(
  'in with to from for on using by at into as after before when if within inside while optionally'.split(
    ' ',
  ),
)

/** The stems of a description up to its object, without what follows a preposition or a comma. */
function objectStems({ description }: ToolDefinition): string[] {
  const [clause = ''] = ownDescription(description).split(/[.,;:(\n|]/, 1)
  const words = plainWords(clause)
  const end = words.findIndex((word) => endsOfObject.has(word))
  return (end < 0 ? words : words.slice(0, end)).map(stemOf)
}
