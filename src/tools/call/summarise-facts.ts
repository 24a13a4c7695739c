import { isObject } from '../../core/json.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject, ToolOutcome } from '../model.ts'
import { outcomeText, outcomeValue, type SavedFile } from './content.ts'
import { isList } from './directive-text.ts'

/** What a summary is made of. */
export interface CallFacts {
  /** The server's own name of the tool. */
  name: string
  category: string | undefined
  params: JsonObject
  outcome: ToolOutcome
  files: readonly SavedFile[]
  /** The text blocks, or the structured content as JSON where there are none. */
  text: string
  value: JsonValue
  /** What the value is a list of, where it is one or holds one. */
  items: readonly JsonValue[] | undefined
}

export interface SummarisedTool {
  name: string
  category?: string | undefined
}

export function gatherFacts(
  tool: SummarisedTool,
  params: JsonObject,
  outcome: ToolOutcome,
  files: readonly SavedFile[],
): CallFacts {
  const value = toldValue(outcome)
  const written = [outcomeText(outcome), ...resourceTexts(outcome)]
    .filter((part) => part !== '')
    .join('\n')
  const text =
    written === '' && outcome.structured !== undefined ? JSON.stringify(value, null, 2) : written
  const { name, category } = tool
  return { name, category, params, outcome, files, text, value, items: listIn(value) }
}

/** The value that the summary tells: nothing of what is only a wrapper, or a row of blocks. */
function toldValue(outcome: ToolOutcome): JsonValue {
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

function resourceTexts(outcome: ToolOutcome): string[] {
  return outcome.content.flatMap((block) =>
    block.type === 'resource' && block.text !== undefined ? [block.text] : [],
  )
}

/**
 * The value itself, or the one list that an object is there to carry: beside it there is at most what
 * tells of the list, such as a count or a cursor. An object that has an identity, parts or several
 * lists of its own is an object.
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
const identifyingKeys = [
  'id',
  'number',
  'uid',
  'pageId',
  'full_name',
  'name',
  'key',
  'path',
  'url',
  'uri',
  'title',
  'login',
  'sha',
] as const

interface KeyIds {
  /** The key that all of them have; undefined where the items are plain values. */
  key: string | undefined
  ids: readonly string[]
}

/** The first identifiers of a list's items; empty where they have none. */
export function keyIds(items: readonly JsonValue[], most: number): KeyIds {
  const first = items.slice(0, most)
  const key = identifyingKeys.find((candidate) =>
    first.every((item) => member(item, candidate) !== undefined),
  )
  const ids = first.flatMap((item) => {
    const id = key === undefined ? plain(item) : member(item, key)
    return id === undefined ? [] : [id]
  })
  return { key: first.length === 0 ? undefined : key, ids }
}

function member(item: JsonValue, key: string): string | undefined {
  if (typeof item !== 'object' || item === null || isList(item)) return undefined
  return Object.hasOwn(item, key) ? plain(item[key]) : undefined
}

function plain(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value.slice(0, 80)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}
