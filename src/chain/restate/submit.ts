import { setTimeout as sleep } from 'node:timers/promises'
import { isObject } from '../../core/json.ts'
import { ChainError } from '../errors.ts'
import { ask, refusal, RestateServerError, type ServerAddress } from './client.ts'
import { handlerNames, type RunAnswer, type RunRequest, serviceName } from './protocol.ts'

export interface SubmittedRun {
  runId: string
  part: number
}

/**
 * Hands a run to the server, which executes it independently of this process. Submitting it again
 * changes nothing. Returns the ID of the invocation.
 */
export async function submitRun(
  address: ServerAddress,
  request: RunRequest,
  part: number,
): Promise<string> {
  const answer = await ask(address, 'ingress', `/${serviceName}/${handlerNames.run}/send`, {
    method: 'POST',
    body: request,
    headers: { 'idempotency-key': keyOf({ runId: request.runId, part }) },
  })
  const { status, body } = answer
  if (status === 404) {
    throw new RestateServerError({
      code: 'restate-no-worker',
      message: `no Skillrail worker is registered at ${address.url}`,
      hint: 'Start one: skillrail worker --register http://HOST:PORT',
    })
  }
  if (status >= 300 || !isObject(body) || typeof body['invocationId'] !== 'string') {
    throw refusal('accept the run', answer)
  }
  return body['invocationId']
}

export const absenceMs = 120_000

/** Time limit of one request, whatever stands between us and the server. */
export const attachMs = 60_000

/** Waits for the end of a run, also across a restart of the server. */
export async function awaitRun(
  address: ServerAddress,
  run: SubmittedRun,
  planDigest: string,
  signal?: AbortSignal,
): Promise<RunAnswer> {
  let awaySince: number | undefined
  for (;;) {
    const once = AbortSignal.timeout(attachMs)
    const scope = signal === undefined ? once : AbortSignal.any([signal, once])
    try {
      const answer = await ask(address, 'ingress', placeOf(run, 'attach'), { signal: scope })
      awaySince = undefined
      if (answer.status === 200) return answerOf(answer.body, run, planDigest)
      if (answer.status < 500 && answer.status !== 408) throw refusal('finish the run', answer)
      if (isVerdict(answer.body)) throw refusal('finish the run', answer)
    } catch (error) {
      if (signal?.aborted === true) throw error
      if (error instanceof RestateServerError) {
        if (error.code !== 'restate-away') throw error
        awaySince ??= performance.now()
        if (performance.now() - awaySince > absenceMs) throw error
      } else if (!once.aborted) throw error
    }
    await sleep(200)
  }
}

/** Where a run stands now: its answer, `running`, or `unknown` to the server. */
export async function lookAtRun(
  address: ServerAddress,
  run: SubmittedRun,
  planDigest: string,
): Promise<RunAnswer | 'running' | 'unknown'> {
  const signal = AbortSignal.timeout(5000)
  const answer = await ask(address, 'ingress', placeOf(run, 'output'), { signal })
  if (answer.status === 200) return answerOf(answer.body, run, planDigest)
  if (answer.status === 404) return 'unknown'
  if (answer.status === 470) return 'running'
  throw refusal('report the status of the run', answer)
}

export async function cancelInvocation(
  address: ServerAddress,
  invocationId: string,
): Promise<void> {
  const answer = await ask(address, 'admin', `/invocations/${invocationId}/cancel`, {
    method: 'PATCH',
  })
  if (answer.status >= 300) throw refusal('cancel the run', answer)
}

export function keyOf({ runId, part }: SubmittedRun): string {
  return part === 1 ? runId : `${runId}.${part}`
}

export function placeOf(run: SubmittedRun, what: 'attach' | 'output'): string {
  return `/restate/invocation/${serviceName}/${handlerNames.run}/${encodeURIComponent(keyOf(run))}/${what}`
}

export function answerOf(body: unknown, { runId }: SubmittedRun, planDigest: string): RunAnswer {
  if (!isAnswer(body)) throw refusal('return a run', { status: 200, body })
  if (body.planDigest === planDigest) return body
  throw new ChainError({
    code: 'run-id-taken',
    message: `the server has another run under the id ${runId}: its plan differs from this one`,
    hint: 'Run IDs are unique; do not use one for two plans.',
  })
}

export function isAnswer(body: unknown): body is RunAnswer {
  return isObject(body) && typeof body['planDigest'] === 'string' && isObject(body['result'])
}

/** An invocation that failed for good is an error with a code of its own. */
export function isVerdict(body: unknown): boolean {
  return isObject(body) && typeof body['code'] === 'number' && typeof body['message'] === 'string'
}
