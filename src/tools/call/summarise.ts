import { amount, count, safeLine, safeText } from '#core/text'
import { isList, isObject, plainText, type JsonValue, type JsonObject } from '#core/json'
import type { ToolOutcome } from '#tools/model'
import { cutText } from '#tools/cache/cache-file'
import { outcomeText, outcomeValue, type SavedFile } from './content.ts'

const longestContent = 1000
const longestLine = 300
const mostLines = 12

/** Says success or failure, counts, identifiers, paths and the next step. Safe to print. */
export function summarise(
  outcome: ToolOutcome,
  tool: { name: string; category?: string | undefined },
  params: JsonObject = {},
  files: readonly SavedFile[] = [],
) {
  const facts = gatherFacts(tool, params, outcome, files)
  const { text } = facts
  const isLong = text.length > longestContent
  const head = isLong ? longHead(facts) : shortHead(facts)
  const isTold = isLong || text === '' || head[0] === `Success: ${text.trim()}`
  return {
    lines: [...head, ...links(facts)].slice(0, mostLines).map(cutLine),
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
  const known = knownLines(facts)
  if (known) return known
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
  const known = knownLines(facts)?.filter((line) => !line.startsWith('Next: '))
  if (known) return [...head, ...known, `Next: ${next}`]
  if (items) {
    const [summary, ...ids] = largeList(items)
    head.push(`Summary: ${summary}`, ...ids, ...filterLine(facts))
    return [...head, `Next: ask for one of them or narrow the request; ${next}`]
  }
  head.push(`Summary: ${isObject(value) ? shape(value, text) : opening(text)}`)
  const { key, ids } = keyIds([value])
  if (key !== undefined) head.push(...idsLine('Key IDs', key, ids))
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

/** Parameters by which a list was narrowed. */
const filterNames =
  /^(?:state|status|labels?|sort|direction|search|query|q|filter|types?|resourceTypes|category|author|assignee|since|page|limit|per_?page|database|table|pattern|owner|repo)$/i

function filterLine({ params }: CallFacts): string[] {
  const filters = Object.entries(params)
    .filter(([name, value]) => filterNames.test(name) && !isObject(value) && value !== null)
    .map(([name, value]) => `${name}=${[value].flat().map(plainText).join('+')}`)
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

type CallFacts = ReturnType<typeof gatherFacts>

/** `text`: the text blocks, else the structured JSON; `items`: the list that the value has. */
function gatherFacts(
  tool: { name: string; category?: string | undefined },
  params: JsonObject,
  outcome: ToolOutcome,
  files: readonly SavedFile[],
) {
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

/** The value, or the only list of an object that otherwise only describes that list. */
function listIn(value: JsonValue): readonly JsonValue[] | undefined {
  if (isList(value)) return value
  if (!isObject(value) || identifyingKeys.some((key) => Object.hasOwn(value, key))) return undefined
  const lists = Object.values(value).filter((member) => isList(member))
  const hasParts = Object.entries(value).some(
    ([key, member]) => isObject(member) && !paging.test(key),
  )
  return lists.length === 1 && !hasParts ? lists[0] : undefined
}

const paging = /^(?:page_?info|pagination|paging|meta(?:data)?|_?links)$/i

/** Keys by which people tell things apart, the most telling first. */
const identifyingKeys =
  'id number uid pageId full_name name key path url uri title login sha'.split(' ')

function keyIds(items: readonly JsonValue[]): { key?: string | undefined; ids: string[] } {
  const first = items.slice(0, 5)
  const key = identifyingKeys.find((candidate) =>
    first.every((item) => isObject(item) && keyText(item[candidate]) !== undefined),
  )
  const ids = first.flatMap((item) => {
    return keyText(key !== undefined && isObject(item) ? item[key] : item) ?? []
  })
  return { key, ids }
}

function keyText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value.slice(0, 80)
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

function sizeOf(text: string): string {
  const lines = text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0)
  return `${amount(text.length, 'char')} (${amount(lines, 'line')})`
}

/** Beyond this only the shape of a text is told. */
const longestRead = 2_000_000

function knownLines(facts: CallFacts): string[] | undefined {
  if (facts.outcome.isError || facts.text.length > longestRead) return undefined
  const told = tellByPattern(facts)
  return told && Object.entries(told).flatMap(([key, value]) => (value ? [`${key}: ${value}`] : []))
}

/** The lines of a result pattern of the format; those without a value are left out. */
type Told = Readonly<Record<string, string | undefined>>

function tellByPattern(facts: CallFacts): Told | undefined {
  const { name, category, params, text } = facts
  if (/screenshot/i.test(name)) return tellScreenshot(facts)
  if (/list_console_messages|browser_console_messages/.test(name) && text !== '') {
    return tellConsole(facts)
  }
  if (name.endsWith('network_requests') && text !== '') return tellRequests(facts)
  if (/start_trace|stop_trace/.test(name)) {
    return {
      Success: 'trace recorded',
      Path: textParameter(facts, /path$/i),
      Insights: found(facts, /^[ \t]*(?:- )?insight(?: name)?: (\w+)/gim, 10),
      Next: 'analyze specific insight by name.',
    }
  }
  if (name.endsWith('snapshot')) {
    const first = found(facts, uids, 5)
    return {
      Success: `page snapshot, ${amount([...text.matchAll(uids)].length, 'element')}`,
      IDs: first && `[${first}]`,
      Next: 'use a uid with click, fill or hover.',
    }
  }
  if (/^sequential_?thinking$/i.test(name)) return tellThought(facts)
  if (category === 'docs' && params['libraryId'] !== undefined) {
    const snippets = text.split(/^(?:-{5,}|#{2,3} )/m).filter((part) => part.trim() !== '')
    return {
      Success: 'docs retrieved',
      Library: textParameter(facts, /^libraryId$/),
      Matches: String(snippets.length),
      Snippet: snippets[0]?.trim().split('\n')[0]?.slice(0, 200),
      Next: 'ask for detailed example or version-specific docs.',
    }
  }
  return category === 'github' ? undefined : tellFile(facts)
}

function tellScreenshot(facts: CallFacts): Told {
  const { files, params, text } = facts
  const [file] = files
  const uid = textParameter(facts, /^(?:uid|ref|selector|element)$/)
  const said = /\bsaved (?:\w+ )?(?:to|as)[: ]+["'`]?([^\s"'`]{1,300}[^\s"'`.,])/i.exec(text)?.[1]
  return {
    Success: `${uid === undefined ? '' : 'element '}screenshot captured`,
    Path: file?.path ?? textParameter(facts, /^(?:file_?path|filename|path)$/i) ?? said,
    Size: file && `${count(file.size)} bytes`,
    Element: uid && `uid=${uid}`,
    Mode: uid === undefined ? (params['fullPage'] === true ? 'fullPage' : 'viewport') : undefined,
    Next:
      uid === undefined
        ? 'request another region if needed.'
        : 'use take_snapshot to verify other uids.',
  }
}

function tellConsole({ text, params: { types } }: CallFacts): Told {
  const messages = text.split('\n').filter((entry) => /^\s*msgid=\d+/.test(entry))
  const only = Array.isArray(types) && types.length === 1 ? String(types[0]) : 'message'
  const [, id, message = ''] = /msgid=(\d+)\s*(.*)/.exec(messages[0] ?? '') ?? []
  return {
    Success: amount(messages.length, `console ${only}`),
    First: id && `[msgid=${id}] ${message.slice(0, 200)}`,
    Next: 'open specific message id for details.',
  }
}

const methods = 'GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS'
const request = new RegExp(String.raw`^\s*(?:reqid=\d+|\[(?:${methods})\])`)
const requestType = new RegExp(
  String.raw`\b(?:xhr|fetch|document|script|stylesheet|image|font|media|${methods})\b`,
)

function tellRequests({ text }: CallFacts): Told {
  const requests = text.split('\n').filter((entry) => request.test(entry))
  const types = Map.groupBy(
    requests.flatMap((entry) => requestType.exec(entry)?.[0] ?? []),
    (type) => type,
  )
  return {
    Success: amount(requests.length, 'network request'),
    Types: [...types].map(([type, entries]) => `${type}=${entries.length}`).join(', '),
    First: requests[0]?.trim().slice(0, 200),
    Next: 'open request id for full headers/body.',
  }
}

function tellThought(facts: CallFacts): Told {
  const { thoughtNumber, nextThoughtNeeded } = facts.params
  const isOpen = nextThoughtNeeded === true
  return {
    Success: isOpen ? 'thought recorded' : 'reasoning completed',
    Thoughts: typeof thoughtNumber === 'number' ? String(thoughtNumber) : undefined,
    Conclusion: isOpen ? undefined : textParameter(facts, /^thought$/)?.slice(0, 200),
    Next: isOpen ? 'give the next thought.' : 'proceed with tool execution.',
  }
}

const fileOperations: readonly (readonly [verb: RegExp, done: string, next: string])[] = [
  [/^(?:move|rename)/, 'moved', 'verify new location if needed.'],
  [/^(?:delete|remove|unlink)/, 'deleted', 'none'],
  [/^(?:write|create|edit|append|save)/, 'written', 'open the file to review content.'],
  [/^(?:read|get)/, 'read', 'specify line range for deeper inspection.'],
]

function tellFile(facts: CallFacts): Told | undefined {
  const { name, text } = facts
  const [, kind] = /(file|director)/i.exec(name) ?? []
  const [, done, next] = fileOperations.find(([verb]) => verb.test(name)) ?? []
  const path = textParameter(facts, /^(?:path|file_?path|source|from|file|filename)$/i)
  if (kind === undefined || done === undefined || path === undefined) return undefined
  const target = textParameter(facts, /^(?:destination|to|target)$/i)
  const written = textParameter(facts, /^(?:content|contents|text|data)$/)
  const content = done === 'read' ? text : written
  return {
    Success: `${kind.toLowerCase() === 'file' ? 'file' : 'directory'} ${done}`,
    [target === undefined ? 'Path' : 'From']: path,
    To: target,
    Size: content && sizeOf(content),
    Next: next,
  }
}

const uids = /\b(?:uid|ref)=([\w-]+)/g

function textParameter({ params }: CallFacts, name: RegExp): string | undefined {
  for (const [key, value] of Object.entries(params)) {
    if (name.test(key) && typeof value === 'string' && value !== '') return value
  }
  return undefined
}

function found({ text }: CallFacts, pattern: RegExp, most: number): string {
  const matches = [...text.matchAll(pattern)].map(([, match = '']) => match)
  return [...new Set(matches)].slice(0, most).join(', ')
}
