import { isObject } from '../../core/json.ts'
import { amount } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject, ToolOutcome } from '../model.ts'
import { outcomeText, outcomeValue, type SavedFile } from './content.ts'
import { isList } from './directive-text.ts'

export interface CallFacts {
  /** The server's own name of the tool. */
  name: string
  category?: string | undefined
  params: JsonObject
  outcome: ToolOutcome
  files: readonly SavedFile[]
  /** The text blocks, or the structured content as JSON where there are none. */
  text: string
  value: JsonValue
  /** What the value is a list of, where it is one or holds one. */
  items: readonly JsonValue[] | undefined
}

export function gatherFacts(
  tool: Pick<CallFacts, 'name' | 'category'>,
  params: JsonObject,
  outcome: ToolOutcome,
  files: readonly SavedFile[],
): CallFacts {
  const value = summarisedValue(outcome)
  const resources = outcome.content.flatMap((block) =>
    block.type === 'resource' ? (block.text ?? []) : [],
  )
  const written = [outcomeText(outcome), ...resources].filter((part) => part !== '').join('\n')
  const isUnwritten = written === '' && outcome.structured !== undefined
  const text = isUnwritten ? JSON.stringify(value, null, 2) : written
  return { ...tool, params, outcome, files, text, value, items: listIn(value) }
}

/** The value without what only wraps the text or a list of blocks. */
function summarisedValue(outcome: ToolOutcome): JsonValue {
  const text = outcomeText(outcome)
  const { structured, content } = outcome
  const isMixed = structured === undefined && content.some(({ type }) => type !== 'text')
  const isWrapped =
    structured !== undefined &&
    isObject(structured) &&
    text !== '' &&
    Object.values(structured).every((member) => member === text)
  return isMixed || isWrapped ? text : outcomeValue(outcome)
}

/**
 * The value itself, or the only list of an object that otherwise only describes the list, such as
 * with a count or a cursor.
 */
function listIn(value: JsonValue): readonly JsonValue[] | undefined {
  if (isList(value)) return value
  if (!isObject(value) || identifyingKeys.some((key) => Object.hasOwn(value, key))) return undefined
  const lists = Object.values(value).filter(isList)
  const hasParts = Object.entries(value).some(
    ([key, member]) => isObject(member) && !paging.test(key),
  )
  return lists.length === 1 && !hasParts ? lists[0] : undefined
}

const paging = /^(?:page_?info|pagination|paging|meta(?:data)?|_?links)$/i

/** Keys by which people tell things apart, the most telling first. */
const identifyingKeys =
  'id number uid pageId full_name name key path url uri title login sha'.split(' ')

/** The first five identifiers of a list's items, with the key that all of them have. */
export function keyIds(items: readonly JsonValue[]): { key?: string | undefined; ids: string[] } {
  const first = items.slice(0, 5)
  const key = identifyingKeys.find((candidate) =>
    first.every((item) => isObject(item) && plain(item[candidate]) !== undefined),
  )
  const ids = first.flatMap((item) => {
    return plain(key !== undefined && isObject(item) ? item[key] : item) ?? []
  })
  return first.length === 0 ? { ids } : { key, ids }
}

function plain(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value.slice(0, 80)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

/** `4,892 chars (120 lines)`. */
export function sizeOf(text: string): string {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return `${amount(text.length, 'char')} (${amount(lines, 'line')})`
}
