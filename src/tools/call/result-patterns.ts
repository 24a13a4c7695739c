import { amount, count } from '../../core/text.ts'
import { type CallFacts, sizeOf } from './summarise-facts.ts'

/** How the results of one kind of tool are summarised. */
interface ResultPattern {
  applies: (facts: CallFacts) => boolean
  success: (facts: CallFacts) => string
  /** Lines after it; those without a value are left out. */
  lines: (facts: CallFacts) => Readonly<Record<string, string | undefined>>
}

/** The lines of the first pattern that applies; undefined where a result is told by its shape. */
export function patternLines(facts: CallFacts): string[] | undefined {
  const pattern = resultPatterns.find(({ applies }) => applies(facts))
  if (pattern === undefined) return undefined
  const lines = Object.entries(pattern.lines(facts)).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [`${key}: ${value}`],
  )
  return [`Success: ${pattern.success(facts)}`, ...lines]
}

const resultPatterns: readonly ResultPattern[] = [
  {
    applies: ({ name }) => /screenshot/i.test(name),
    success: (facts) => `${elementOf(facts) === undefined ? '' : 'element '}screenshot captured`,
    lines: (facts) => {
      const [file] = facts.files
      const uid = elementOf(facts)
      const mode = facts.params['fullPage'] === true ? 'fullPage' : 'viewport'
      return {
        Path: file?.path ?? savedPath(facts),
        Size: file && `${count(file.size)} bytes`,
        ...(uid === undefined
          ? { Mode: mode, Next: 'request another region if needed.' }
          : { Element: `uid=${uid}`, Next: 'use take_snapshot to verify other uids.' }),
      }
    },
  },
  {
    applies: ({ name, text }) =>
      /list_console_messages|browser_console_messages/.test(name) && text !== '',
    success: (facts) => {
      const { types } = facts.params
      const only = Array.isArray(types) && types.length === 1 ? String(types[0]) : 'message'
      return amount(consoleMessages(facts).length, `console ${only}`)
    },
    lines: (facts) => {
      const [, id, message = ''] = /msgid=(\d+)\s*(.*)/.exec(consoleMessages(facts)[0] ?? '') ?? []
      return {
        First: id && `[msgid=${id}] ${message.slice(0, 200)}`,
        Next: 'open specific message id for details.',
      }
    },
  },
  {
    applies: ({ name, text }) => name.endsWith('network_requests') && text !== '',
    success: (facts) => amount(networkRequests(facts).length, 'network request'),
    lines: (facts) => {
      const requests = networkRequests(facts)
      const types = Object.groupBy(requests, (entry) => requestType.exec(entry)?.[0] ?? '')
      return {
        Types: Object.entries(types)
          .filter(([type]) => type !== '')
          .map(([type, entries = []]) => `${type}=${entries.length}`)
          .join(', '),
        First: requests[0]?.trim().slice(0, 200),
        Next: 'open request id for full headers/body.',
      }
    },
  },
  {
    applies: ({ name }) => /start_trace|stop_trace/.test(name),
    success: () => 'trace recorded',
    lines: (facts) => ({
      Path: textParameter(facts, /path$/i),
      Insights: found(facts, /^[ \t]*(?:- )?insight(?: name)?: (\w+)/gim, 10),
      Next: 'analyze specific insight by name.',
    }),
  },
  {
    applies: ({ name }) => name.endsWith('snapshot'),
    success: ({ text }) => `page snapshot, ${amount([...text.matchAll(uids)].length, 'element')}`,
    lines: (facts) => {
      const first = found(facts, uids, 5)
      return { IDs: first && `[${first}]`, Next: 'use a uid with click, fill or hover.' }
    },
  },
  ...fileOperations(),
  {
    applies: ({ category, params }) => category === 'docs' && params['libraryId'] !== undefined,
    success: () => 'docs retrieved',
    lines: (facts) => {
      const snippets = facts.text.split(/^(?:-{5,}|#{2,3} )/m).filter((part) => part.trim() !== '')
      const line = snippets[0]?.split('\n').find((entry) => entry.trim() !== '')
      return {
        Library: textParameter(facts, /^libraryId$/),
        Matches: String(snippets.length),
        Snippet: line?.trim().slice(0, 200),
        Next: 'ask for detailed example or version-specific docs.',
      }
    },
  },
  {
    applies: ({ name }) => /^sequential_?thinking$/i.test(name),
    success: ({ params }) => (isThinking(params) ? 'thought recorded' : 'reasoning completed'),
    lines: (facts) => {
      const { thoughtNumber } = facts.params
      const thoughts = typeof thoughtNumber === 'number' ? String(thoughtNumber) : undefined
      if (isThinking(facts.params)) return { Thoughts: thoughts, Next: 'give the next thought.' }
      const conclusion = textParameter(facts, /^thought$/)?.slice(0, 200)
      return { Thoughts: thoughts, Conclusion: conclusion, Next: 'proceed with tool execution.' }
    },
  },
]

/** Reading, writing, creating, deleting and moving files. */
function fileOperations(): ResultPattern[] {
  const paths = /^(?:path|file_?path|source|from|file|filename)$/i
  const operations: readonly (readonly [RegExp, string, string])[] = [
    [/^(?:move|rename)/, 'moved', 'verify new location if needed.'],
    [/^(?:delete|remove|unlink)/, 'deleted', 'none'],
    [/^(?:write|create|edit|append|save)/, 'written', 'open the file to review content.'],
    [/^(?:read|get)/, 'read', 'specify line range for deeper inspection.'],
  ]
  return operations.map(([verb, done, next]) => ({
    applies: (facts) =>
      verb.test(facts.name) &&
      /file|director/i.test(facts.name) &&
      facts.category !== 'github' &&
      textParameter(facts, paths) !== undefined,
    success: ({ name }) => `${/director/i.test(name) ? 'directory' : 'file'} ${done}`,
    lines: (facts) => {
      const path = textParameter(facts, paths)
      const target = textParameter(facts, /^(?:destination|to|target)$/i)
      const written = textParameter(facts, /^(?:content|contents|text|data)$/)
      const content = done === 'read' ? facts.text : written
      return {
        ...(target === undefined ? { Path: path } : { From: path, To: target }),
        Size: content && sizeOf(content),
        Next: next,
      }
    },
  }))
}

const uids = /\b(?:uid|ref)=([\w-]+)/g
const methods = 'GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS'
const request = new RegExp(String.raw`^\s*(?:reqid=\d+|\[(?:${methods})\])`)
const requestType = new RegExp(
  String.raw`\b(?:xhr|fetch|document|script|stylesheet|image|font|media|${methods})\b`,
)

function elementOf(facts: CallFacts): string | undefined {
  return textParameter(facts, /^(?:uid|ref|selector|element)$/)
}

function consoleMessages({ text }: CallFacts): string[] {
  return text.split('\n').filter((entry) => /^\s*msgid=\d+/.test(entry))
}

function networkRequests({ text }: CallFacts): string[] {
  return text.split('\n').filter((entry) => request.test(entry))
}

function isThinking(params: CallFacts['params']): boolean {
  return params['nextThoughtNeeded'] === true
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

function found({ text }: CallFacts, pattern: RegExp, most: number): string {
  const matches = [...text.matchAll(pattern)].map(([, match = '']) => match)
  return [...new Set(matches)].slice(0, most).join(', ')
}
