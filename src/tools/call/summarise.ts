import { cutText, amount, count, safeLine, safeText } from '#core/text'
import { isList, isObject, plainText, type JsonValue, type JsonObject } from '#core/json'
import type { ToolOutcome } from '#tools/model'
import { outcomeText, outcomeValue, type SavedFile } from './content.ts'

const longestContent = 1000
const longestLine = 300
const maxLines = 12

export interface ResultSummary {
  lines: string[]
  /** The text of the answer; undefined where the lines say all of it, or it is too long. */
  content: string | undefined
}

/** Says success or failure, counts, identifiers, paths and the next step. Safe to print. */
export function summarise(
  outcome: ToolOutcome,
  params: JsonObject = {},
  files: readonly SavedFile[] = [],
): ResultSummary {
  const facts = gatherFacts(params, outcome, files)
  const { text } = facts
  const isLong = text.length > longestContent
  const head = isLong ? longHead(facts) : shortHead(facts)
  const isTold = isLong || text === '' || head[0] === `Success: ${text.trim()}`
  return {
    lines: [...head, ...links(facts)].slice(0, maxLines).map(cutLine),
    content: isTold ? undefined : cutText(safeText(text.trimEnd()), longestContent * 2),
  }
}

export function summariseValue(value: JsonValue): string {
  const text = plainText(value)
  if (text.length <= 200) return cutLine(text)
  const items = listIn(value)
  return cutLine(items ? largeList(items).join(' ') : shape(value, text))
}

function shortHead(facts: CallFacts): string[] {
  const { items, text, value, files, outcome } = facts
  if (outcome.isError) return [`Failure: ${opening(text)}`]
  const [file] = files
  if (file) {
    const [kind] = file.mimeType.split('/')
    return [
      `Success: ${files.length === 1 ? `${kind} received` : amount(files.length, 'file')}`,
      ...files.slice(0, 5).map(({ path }) => `Path: ${path}`),
      `Size: ${count(file.size)} bytes`,
      'Next: open the file to review content.',
    ]
  }
  if (items) {
    const { key, ids } = keyIds(items)
    const isWhole = ids.length === items.length
    return [
      `Success: ${amount(items.length, 'item')}`,
      ...(isWhole ? idsLine('IDs', undefined, ids) : idsLine('Sample', key, ids)),
      ...filterLine(facts),
      `Next: ${items.length === 0 ? 'widen the request.' : 'request details of one of them.'}`,
    ]
  }
  if (text === '') return ['Success: no content']
  const isOneLine = !text.trimEnd().includes('\n') && !isObject(value)
  return [`Success: ${isOneLine ? text.trim() : shape(value, text)}`]
}

function longHead(facts: CallFacts): string[] {
  const { text, items, value, outcome } = facts
  const next = '--raw shows all of it.'
  const head = [`Result (large): ${count(text.length)} chars`]
  if (outcome.isError) head.push('Status: failure')
  if (items) {
    const [summary, ...ids] = largeList(items)
    head.push(`Summary: ${summary}`, ...ids, ...filterLine(facts))
    return [...head, `Next: ask for one of them or narrow the request; ${next}`]
  }
  head.push(`Summary: ${isObject(value) ? shape(value, text) : opening(text)}`)
  return [...head, `Next: ${next}`]
}

function largeList(items: readonly JsonValue[]): string[] {
  const { key, ids } = keyIds(items)
  return [`returned ${amount(items.length, 'item')}.`, ...idsLine('Key IDs', key, ids)]
}

function idsLine(label: string, key: string | undefined, ids: readonly string[]): string[] {
  const texts = ids.map((id) => (key === undefined ? id : `${key}: ${id}`))
  return ids.length === 0 ? [] : [`${label}: [${texts.join(', ')}]`]
}

/** The parameters by which a list was narrowed: all that are one value, or a list of them. */
function filterLine({ params }: CallFacts): string[] {
  const filters = Object.entries(params).flatMap(([name, value]) => {
    const values = [value].flat()
    if (value === null || values.some((one) => isObject(one) || isList(one))) return []
    return [`${name}=${cutText(values.map(plainText).join('+'), 80)}`]
  })
  return filters.length === 0 ? [] : [`Filter: ${filters.slice(0, 6).join(', ')}`]
}

/** Links and resources, which hold more than the text says. */
function links({ outcome, files }: CallFacts): string[] {
  return outcome.content.flatMap((block) => {
    if (block.type === 'link') return [`Link: ${block.name} ${block.uri}`]
    const isSaved = files.some((file) => file.block === block)
    return block.type === 'resource' && !isSaved ? [`Resource: ${block.uri}`] : []
  })
}

function shape(value: JsonValue, text: string): string {
  if (!isObject(value)) return sizeOf(text)
  const names = Object.keys(value)
  return `${amount(names.length, 'field')}: ${names.slice(0, 8).join(', ')}`
}

function opening(text: string): string {
  const lines = text.slice(0, 10_000).split('\n')
  const line = lines.find((entry) => /[\p{L}\p{N}]/u.test(entry)) ?? ''
  const first = line.trim().slice(0, 200)
  return first === text.trim() ? first : `${first} … (${sizeOf(text)})`
}

function cutLine(line: string): string {
  return cutText(safeLine(line), longestLine)
}

interface CallFacts {
  params: JsonObject
  outcome: ToolOutcome
  files: readonly SavedFile[]
  /** The text blocks, else the structured JSON. */
  text: string
  value: JsonValue
  /** The list that the value has. */
  items: readonly JsonValue[] | undefined
}

function gatherFacts(
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
  return { params, outcome, files, text, value, items: listIn(value) }
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

/** The value, or the only list of an object whose other members only describe that list. */
function listIn(value: JsonValue): readonly JsonValue[] | undefined {
  if (isList(value)) return value
  if (!isObject(value)) return undefined
  const members = Object.entries(value).filter(([key]) => !paging.test(key))
  const [list, ...others] = members.map(([, member]) => member).filter((member) => isList(member))
  const hasParts = members.some(([, member]) => isObject(member))
  if (!list || others.length > 0 || hasParts) return undefined
  // The list of an envelope is most of it; that of an issue or a file is a detail.
  const size = JSON.stringify(list).length
  const rest = members.filter(([, member]) => member !== list)
  return size > rest.reduce((sum, [, member]) => sum + JSON.stringify(member).length, 0)
    ? list
    : undefined
}

const paging = /^(?:page_?info|pagination|paging|meta(?:data)?|_?links)$/i

/** The first items by the first key that differs in all of them, or by their own text. */
function keyIds(items: readonly JsonValue[]): { key?: string | undefined; ids: string[] } {
  const compared = items.slice(0, maxCompared)
  const [first] = compared
  const key = isObject(first)
    ? Object.keys(first).find((candidate) => isDistinct(candidate, compared))
    : undefined
  const ids = items
    .slice(0, 5)
    .flatMap((item) => keyText(key !== undefined && isObject(item) ? item[key] : item) ?? [])
  return { key, ids }
}

const maxCompared = 1000

function isDistinct(key: string, items: readonly JsonValue[]): boolean {
  const texts = items.map((item) => (isObject(item) ? keyText(item[key]) : undefined))
  return texts.every((text) => text !== undefined) && new Set(texts).size === items.length
}

function keyText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value.length <= longestId ? value : undefined
  return typeof value === 'number' ? String(value) : undefined
}

const longestId = 80

function sizeOf(text: string): string {
  const lines = text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0)
  return `${amount(text.length, 'char')} (${amount(lines, 'line')})`
}
