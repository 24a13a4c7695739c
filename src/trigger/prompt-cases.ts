import type { Diagnostic } from '../core/diagnostic.ts'

/** An author's test: what a prompt must inject. */
export interface PromptCase {
  prompt: string
  /** Paths as in the triggers, or `skill:path`; in any order. */
  inject: readonly string[]
}

interface PromptCaseReading {
  cases: readonly PromptCase[]
  diagnostics: readonly Diagnostic[]
}

/**
 * Reads a file of expected injections: a JSON list of `{ "prompt": …, "inject": [PATH…] }`, or one
 * such object a line. Never throws.
 */
export function readPromptCases(text: string, path: string): PromptCaseReading {
  const cases: PromptCase[] = []
  const diagnostics: Diagnostic[] = []
  const add = (value: unknown, line: number | undefined, place: string): void => {
    const found = asCase(value)
    if (found !== undefined) cases.push(found)
    else
      diagnostics.push(problem(path, line, `${place} is not of the form { "prompt", "inject" }.`))
  }
  const trimmed = text.replace(/^\ufeff/, '').trimStart()
  if (trimmed.startsWith('[')) {
    const list = parseJson(trimmed)
    if (!Array.isArray(list))
      diagnostics.push(problem(path, 1, 'The file is not a valid JSON list.'))
    else list.forEach((value: unknown, index) => add(value, undefined, `Entry ${index + 1}`))
    return { cases, diagnostics }
  }
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() !== '') add(parseJson(line), index + 1, 'The line')
  }
  return { cases, diagnostics }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function asCase(value: unknown): PromptCase | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const prompt: unknown = Reflect.get(value, 'prompt')
  const inject: unknown = Reflect.get(value, 'inject')
  if (typeof prompt !== 'string' || !Array.isArray(inject)) return undefined
  const paths = inject.filter((path) => typeof path === 'string')
  return paths.length === inject.length ? { prompt, inject: paths } : undefined
}

function problem(path: string, line: number | undefined, message: string): Diagnostic {
  return {
    code: 'prompt-case-invalid',
    severity: 'error',
    message,
    path,
    line,
    hint: 'Write { "prompt": "/deploy staging", "inject": ["references/staging.md"] }.',
  }
}
