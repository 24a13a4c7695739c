import { createRequire } from 'node:module'
import type * as Jsonc from 'jsonc-parser'
import type * as Zod from 'zod'
import type { Diagnostic } from '#core/errors'
import { isList, objectOf, parseJson } from '#core/json'
import { safeLine, withoutMark } from '#core/text'
import { zod } from '#core/zod'
import { matchTriggers } from './examples.ts'
import { planInjection } from './inject.ts'
import type { TriggerSkill } from './match.ts'

export interface PromptCase {
  prompt: string
  /**
   * Paths as in the triggers, or `skill:path`, in any order; or a boolean: whether anything is
   * injected.
   */
  inject: string[] | boolean
}

export const maxPromptBytes = 16 * 1024 * 1024

const hint = 'Write { "prompt": "/deploy staging", "inject": ["references/staging.md"] }.'

export interface PromptCasesReading {
  cases: PromptCase[]
  diagnostics: Diagnostic[]
}

/**
 * Reads a list of cases, or one case per line: `{ "prompt", "inject" }` or `{ "query", "should_trigger" }`. Also
 * reads such a list in `{ "queries": [] }`, and `{ "evals": [{ "prompt" }] }`, in which every prompt is meant for the
 * skill. Never throws.
 */
export function readPromptCases(text: string, path: string): PromptCasesReading {
  const schema = caseSchema()
  const cases: PromptCase[] = []
  const diagnostics: Diagnostic[] = []
  const report = (line: number | undefined, message: string) => {
    const code = 'prompt-case-invalid'
    diagnostics.push({ code, severity: 'error', message, path, line, hint })
  }
  const add = (value: unknown, line: number | undefined, place: string) => {
    const { data } = schema.safeParse(value)
    if (data) cases.push(data)
    else report(line, `${place} is not of the form { "prompt", "inject" }.`)
  }
  const trimmed = withoutMark(text).trim()
  const whole = parseJson(trimmed)
  const fields = objectOf(whole)
  const key = ['evals', 'queries'].find((name) => fields[name] !== undefined)
  const entries = key === undefined ? whole : fields[key]
  const firstLine = trimmed.split('\n', 1)[0] ?? ''
  if (key !== undefined && !isList(entries)) report(1, `${key} is not a list.`)
  else if (isList(entries)) {
    const lines = linesOf(text, key).entries
    for (const [index, entry] of entries.entries()) {
      const value = key === 'evals' ? { inject: true, ...objectOf(entry) } : entry
      add(value, lines[index], `Entry ${index + 1}`)
    }
  } else if (/^[[{]/.test(trimmed) && parseJson(firstLine) === undefined) {
    report(linesOf(text).error, 'The file is not valid JSON.')
  } else {
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() !== '') add(parseJson(line), index + 1, 'The line')
    }
  }
  if (cases.length + diagnostics.length === 0) report(1, 'The file has no case.')
  return { cases, diagnostics }
}

function linesOf(text: string, key?: string): { entries: number[]; error: number } {
  const jsonc: typeof Jsonc = createRequire(import.meta.url)('jsonc-parser')
  const errors: Jsonc.ParseError[] = []
  const root = jsonc.parseTree(text, errors)
  const list = root && key !== undefined ? jsonc.findNodeAtLocation(root, [key]) : root
  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
  const entries = (list?.children ?? []).map(({ offset }) => lineAt(offset))
  return { entries, error: lineAt(errors[0]?.offset ?? 0) }
}

function caseSchema(): Zod.ZodType<PromptCase> {
  const z = zod()
  const inject = z.union([z.array(z.string()), z.boolean()])
  // An empty prompt matches nothing.
  const prompt = z.string().regex(/\S/)
  const query = z.object({ query: prompt, should_trigger: z.boolean() })
  return z.union([
    z.object({ prompt, inject }),
    query.transform((one) => ({ prompt: one.query, inject: one.should_trigger })),
  ])
}

export interface CaseVerdict {
  prompt: string
  ok: boolean
  expected: PromptCase['inject']
  /** Paths of references, as `skill:path` if several skills compete. */
  injected: readonly string[]
  /** References of other skills that it injects too, if one skill is judged. A prompt meant for it is wrong then. */
  foreign?: readonly string[] | undefined
}

/** Compares the references that a prompt injects with the case. @param only judges one skill among the others. */
export function judgeCase(
  { prompt, inject }: PromptCase,
  skills: readonly TriggerSkill[],
  only?: string,
): CaseVerdict {
  const all = planInjection(matchTriggers(prompt, skills).matches).injected
  const injected = all.filter(({ skill }) => only === undefined || skill === only)
  const foreign = all.flatMap(({ skill, path }) =>
    only === undefined || skill === only ? [] : [`${skill}:${path}`],
  )
  const others = foreign.length > 0 ? { foreign } : {}
  const isMeant = typeof inject === 'boolean' ? inject : inject.length > 0
  const isOnlyItsOwn = !isMeant || foreign.length === 0
  const names = injected.map(({ skill, path }) => [path, `${skill}:${path}`])
  const isNamed = skills.length > 1 && only === undefined
  const paths = injected.map(({ skill, path }) => (isNamed ? `${skill}:${path}` : path))
  if (typeof inject === 'boolean') {
    const isRight = paths.length > 0 === inject
    return { prompt, ok: isRight && isOnlyItsOwn, expected: inject, injected: paths, ...others }
  }
  const isMet = names.every((spellings) => spellings.some((name) => inject.includes(name)))
  const isComplete = inject.every((wanted) => names.some((spellings) => spellings.includes(wanted)))
  const ok = isMet && isComplete && isOnlyItsOwn
  return { prompt, ok, expected: inject, injected: paths, ...others }
}

export interface Measurement {
  /** Share of the fired prompts that were meant to fire. */
  precision: Share
  /** Share of the prompts meant to fire that fired. */
  recall: Share
}

/** A share from 0 to 1, with its bounds at 95 % confidence. */
export interface Share {
  share: number
  low: number
  high: number
  total: number
}

export function measure(verdicts: readonly CaseVerdict[]): Measurement {
  const isMeant = ({ expected }: CaseVerdict) =>
    typeof expected === 'boolean' ? expected : expected.length > 0
  const fired = verdicts.filter(
    (one) => one.injected.length > 0 || (isMeant(one) && one.foreign !== undefined),
  )
  const meant = verdicts.filter(isMeant)
  const right = meant.filter(({ ok }) => ok).length
  return { precision: shareOf(right, fired.length), recall: shareOf(right, meant.length) }
}

export function caseLines(verdicts: readonly CaseVerdict[]): string[] {
  const list = (paths: readonly string[] | boolean): string => {
    if (typeof paths === 'boolean') return paths ? 'a reference' : 'nothing'
    return paths.join(', ') || 'nothing'
  }
  return verdicts.flatMap(({ prompt, ok, expected, injected, foreign }) => {
    const head = safeLine(`${ok ? 'OK' : 'FAIL'} ${prompt.slice(0, 100)} -> ${list(injected)}`)
    const others = foreign ? [safeLine(`Of other skills: ${list(foreign)}`)] : []
    return ok ? [head, ...others] : [head, ...others, safeLine(`Expected: ${list(expected)}`)]
  })
}

export function measureLine({ precision, recall }: Measurement): string {
  const percent = ({ share, low, high }: Share) =>
    `${(100 * share).toFixed(1)} % (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`
  const first = precision.total === 0 ? 'unknown, as nothing fired' : percent(precision)
  const second = recall.total === 0 ? 'unknown, as no prompt is meant to fire' : percent(recall)
  return `precision ${first}, recall ${second}, with 95 % confidence`
}

/** Returns a share of cases with its bounds at 95 % confidence (Wilson). */
export function shareOf(count: number, total: number): Share {
  if (total === 0) return { share: 0, low: 0, high: 1, total }
  const z = 1.96
  const share = count / total
  const middle = (share + z ** 2 / (2 * total)) / (1 + z ** 2 / total)
  const spread =
    (z / (1 + z ** 2 / total)) *
    Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2))
  const rounded = (value: number) => Math.round(1000 * Math.min(1, Math.max(0, value))) / 1000
  const [low, high] = [rounded(middle - spread), rounded(middle + spread)]
  return { share: rounded(share), low, high, total }
}
