import { createRequire } from 'node:module'
import type * as Zod from 'zod'
import type { Diagnostic } from '../core/diagnostic.ts'
import { isList, objectOf, parseJson } from '../core/json.ts'

export interface PromptCase {
  prompt: string
  /** Paths as in the triggers, or `skill:path`, in any order; or only whether anything is injected. */
  inject: readonly string[] | boolean
}

const hint = 'Write { "prompt": "/deploy staging", "inject": ["references/staging.md"] }.'

/**
 * Reads a list of cases, or one a line: `{ "prompt", "inject" }`, `{ "query", "should_trigger" }`, or
 * `{ "evals": [{ "prompt" }] }`, all of whose prompts are meant for the skill. Never throws.
 */
export function readPromptCases(
  text: string,
  path: string,
): { cases: PromptCase[]; diagnostics: Diagnostic[] } {
  const schema = caseSchema()
  const cases: PromptCase[] = []
  const diagnostics: Diagnostic[] = []
  const report = (line: number | undefined, message: string): void => {
    const code = 'prompt-case-invalid'
    diagnostics.push({ code, severity: 'error', message, path, line, hint })
  }
  const add = (value: unknown, line: number | undefined, place: string): void => {
    const { data } = schema.safeParse(value)
    if (data !== undefined) cases.push(data)
    else report(line, `${place} is not of the form { "prompt", "inject" }.`)
  }
  const trimmed = text.replace(/^\ufeff/, '').trim()
  const whole = parseJson(trimmed)
  const { evals } = objectOf(whole)
  const list = isList(evals) ? evals.map((one) => ({ inject: true, ...objectOf(one) })) : whole
  if (isList(list)) {
    for (const [index, value] of list.entries()) add(value, undefined, `Entry ${index + 1}`)
  } else if (trimmed.startsWith('[')) report(1, 'The file is not a valid JSON list.')
  else {
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() !== '') add(parseJson(line), index + 1, 'The line')
    }
  }
  if (cases.length + diagnostics.length === 0) report(1, 'The file has no case.')
  return { cases, diagnostics }
}

function caseSchema() {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  const inject = z.union([z.array(z.string()), z.boolean()])
  const query = z.object({ query: z.string(), should_trigger: z.boolean() })
  return z.union([
    z.object({ prompt: z.string(), inject }),
    query.transform((one) => ({ prompt: one.query, inject: one.should_trigger })),
  ])
}

/** A share of cases, with the bounds between which it lies with 95 % confidence (Wilson). */
export function shareOf(count: number, total: number) {
  const z = 1.96
  const share = total === 0 ? 0 : count / total
  const middle = (share + z ** 2 / (2 * total)) / (1 + z ** 2 / total)
  const spread =
    (z / (1 + z ** 2 / total)) *
    Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2))
  const rounded = (value: number): number =>
    Math.round(1000 * Math.min(1, Math.max(0, value))) / 1000
  if (total === 0) return { share: 0, low: 0, high: 1, total }
  return {
    share: rounded(share),
    low: rounded(middle - spread),
    high: rounded(middle + spread),
    total,
  }
}
