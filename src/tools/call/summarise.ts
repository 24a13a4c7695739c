import { isObject, safeText } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject, ToolOutcome } from '../model.ts'
import { isList } from './_json.ts'
import { type CallFacts, gatherFacts, keyIds, type SummarisedTool } from './call-facts.ts'
import { count, grouped, resultPatterns, sizeOf } from './result-patterns.ts'
import type { SavedFile } from './save-content.ts'

export interface Summary {
  status: 'success' | 'error'
  /** Safe to print; at most {@link mostLines} of at most {@link longestLine} characters, then the content. */
  lines: readonly string[]
  /** The whole content, safe to print, where it has at most {@link longestContent} characters. */
  content?: string | undefined
  /** Characters that are not shown. */
  hidden: number
}

/** A longer result is summarised. */
export const longestContent = 1000
export const longestLine = 300
export const mostLines = 12

/**
 * Tells a result as the seed wants it: success or failure, counts, identifiers, paths, what to do
 * next; a short content whole, a long one never. What comes back is safe to print.
 */
export function summarise(
  outcome: ToolOutcome,
  tool: SummarisedTool,
  params: JsonObject = {},
  files: readonly SavedFile[] = [],
): Summary {
  const facts = gatherFacts(tool, params, outcome, files)
  const isLong = facts.text.length > longestContent
  const head = isLong ? longHead(facts) : shortHead(facts)
  const shown = isLong ? undefined : safeContent(facts, head)
  const hidden = isLong ? facts.text.length : 0
  const lines = [...head, ...besides(facts)].slice(0, mostLines).map(cutLine)
  return { status: outcome.isError ? 'error' : 'success', lines, content: shown, hidden }
}

/** One line for a value of a batch or a chain. */
export function summariseValue(value: JsonValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const outcome = { isError: false, content: [], structured: value, size: text.length }
  if (text.length <= 200) return cutLine(text)
  const { lines } = summarise(outcome, { name: '' })
  const said = lines.find((line) => /^(?:Summary|Success): /.test(line)) ?? lines[0] ?? ''
  const ids = lines.find((line) => /^(?:IDs|Sample|Key IDs): /.test(line))
  return cutLine(said.replace(/^\w+: /, '') + (ids === undefined ? '' : ` ${ids}`))
}

function shortHead(facts: CallFacts): string[] {
  const known = knownLines(facts)
  if (known !== undefined) return known
  if (facts.outcome.isError) return [`Failure: ${opening(facts.text)}`]
  const { items, text, value, files } = facts
  if (files.length > 0) return fileLines(facts)
  if (items !== undefined) return listLines(facts, items)
  if (text === '') return ['Success: no content']
  if (text.trimEnd().includes('\n') || isObject(value)) return [`Success: ${shape(value, text)}`]
  return [`Success: ${text.trim()}`]
}

function longHead(facts: CallFacts): string[] {
  const { text, items, value } = facts
  const known = knownLines(facts)
  const status = facts.outcome.isError ? ['Status: failure'] : []
  const head = [`Result (large): ${grouped(text.length)} chars`, ...status]
  if (known !== undefined) return [...head, ...withoutNext(known), 'Next: --raw shows all of it.']
  if (items === undefined) {
    const said = isObject(value) ? shape(value, text) : opening(text)
    return [...head, `Summary: ${said}`, ...objectLines(value), 'Next: --raw shows all of it.']
  }
  const { key, ids } = keyIds(items, 5)
  return [
    ...head,
    `Summary: returned ${count(items.length, 'item')}.`,
    ...(ids.length === 0 ? [] : [`Key IDs: ${listText(key, ids)}`]),
    ...filterLine(facts),
    'Next: ask for one of them or narrow the request; --raw shows all of it.',
  ]
}

/** Beyond this only the shape of a text is told. */
const longestRead = 2_000_000

function knownLines(facts: CallFacts): string[] | undefined {
  if (facts.outcome.isError || facts.text.length > longestRead) return undefined
  const pattern = resultPatterns.find((candidate) => candidate.applies(facts))
  const [first, ...rest] = pattern?.lines(facts) ?? []
  return first === undefined ? undefined : [`Success: ${first}`, ...rest]
}

function listLines(facts: CallFacts, items: readonly JsonValue[]): string[] {
  const { key, ids } = keyIds(items, 5)
  const isWhole = ids.length === items.length
  const label = isWhole ? 'IDs' : 'Sample'
  return [
    `Success: ${count(items.length, 'item')}`,
    ...(ids.length === 0 ? [] : [`${label}: ${listText(isWhole ? undefined : key, ids)}`]),
    ...filterLine(facts),
    ...(items.length === 0
      ? ['Next: widen the request.']
      : ['Next: request details of one of them.']),
  ]
}

/** `[1, 2]`, or `[id: 1, id: 2]` where the key says more. */
function listText(key: string | undefined, ids: readonly string[]): string {
  return `[${ids.map((id) => (key === undefined ? id : `${key}: ${id}`)).join(', ')}]`
}

/** Parameters by which a list was narrowed. */
const filterNames =
  /^(?:state|status|labels?|sort|direction|search|query|q|filter|types?|resourceTypes|category|author|assignee|since|page|limit|per_?page|database|table|pattern|owner|repo)$/i

function filterLine({ params }: CallFacts): string[] {
  const filters = Object.entries(params)
    .filter(([name, value]) => filterNames.test(name) && !isObject(value) && value !== null)
    .map(([name, value]) => `${name}=${isList(value) ? value.map(plain).join('+') : plain(value)}`)
  return filters.length === 0 ? [] : [`Filter: ${filters.slice(0, 6).join(', ')}`]
}

function fileLines({ files }: CallFacts): string[] {
  const [first] = files
  if (first === undefined) return []
  const kind = first.mimeType.split('/')[0] ?? 'file'
  return [
    `Success: ${files.length === 1 ? `${kind} received` : count(files.length, 'file')}`,
    ...files.slice(0, 5).map(({ path }) => `Path: ${path}`),
    `Size: ${grouped(first.size)} bytes`,
    'Next: open the file to review content.',
  ]
}

function plain(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Links and resources, which hold more than the text says. */
function besides({ outcome, files }: CallFacts): string[] {
  return outcome.content.flatMap((block) => {
    if (block.type === 'link') return [`Link: ${block.name} ${block.uri}`]
    const isSaved = files.some((file) => file.block === block)
    return block.type === 'resource' && !isSaved ? [`Resource: ${block.uri}`] : []
  })
}

function shape(value: JsonValue, text: string): string {
  if (!isObject(value)) return sizeOf(text)
  const names = Object.keys(value)
  return `${count(names.length, 'field')}: ${names.slice(0, 8).join(', ')}`
}

function objectLines(value: JsonValue): string[] {
  if (!isObject(value)) return []
  const { ids, key } = keyIds([value], 1)
  return ids.length === 0 || key === undefined ? [] : [`Key IDs: [${key}: ${ids[0]}]`]
}

/** The first line with words, which is often a title. */
function opening(text: string): string {
  const beginning = text.slice(0, 10_000).split('\n')
  const line = beginning.find((entry) => /[\p{L}\p{N}]/u.test(entry)) ?? ''
  const first = line.trim().slice(0, 200)
  return first === text.trim() ? first : `${first} … (${sizeOf(text)})`
}

function withoutNext(lines: readonly string[]): string[] {
  return lines.filter((line) => !line.startsWith('Next: '))
}

function cutLine(line: string): string {
  return cut(safeText(line).replaceAll(/[\n\t]+/g, ' '), longestLine)
}

/** Nothing where the first line already said it. */
function safeContent({ text }: CallFacts, head: readonly string[]): string | undefined {
  if (text === '' || head[0] === `Success: ${text.trim()}`) return undefined
  return cut(safeText(text.trimEnd()), longestContent * 2)
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
