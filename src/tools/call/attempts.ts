import { setTimeout as wait } from 'node:timers/promises'
import { exitCode } from '#core/errors'
import { plainText } from '#core/json'
import { ToolCallError } from '#tools/errors'
import type { CallFailure, ToolOutcome } from '#tools/model'
import { outcomeText } from './content.ts'

interface AttemptRules extends Pick<RetrySettings, 'waitsMs'> {
  replaySafe: boolean
  signal: AbortSignal
  onRetry: (attempt: number, failure: AttemptFailure, waitMs: number) => void
}

export type AttemptsResult =
  | { ok: true; outcome: ToolOutcome; failures: readonly AttemptFailure[] }
  | {
      ok: false
      outcome?: ToolOutcome | undefined
      failures: readonly AttemptFailure[]
      last: AttemptFailure
      because: Exclude<RetryDecision, number>
    }

export async function attemptCall(
  call: () => Promise<ToolOutcome>,
  rules: AttemptRules,
): Promise<AttemptsResult> {
  const { signal, onRetry } = rules
  const failures: AttemptFailure[] = []
  for (;;) {
    if (signal.aborted) {
      const message = 'the call was cancelled'
      throw new ToolCallError({ kind: 'cancelled', message, delivered: 'no' })
    }
    let outcome: ToolOutcome | undefined
    let failure: AttemptFailure | undefined
    try {
      outcome = await call()
      failure = classifyOutcome(outcome)
      if (!failure) return { ok: true, outcome, failures }
    } catch (error) {
      failure = classifyError(error)
      if (failure.kind === 'cancelled' || signal.aborted) throw error
    }
    failures.push(failure)
    const decision = decideRetry({ ...failure, ...rules, attempt: failures.length })
    if (typeof decision === 'string') {
      return { ok: false, outcome, failures, last: failure, because: decision }
    }
    onRetry(failures.length, failure, decision)
    // Rejects when the call is cancelled, which the next attempt says.
    await wait(decision, undefined, { signal }).catch(() => undefined)
  }
}

export type FailureKind =
  | CallFailure['kind']
  | 'permission-denied'
  | 'rate-limited'
  | 'element-missing'
  | 'not-found'
  /** The answer came and is larger than what is read. */
  | 'too-large'
  | 'execution'

export interface RetrySettings {
  /** Milliseconds before the second, third … attempt: their number bounds the attempts. */
  waitsMs: readonly number[]
  replaySafe: readonly string[]
  /** Tools that are never repeated; takes precedence. */
  neverReplay: readonly string[]
}

/** Milliseconds to wait. `unsafe`: the call may have had its effect, and could have it again. */
type RetryDecision = number | 'pointless' | 'unsafe' | 'exhausted'

/** These end the same way however often they are tried. */
const pointless: ReadonlySet<FailureKind> = new Set([
  'tool-not-found',
  'invalid-parameters',
  'input-required',
  'permission-denied',
  'not-found',
  'too-large',
  'cancelled',
])

/** A call that may have reached the server is made again only when the tool may be repeated. */
export function decideRetry({
  kind,
  delivered,
  replaySafe,
  waitsMs,
  attempt,
}: Pick<AttemptFailure & AttemptRules, 'kind' | 'delivered' | 'replaySafe' | 'waitsMs'> & {
  attempt: number
}): RetryDecision {
  if (pointless.has(kind)) return 'pointless'
  if (delivered !== 'no' && !replaySafe) return 'unsafe'
  return waitsMs[attempt - 1] ?? 'exhausted'
}

interface AttemptFailure extends Pick<CallFailure, 'message' | 'delivered'> {
  kind: FailureKind
}

/** What servers say in an error, in order (MCP, SEP-1303); only its beginning is read. */
const signs: readonly (readonly [FailureKind, RegExp])[] = [
  ['too-large', /\bbytes is over the limit of \d+$/],
  [
    'invalid-parameters',
    /\binput validation error\b|\binvalid (?:arguments|params|parameters|input)\b/i,
  ],
  [
    'tool-not-found',
    /\b(?:unknown tool|tool \S+ (?:was )?not found|no such tool|tool not found)\b/i,
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

/** The failure that an answer tells, with or without `isError`; undefined for a good one. */
export function classifyOutcome(outcome: ToolOutcome): AttemptFailure | undefined {
  if (!outcome.isError && !tellsFailure(outcome)) return undefined
  const { structured = 'the tool reported an error and did not say which' } = outcome
  const message = outcomeText(outcome).trim() || plainText(structured)
  return { kind: kindOf(message) ?? 'execution', message, delivered: 'yes' }
}

/** The failure of a rejected call. Rethrows a refusal, and what is no {@link ToolCallError}. */
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

/** Failures without `isError`: the wording of a known server up to the cause, at the beginning. */
const wordings: readonly RegExp[] = [
  // chrome-devtools-mcp: navigate_page
  /^Unable to (?:navigate(?: back| forward)? in|reload) the selected page: /,
  // chrome-devtools-mcp: traces and screencasts
  /^Error: (?:a|no active) (?:performance trace|screencast)(?: recording)? (?:is already|to stop)/,
  // chrome-devtools-mcp: comments
  /^Failed to (?:open DevTools: |resolve comment thread ")/,
  // context7
  /^Error (?:fetching library context\. Please try again later\.|searching libraries: )/,
  // Playwright
  /^### Error\n/,
  // Puppeteer and Playwright, in the words of a browser: `page.goto: net::ERR_… at http://…`
  /^(?:Error: )?(?:[\w.]+: )?(?:net::ERR_[A-Z_]+|NS_ERROR_[A-Z_]+) at \S+\s*(?:\n|$)/,
]

const heading = /^# \w+ response\n+/

export function tellsFailure({ content }: ToolOutcome): boolean {
  const [first] = content
  if (first?.type !== 'text') return false
  const text = first.text.slice(0, 3000).trimStart().replace(heading, '')
  return wordings.some((wording) => wording.test(text))
}
