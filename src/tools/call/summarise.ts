import { isObject } from '../../core/json.ts'
import { safeText } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject, ToolOutcome } from '../model.ts'
import { isList } from './directive-text.ts'
import { type CallFacts, gatherFacts, keyIds, type SummarisedTool } from './summarise-facts.ts'
import type { SavedFile } from './content.ts'

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
const longestContent = 1000
const longestLine = 300
const mostLines = 12

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

/** How the results of one kind of tool are told: the seed's result patterns. */
interface ResultPattern {
  name: string
  applies: (facts: CallFacts) => boolean
  /** `Key: value` lines, the first one after `Success: `. */
  lines: (facts: CallFacts) => readonly string[]
}

/** The first that applies is used; a result that none fits is told by its shape. */
const resultPatterns: readonly ResultPattern[] = [
  {
    name: 'screenshot',
    applies: ({ name }) => /screenshot/i.test(name),
    lines: (facts) => {
      const uid = textParameter(facts, /^(?:uid|ref|selector|element)$/)
      const path = facts.files[0]?.path ?? savedPath(facts)
      return [
        `${uid === undefined ? '' : 'element '}screenshot captured`,
        ...line('Path', path),
        ...sizeLine(facts),
        uid === undefined
          ? `Mode: ${facts.params['fullPage'] === true ? 'fullPage' : 'viewport'}`
          : `Element: uid=${uid}`,
        uid === undefined
          ? 'Next: request another region if needed.'
          : 'Next: use take_snapshot to verify other uids.',
      ]
    },
  },
  {
    name: 'console',
    applies: ({ name, text }) =>
      /list_console_messages|browser_console_messages/.test(name) && text !== '',
    lines: ({ text, params }) => {
      const messages = text.split('\n').filter((entry) => /^\s*msgid=\d+/.test(entry))
      const types = params['types']
      const only = Array.isArray(types) && types.length === 1 ? String(types[0]) : 'message'
      const first = /msgid=(\d+)\s*(.*)/.exec(messages[0] ?? '')
      return [
        count(messages.length, only === 'message' ? 'console message' : `console ${only}`),
        ...line(
          'First',
          first === null ? undefined : `[msgid=${first[1]}] ${first[2]?.slice(0, 200)}`,
        ),
        'Next: open specific message id for details.',
      ]
    },
  },
  {
    name: 'network',
    applies: ({ name, text }) => name.endsWith('network_requests') && text !== '',
    lines: ({ text }) => {
      const requests = text
        .split('\n')
        .filter((entry) =>
          /^\s*(?:reqid=\d+|\[(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\])/.test(entry),
        )
      const types = countBy(
        requests,
        /\b(?:xhr|fetch|document|script|stylesheet|image|font|media|GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\b/,
      )
      return [
        count(requests.length, 'network request'),
        ...line('Types', types),
        ...line('First', requests[0]?.trim().slice(0, 200)),
        'Next: open request id for full headers/body.',
      ]
    },
  },
  {
    name: 'trace',
    applies: ({ name }) => /start_trace|stop_trace/.test(name),
    lines: (facts) => {
      const insights = [...facts.text.matchAll(/^[ \t]*(?:- )?insight(?: name)?: (\w+)/gim)].map(
        (found) => found[1] ?? '',
      )
      return [
        'trace recorded',
        ...line('Path', textParameter(facts, /path$/i)),
        ...line('Insights', [...new Set(insights)].slice(0, 10).join(', ')),
        'Next: analyze specific insight by name.',
      ]
    },
  },
  {
    name: 'snapshot',
    applies: ({ name }) => name.endsWith('snapshot'),
    lines: ({ text }) => {
      const uids = [...text.matchAll(/\b(?:uid|ref)=([\w-]+)/g)].map((found) => found[1] ?? '')
      return [
        `page snapshot, ${count(uids.length, 'element')}`,
        ...line('IDs', uids.length === 0 ? undefined : `[${uids.slice(0, 5).join(', ')}]`),
        'Next: use a uid with click, fill or hover.',
      ]
    },
  },
  ...fileOperations(),
  {
    name: 'docs',
    applies: ({ category, params }) => category === 'docs' && params['libraryId'] !== undefined,
    lines: (facts) => {
      const snippets = facts.text.split(/^(?:-{5,}|#{2,3} )/m).filter((part) => part.trim() !== '')
      return [
        'docs retrieved',
        ...line('Library', textParameter(facts, /^libraryId$/)),
        `Matches: ${snippets.length}`,
        ...line('Snippet', firstLine(snippets[0] ?? '')),
        'Next: ask for detailed example or version-specific docs.',
      ]
    },
  },
  {
    name: 'reasoning',
    applies: ({ name }) => /^sequential_?thinking$/i.test(name),
    lines: (facts) => {
      const more = facts.params['nextThoughtNeeded'] === true
      return [
        more ? 'thought recorded' : 'reasoning completed',
        ...line('Thoughts', numberParameter(facts, 'thoughtNumber')),
        ...line('Conclusion', more ? undefined : textParameter(facts, /^thought$/)?.slice(0, 200)),
        more ? 'Next: give the next thought.' : 'Next: proceed with tool execution.',
      ]
    },
  },
]

/** Reading, writing, making, deleting and moving files. */
function fileOperations(): ResultPattern[] {
  const paths = /^(?:path|file_?path|source|from|file|filename)$/i
  const operations: readonly (readonly [RegExp, string, string])[] = [
    [/^(?:move|rename)/, 'file moved', 'verify new location if needed.'],
    [/^(?:delete|remove|unlink)/, 'file deleted', 'none'],
    [/^(?:write|create|edit|append|save)/, 'file written', 'open the file to review content.'],
    [/^(?:read|get)/, 'file read', 'specify line range for deeper inspection.'],
  ]
  return operations.map(([verb, success, next]) => ({
    name: success,
    applies: (facts) =>
      verb.test(facts.name) &&
      /file|director/i.test(facts.name) &&
      facts.category !== 'github' &&
      textParameter(facts, paths) !== undefined,
    lines: (facts) => {
      const path = textParameter(facts, paths)
      const target = textParameter(facts, /^(?:destination|to|target)$/i)
      const isRead = success === 'file read'
      const written = textParameter(facts, /^(?:content|contents|text|data)$/)
      const content = isRead ? facts.text : written
      return [
        /director/i.test(facts.name) ? success.replace('file', 'directory') : success,
        ...(target === undefined ? line('Path', path) : [`From: ${path}`, `To: ${target}`]),
        ...line('Size', content === undefined || content === '' ? undefined : sizeOf(content)),
        `Next: ${next}`,
      ]
    },
  }))
}

/** `4,892 chars (120 lines)`. */
function sizeOf(text: string): string {
  return `${grouped(text.length)} chars (${count(lineCount(text), 'line')})`
}

function lineCount(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** `1 item`, `12,000 items`; `entry` and the like get their plural. */
function count(value: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${grouped(value)} ${value === 1 ? noun : plural}`
}

function grouped(value: number): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

function line(key: string, value: string | undefined): string[] {
  return value === undefined || value === '' ? [] : [`${key}: ${value}`]
}

function sizeLine({ files }: CallFacts): string[] {
  const size = files[0]?.size
  return size === undefined ? [] : [`Size: ${grouped(size)} bytes`]
}

/** Where the tool itself says that it wrote: its parameter, else its words. */
function savedPath(facts: CallFacts): string | undefined {
  const said = /\bsaved (?:\w+ )?(?:to|as)[: ]+["'`]?([^\s"'`]{1,300}[^\s"'`.,])/i.exec(facts.text)
  return textParameter(facts, /^(?:file_?path|filename|path)$/i) ?? said?.[1]
}

function textParameter({ params }: CallFacts, name: RegExp): string | undefined {
  for (const [key, value] of Object.entries(params)) {
    if (name.test(key) && typeof value === 'string' && value !== '') return value
  }
  return undefined
}

function numberParameter({ params }: CallFacts, name: string): string | undefined {
  const value = params[name]
  return typeof value === 'number' ? String(value) : undefined
}

function firstLine(text: string): string {
  return (text.split('\n').find((entry) => entry.trim() !== '') ?? '').trim().slice(0, 200)
}

function countBy(entries: readonly string[], kind: RegExp): string {
  const counts = new Map<string, number>()
  for (const entry of entries) {
    const found = kind.exec(entry)?.[0]
    if (found !== undefined) counts.set(found, (counts.get(found) ?? 0) + 1)
  }
  return [...counts].map(([name, amount]) => `${name}=${amount}`).join(', ')
}
