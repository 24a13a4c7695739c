import type { Diagnostic } from '#core/errors'
import type { Answers } from '#view/answers'
import type { Failure } from '#view/questions'
import { largestQuestion } from '#view/shared-with-page'

export class AskError extends Error {
  readonly hint: string | undefined
  /** The error code of the program; `token` if this page has no access. */
  readonly code: string
  readonly diagnostics: readonly Diagnostic[]

  constructor(failure: Failure) {
    const { message, hint, code } = failure.error
    super(message)
    this.hint = hint
    this.code = code
    this.diagnostics = failure.diagnostics ?? []
  }
}

/** @throws {AskError} */
export async function ask<Name extends keyof Answers>(
  name: Name,
  question: Readonly<Record<string, unknown>> = {},
): Promise<Answers[Name]> {
  const response = await send(name, question)
  if (response.ok) {
    const answer: Answers[Name] | Failure = await response.json()
    if ('error' in answer) throw new AskError(answer)
    return answer
  }
  if (response.status === 401) {
    forgetToken()
    throw pageError('token', 'This address is no longer valid.', startAgain)
  }
  throw await failureOf(response)
}

const startAgain = 'Run skillrail view and open the address that it prints.'

function pageError(code: string, message: string, hint?: string): AskError {
  return new AskError({ error: { code, message, hint } })
}

async function send(name: string, question: object): Promise<Response> {
  const body = JSON.stringify(question)
  if (new TextEncoder().encode(body).length > largestQuestion) {
    throw pageError(
      'too-long',
      `This is too long: at most ${largestQuestion / 1024} KiB are looked at.`,
    )
  }
  try {
    return await fetch(`/api/${name}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${knownToken() ?? ''}`,
      },
      body,
    })
  } catch {
    throw pageError('ended', 'The program behind this page has ended.', startAgain)
  }
}

async function failureOf(response: Response): Promise<AskError> {
  try {
    const failure: Failure = await response.json()
    return new AskError(failure)
  } catch {
    return pageError('no-answer', `The program answered with HTTP ${response.status}.`)
  }
}

/** A key that lasts as long as the tab; no other origin can read it. */
const key = 'skillrail-token'

export function knownToken(): string | undefined {
  return sessionStorage.getItem(key) ?? undefined
}

function forgetToken(): void {
  sessionStorage.removeItem(key)
}

/** Exchanges the code in the address, which works once, for the token. */
export async function takeToken(): Promise<void> {
  const [, code, place = '/overview'] = /^#once-([0-9a-f]{64})(\/.*)?$/.exec(location.hash) ?? []
  if (code === undefined) return
  history.replaceState(null, '', `#${place}`)
  const response = await fetch('/enter', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  })
  if (!response.ok) return
  const answer: { token: string } = await response.json()
  sessionStorage.setItem(key, answer.token)
}
