import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../base/index.ts'
import { ask, requireVersion, RestateServerError } from '../chain/restate/index.ts'
import { serverAddress } from './_restate-address.ts'
import type { CommandContext } from './command.ts'

/** How long a server that starts beside the worker is waited for. */
const patienceMs = 30_000

/** Tells the server where its workers are; the address is that of a balancer when there is one. */
export async function registerWorkers(
  context: CommandContext,
  uri: string,
  adminUrl: string | undefined,
): Promise<void> {
  const address = serverAddress(context, { adminUrl })
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      await requireVersion(address)
      const body = { uri, force: false }
      const answer = await ask(address, 'admin', '/deployments', { method: 'POST', body })
      if (answer.status < 300) {
        context.output.note(`The server at ${address.adminUrl} knows its workers at ${uri}.`)
        return
      }
      if (answer.status < 500 || performance.now() > deadline) throw notRegistered(uri, answer)
    } catch (error) {
      if (!(error instanceof RestateServerError) || error.code !== 'restate-away') throw error
      if (performance.now() > deadline) throw error
      context.output.detail(messageOf(error))
    }
    await sleep(500, undefined, { signal: context.signal })
  }
}

function notRegistered(
  uri: string,
  { status, body }: { status: number; body: unknown },
): RestateServerError {
  const told =
    typeof body === 'object' && body !== null && 'message' in body ? String(body.message) : ''
  return new RestateServerError({
    code: 'restate-not-registered',
    message: `the server did not register ${uri} (HTTP ${status}): ${told}`,
    hint: 'A changed service needs a new address; docs/scale.md says how a fleet is upgraded.',
  })
}
