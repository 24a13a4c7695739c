/** What a scan of the braces from one `{` on found. */
export interface ScannedObject {
  /** Index after the brace that closes it; undefined where it is never closed. */
  end: number | undefined
  /** Whether it has the key `status` with a status of ours on its own level. */
  hasStatus: boolean
  /** The object as JSON; undefined where it is none, or has no key that an output begins with. */
  value: unknown
}

export interface ObjectScanner {
  scan(start: number): ScannedObject
}

const keyHere = /"(?:status|output)"\s{0,9}:/y

/** A key `status` and a status of ours, as JSON, as YAML, and as languages print their values. */
const statusHere = /(["']?)status\1\s{0,9}:\s{0,9}["']?(?:success|failure|critical)\b/y

/** A text that ends in the middle of a status. */
const statusTorn = /"status"\s{0,9}:\s{0,9}(?:"[a-z]{0,8})?$/y

/**
 * Scans objects of `text` from the last to the first. What was scanned is passed over inside of what
 * is around it, and hostile quotes find a limit, so that all of it takes linear time.
 */
export function objectScanner(text: string): ObjectScanner {
  const known = new Map<number, ScannedObject>()
  let budget = 8 * text.length + 4096
  let toParse = budget

  function at(expression: RegExp, index: number): boolean {
    expression.lastIndex = index
    return expression.test(text)
  }

  function parsed(start: number, end: number): unknown {
    toParse -= end - start
    if (toParse < 0) return undefined
    try {
      return JSON.parse(text.slice(start, end))
    } catch {
      return undefined
    }
  }

  function walk(start: number): ScannedObject {
    const quotes = /[^\s]/.exec(text.slice(start + 1, start + 200))?.[0] === '"' ? '"' : `"'`
    let depth = 0
    let quote = ''
    let before = ''
    let hasStatus = false
    let named = false
    for (let index = start; index < text.length; index++) {
      if (--budget < 0) break
      const character = text[index] ?? ''
      if (quote !== '') {
        if (character === '\\') index++
        else if (character === quote) quote = ''
        continue
      }
      if (depth === 1 && (before === '{' || before === ',')) {
        hasStatus ||= /["'s]/.test(character) && (at(statusHere, index) || at(statusTorn, index))
        named ||= character === '"' && at(keyHere, index)
      }
      if (quotes.includes(character)) quote = character
      else if (character === '{') {
        const inner = depth === 0 ? undefined : known.get(index)
        if (inner === undefined) depth++
        else if (inner.end === undefined) break
        else index = inner.end - 1
      } else if (character === '}' && --depth === 0) {
        const end = index + 1
        return { end, hasStatus, value: named ? parsed(start, end) : undefined }
      }
      if (character.trim() !== '') before = text[index] ?? ''
    }
    return { end: undefined, hasStatus, value: undefined }
  }

  return {
    scan(start) {
      const found = walk(start)
      known.set(start, found)
      return found
    },
  }
}

const fields: ReadonlySet<string> = new Set(['status', 'result', 'errors', 'metrics'])

/**
 * Whether a JSON value is meant as an output. Other programs print objects with a `status` too: one
 * in words always counts, another kind only where every key is a field of an output.
 */
export function isMeantAsOutput(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const keys = Object.keys(value)
  if ('output' in value && typeof value.output === 'object' && value.output !== null) {
    // The configuration of a bundler has an `output` as well.
    if (keys.length === 1 || 'status' in value.output) return true
  }
  if (!('status' in value)) return false
  const { status } = value
  if (typeof status === 'string') return true
  if (!keys.every((key) => fields.has(key))) return false
  return status === null || (typeof status !== 'object' && !isHttpStatus(status))
}

function isHttpStatus(status: unknown): boolean {
  return typeof status === 'number' && status >= 100 && status <= 599
}
