import type { CallFacts } from './call-facts.ts'

/** How the results of one kind of tool are told: the seed's result patterns. */
export interface ResultPattern {
  name: string
  applies: (facts: CallFacts) => boolean
  /** `Key: value` lines, the first one after `Success: `. */
  lines: (facts: CallFacts) => readonly string[]
}

/** The first that applies is used; a result that none fits is told by its shape. */
export const resultPatterns: readonly ResultPattern[] = [
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
export function sizeOf(text: string): string {
  return `${grouped(text.length)} chars (${count(lineCount(text), 'line')})`
}

function lineCount(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** `1 item`, `12,000 items`; `entry` and the like get their plural. */
export function count(value: number, noun: string): string {
  const plural = noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
  return `${grouped(value)} ${value === 1 ? noun : plural}`
}

export function grouped(value: number): string {
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
