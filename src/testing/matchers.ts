import type { Diagnostic } from '#core/errors'
import { isObject } from '#core/json'
import { formatAllowedTools } from '#skill/allowed-tools'
import type { Validation } from '#skill/validate'
import { type SkillInvocation, SkillTestHarness } from './harness.ts'

export interface MatcherResult {
  pass: boolean
  message: () => string
}

/** The matchers as `expect` offers them, for the declaration that a test setup makes. */
export interface SkillMatchers<Result = unknown> {
  /** Of a harness or a validation: no error. Warnings and advice do not count. */
  toBeValidSkill(): Result
  /** Of an invocation: the content contains the text, or matches the expression. */
  toInjectContent(expected: string | RegExp): Result
  /** Of an invocation: the tool, such as `Bash(git:*)`, needs no approval while the skill is active. */
  toPreApproveTool(tool: string): Result
  /** Of an invocation: a tool of that name, such as `greet.wave`, is offered. */
  toOfferTool(name: string): Result
  /** Of an invocation: the skill's own flags ruled it out, with that code where one is given. */
  toBeRefused(code?: string): Result
}

/** For `expect.extend(skillMatchers)`. They fail, with `not` too, for other kinds of values. */
export const skillMatchers: {
  [Name in keyof SkillMatchers]: (
    received: unknown,
    ...expected: Parameters<SkillMatchers[Name]>
  ) => MatcherResult
} = {
  toBeValidSkill(received) {
    const { valid, diagnostics } = validationOf(received)
    return answer(valid, 'the skill to be valid', diagnosticLines(diagnostics))
  },
  toInjectContent(received, expected) {
    const { content, ...invocation } = invocationOf(received, 'toInjectContent')
    const pass =
      typeof expected === 'string' ? content.includes(expected) : content.search(expected) >= 0 // unlike `test`, not changed by a `g` flag
    const shown = typeof expected === 'string' ? JSON.stringify(expected) : String(expected)
    const found = invocation.refusal === undefined ? content : refusalLine(invocation)
    return answer(pass, `the content to contain ${shown}`, found)
  },
  toPreApproveTool(received, tool) {
    const { effects } = invocationOf(received, 'toPreApproveTool')
    const tools = effects.preApproved.map((entry) => formatAllowedTools([entry]))
    return answer(tools.includes(tool), `${tool} to be pre-approved`, listLine(tools))
  },
  toOfferTool(received, name) {
    const names = invocationOf(received, 'toOfferTool').tools.map((tool) => tool.name)
    return answer(names.includes(name), `the tool ${name} to be offered`, listLine(names))
  },
  toBeRefused(received, code) {
    const invocation = invocationOf(received, 'toBeRefused')
    const { refusal } = invocation
    const pass = refusal !== undefined && (code === undefined || refusal.code === code)
    const expectation = `the invocation to be refused${code === undefined ? '' : ` with ${code}`}`
    return answer(pass, expectation, refusalLine(invocation))
  },
}

function answer(pass: boolean, expectation: string, found: string): MatcherResult {
  const message = `expected ${expectation}${pass ? ', and it was not to be so' : ''}\n\n${found}`
  return { pass, message: () => message }
}

function refusalLine({ refusal, source }: Pick<SkillInvocation, 'refusal' | 'source'>): string {
  return refusal === undefined
    ? `It was activated by ${source}.`
    : `It was refused: ${refusal.message} (${refusal.code})`
}

function listLine(names: readonly string[]): string {
  return names.length === 0 ? 'There are none.' : `There are: ${names.join(', ')}`
}

function diagnosticLines(diagnostics: readonly Diagnostic[]): string {
  if (diagnostics.length === 0) return 'Nothing was found.'
  return diagnostics
    .map(({ severity, line, message, code }) => {
      const place = line === undefined ? '' : `line ${line}: `
      return `${severity}: ${place}${message} [${code}]`
    })
    .join('\n')
}

function validationOf(received: unknown): Validation {
  if (received instanceof SkillTestHarness) return received.validation
  if (isValidation(received)) return received
  throw new TypeError('toBeValidSkill takes a SkillTestHarness or a validation')
}

function isValidation(value: unknown): value is Validation {
  return isObject(value) && 'valid' in value && Array.isArray(value['diagnostics'])
}

function invocationOf(received: unknown, matcher: string): SkillInvocation {
  if (isInvocation(received)) return received
  throw new TypeError(`${matcher} takes what invoke of a SkillTestHarness returned (await it)`)
}

function isInvocation(value: unknown): value is SkillInvocation {
  return (
    isObject(value) &&
    'refusal' in value &&
    'effects' in value &&
    typeof value['content'] === 'string'
  )
}
