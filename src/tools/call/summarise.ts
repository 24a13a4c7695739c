import { isObject } from '../../core/json.ts'
import { amount, count, safeLine, safeText } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject, ToolOutcome } from '../model.ts'
import type { SavedFile } from './content.ts'
import { isList } from './directive-text.ts'
import { patternLines } from './result-patterns.ts'
import { type CallFacts, gatherFacts, keyIds, sizeOf } from './summarise-facts.ts'

export interface Summary {
  status: 'success' | 'error'
  lines: readonly string[]
  /** The whole content, safe to print, where it is short. */
  content?: string | undefined
  /** Characters that are not shown. */
  hidden: number
}

/** A longer result is summarised. */
const longestContent = 1000
const longestLine = 300
const mostLines = 12

/**
 * Summarises a result: success or failure, counts, identifiers, paths, the next step. Short content
 * is included. Safe to print.
 */
export function summarise(
  outcome: ToolOutcome,
  tool: { name: string; category?: string | undefined },
  params: JsonObject = {},
  files: readonly SavedFile[] = [],
): Summary {
  const facts = gatherFacts(tool, params, outcome, files)
  const { text } = facts
  const isLong = text.length > longestContent
  const head = isLong ? longHead(facts) : shortHead(facts)
  const isTold = isLong || text === '' || head[0] === `Success: ${text.trim()}`
  return {
    status: outcome.isError ? 'error' : 'success',
    lines: [...head, ...links(facts)].slice(0, mostLines).map(cutLine),
    content: isTold ? undefined : cut(safeText(text.trimEnd()), longestContent * 2),
    hidden: isLong ? text.length : 0,
  }
}

/** One line for a value of a batch or a chain. */
export function summariseValue(value: JsonValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= 200) return cutLine(text)
  const outcome = { isError: false, content: [], structured: value, size: text.length }
  const { lines } = summarise(outcome, { name: '' })
  const said = lines.find((line) => /^(?:Summary|Success): /.test(line)) ?? lines[0] ?? ''
  const ids = lines.find((line) => /^(?:IDs|Sample|Key IDs): /.test(line))
  return cutLine(said.replace(/^\w+: /, '') + (ids === undefined ? '' : ` ${ids}`))
}

function shortHead(facts: CallFacts): string[] {
  const { items, text, value, files, outcome } = facts
  const known = knownLines(facts)
  if (known !== undefined) return known
  if (outcome.isError) return [`Failure: ${opening(text)}`]
  if (files.length > 0) return fileLines(files)
  if (items !== undefined) {
    const { key, ids } = keyIds(items)
    const isWhole = ids.length === items.length
    return [
      `Success: ${amount(items.length, 'item')}`,
      ...idsLine(isWhole ? 'IDs' : 'Sample', isWhole ? undefined : key, ids),
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
  const known = knownLines(facts)?.filter((line) => !line.startsWith('Next: '))
  if (known !== undefined) return [...head, ...known, `Next: ${next}`]
  if (items !== undefined) {
    const { key, ids } = keyIds(items)
    head.push(`Summary: returned ${amount(items.length, 'item')}.`)
    head.push(...idsLine('Key IDs', key, ids), ...filterLine(facts))
    return [...head, `Next: ask for one of them or narrow the request; ${next}`]
  }
  const { key, ids } = isObject(value) ? keyIds([value]) : { key: undefined, ids: [] }
  const summary = isObject(value) ? shape(value, text) : opening(text)
  const line = key === undefined ? [] : idsLine('Key IDs', key, ids)
  return [...head, `Summary: ${summary}`, ...line, `Next: ${next}`]
}

/** Beyond this only the shape of a text is told. */
const longestRead = 2_000_000

function knownLines(facts: CallFacts): string[] | undefined {
  const isRead = !facts.outcome.isError && facts.text.length <= longestRead
  return isRead ? patternLines(facts) : undefined
}

function idsLine(label: string, key: string | undefined, ids: readonly string[]): string[] {
  const texts = ids.map((id) => (key === undefined ? id : `${key}: ${id}`))
  return ids.length === 0 ? [] : [`${label}: [${texts.join(', ')}]`]
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

function plain(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function fileLines(files: readonly SavedFile[]): string[] {
  const [first] = files
  if (first === undefined) return []
  const kind = first.mimeType.split('/')[0] ?? 'file'
  return [
    `Success: ${files.length === 1 ? `${kind} received` : amount(files.length, 'file')}`,
    ...files.slice(0, 5).map(({ path }) => `Path: ${path}`),
    `Size: ${count(first.size)} bytes`,
    'Next: open the file to review content.',
  ]
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
  return cut(safeLine(line), longestLine)
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
