/** A part of standard output that claims to be the output of the skill. */
export interface OutputBlock {
  text: string
  /** Whether `text` is YAML that begins with `output:`, or a JSON object. */
  syntax: 'yaml' | 'json'
}

/**
 * The last `output:` block or JSON object with a `status`, fenced or bare; undefined where nothing
 * claims to be one. Time is linear in the text, whatever it contains.
 */
export function lastOutputBlock(stdout: string): OutputBlock | undefined {
  const lines = splitLines(stdout)
  const budget = { characters: 4 * stdout.length + 4096 }
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = lines[index]
    if (line === undefined) continue
    if (/^[ \t]*output:[ \t]*(?:#.*|\{.*)?$/.test(line.text)) {
      const text = yamlBlock(lines, index)
      if (text !== undefined) return { text, syntax: 'yaml' }
    } else if (/^[ \t]*\{/.test(line.text)) {
      const text = jsonBlock(stdout, line.start, budget)
      if (text !== undefined) return { text, syntax: 'json' }
    }
  }
  return undefined
}

interface Line {
  text: string
  start: number
}

function splitLines(text: string): Line[] {
  const lines: Line[] = []
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline
    const stop = text[end - 1] === '\r' ? end - 1 : end
    lines.push({ text: text.slice(start, stop), start })
    start = end + 1
  }
  return lines
}

/**
 * The `output:` line and what is indented below it, moved to the left edge. An `output:` with
 * nothing below it is a heading of some log, not a claim; so is an indented one outside a fence.
 */
function yamlBlock(lines: readonly Line[], first: number): string | undefined {
  const head = lines[first]?.text ?? ''
  const indent = indentOf(head)
  if (indent > 0 && !insideFence(lines, first, indent)) return undefined
  const block = [head.slice(indent)]
  for (let index = first + 1; index < lines.length; index++) {
    const text = lines[index]?.text ?? ''
    if (text.trim() !== '' && indentOf(text) <= indent) break
    block.push(text.slice(indent))
  }
  const flow = /^output:[ \t]*\{/.test(block[0] ?? '')
  if (!flow && block.every((text, index) => index === 0 || text.trim() === '')) return undefined
  return block.join('\n')
}

/** Whether a fence of the same indentation opens above, with only its content in between. */
function insideFence(lines: readonly Line[], index: number, indent: number): boolean {
  for (let above = index - 1; above >= 0 && above > index - 5; above--) {
    const text = lines[above]?.text ?? ''
    if (/^[ \t]*(?:```|~~~)/.test(text)) return indentOf(text) === indent
  }
  return false
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length
}

/**
 * The JSON object that starts at `start`, when it has a `status` in words or an `output`. Logs hold
 * other objects, so one that does not parse counts only when its first key is one of the two.
 */
function jsonBlock(
  stdout: string,
  start: number,
  budget: { characters: number },
): string | undefined {
  const end = objectEnd(stdout, start, budget)
  const text = stdout.slice(start, end ?? stdout.length).trim()
  const value = end === undefined ? undefined : parsed(text)
  if (value === undefined) {
    return /^\{\s*"(?:status"\s*:\s*"|output"\s*:\s*\{)/.test(text) ? text : undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const claims =
    ('status' in value && typeof value.status === 'string') ||
    ('output' in value && typeof value.output === 'object' && value.output !== null)
  return claims ? text : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Index after the brace that closes the object at `start`, or undefined. */
function objectEnd(
  text: string,
  start: number,
  budget: { characters: number },
): number | undefined {
  let depth = 0
  let quoted = false
  for (let index = start; index < text.length; index++) {
    if (--budget.characters < 0) return undefined
    const character = text[index]
    if (quoted) {
      if (character === '\\') index++
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === '{') depth++
    else if (character === '}' && --depth === 0) return index + 1
  }
  return undefined
}
