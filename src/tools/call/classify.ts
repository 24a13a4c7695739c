import { exitCode } from '../../base/index.ts'
import { ToolCallError } from '../errors.ts'
import type { CallFailure, ToolOutcome } from '../model.ts'
import type { FailureKind } from './retry-policy.ts'
import { tellsFailure } from './told-failure.ts'

/** One failed attempt, whichever way the server said so. */
export interface AttemptFailure {
  kind: FailureKind
  message: string
  delivered: CallFailure['delivered']
}

/**
 * What servers say in an answer with `isError` (MCP, SEP-1303: input errors are such answers too) or
 * in a protocol error, in order; only the beginning of the text is read.
 */
const signs: readonly (readonly [FailureKind, RegExp])[] = [
  ['too-large', /\bbytes is over the limit of \d+$/],
  [
    'invalid-parameters',
    /\binput validation error\b|\binvalid (?:arguments|params|parameters|input)\b/i,
  ],
  [
    'tool-not-found',
    /\b(?:unknown tool|tool \S{1,200} (?:was )?not found|no such tool|tool not found)\b/i,
  ],
  [
    'element-missing',
    /\b(?:element|node|uid|ref)\b[^\n]{0,80}?\b(?:not found|no longer exists|is stale|does not exist)\b|\bno snapshot found\b|\bstale element\b/i,
  ],
  ['rate-limited', /\brate.?limit|\btoo many requests\b|\b429\b/i],
  [
    'permission-denied',
    /\b(?:permission|access) (?:was )?denied\b|\bunauthori[sz]ed\b|\bforbidden\b|\bauthentication (?:failed|required)\b|\bbad credentials\b|\b(?:EACCES|EPERM)\b|\b40[13]\b/i,
  ],
  ['invalid-parameters', /\bmissing (?:required )?(?:argument|parameter|field)s?\b/i],
  ['not-found', /\b(?:404|ENOENT)\b|\bnot found\b/i],
]

/**
 * The failure of an answer with `isError`, or with a text that says so; undefined for a good one. It
 * came back, so the call was delivered.
 */
export function classifyOutcome(outcome: ToolOutcome): AttemptFailure | undefined {
  if (!outcome.isError && !tellsFailure(outcome)) return undefined
  const message = errorText(outcome)
  return { kind: kindOf(message) ?? 'execution', message, delivered: 'yes' }
}

/**
 * A call that was rejected. Thrown again: what is no {@link ToolCallError}, and a refusal, which no
 * attempt changes.
 */
export function classifyError(error: unknown): AttemptFailure {
  if (!(error instanceof ToolCallError) || error.exitCode === exitCode.refused) throw error
  const { kind, message, delivered } = error.failure
  const finer = kind === 'protocol' ? kindOf(message) : undefined
  // A server that refuses the name or the arguments has not acted.
  const refused = finer === 'tool-not-found' || finer === 'invalid-parameters'
  return { kind: finer ?? kind, message, delivered: refused ? 'no' : delivered }
}

function kindOf(message: string): FailureKind | undefined {
  const beginning = message.slice(0, 500)
  return signs.find(([, sign]) => sign.test(beginning))?.[0]
}

function errorText(outcome: ToolOutcome): string {
  const texts = outcome.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  const text = texts.join('\n').trim()
  if (text !== '') return text
  return outcome.structured === undefined
    ? 'the tool reported an error and did not say which'
    : JSON.stringify(outcome.structured)
}
