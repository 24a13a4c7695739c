import { createRequire } from 'node:module'
import type * as Zod from 'zod'
import type { Diagnostic } from '../core/diagnostic.ts'
import { parseJson } from '../core/json.ts'

export interface PromptCase {
  prompt: string
  /** Paths as in the triggers, or `skill:path`; in any order. */
  inject: readonly string[]
}

/** Reads a JSON list of `{ "prompt": …, "inject": [PATH…] }`, or one such object a line. Never throws. */
export function readPromptCases(
  text: string,
  path: string,
): { cases: PromptCase[]; diagnostics: Diagnostic[] } {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  const schema = z.object({ prompt: z.string(), inject: z.array(z.string()) })
  const cases: PromptCase[] = []
  const diagnostics: Diagnostic[] = []
  const hint = 'Write { "prompt": "/deploy staging", "inject": ["references/staging.md"] }.'
  const report = (line: number | undefined, message: string): void => {
    const code = 'prompt-case-invalid'
    diagnostics.push({ code, severity: 'error', message, path, line, hint })
  }
  const add = (value: unknown, line: number | undefined, place: string): void => {
    const { data } = schema.safeParse(value)
    if (data !== undefined) cases.push(data)
    else report(line, `${place} is not of the form { "prompt", "inject" }.`)
  }
  const trimmed = text.replace(/^\ufeff/, '').trimStart()
  if (trimmed.startsWith('[')) {
    const list = parseJson(trimmed)
    if (!Array.isArray(list)) report(1, 'The file is not a valid JSON list.')
    else for (const [index, value] of list.entries()) add(value, undefined, `Entry ${index + 1}`)
    return { cases, diagnostics }
  }
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() !== '') add(parseJson(line), index + 1, 'The line')
  }
  return { cases, diagnostics }
}
