import type { IncomingMessage } from 'node:http'
import { ancestryOfPeer } from '#core/agent-ancestry'
import { peersOf } from '#core/connection-peer'
import { objectOf } from '#core/json'
import { messageOf, SkillrailError, UsageError } from '#core/errors'
import { type LocalRoute, openLocalServer, pageRoute } from '#core/local-server'
import { aborted, type Runtime } from '#core/runtime'
import type { ProjectView } from './project-view.ts'
import {
  type Caller,
  type Failure,
  forPage,
  questionFields,
  type QuestionFields,
} from './questions.ts'
import { largestQuestion } from './shared-with-page.ts'

export interface ViewOptions {
  view: ProjectView
  /** The HTML, from {@link pageText}. */
  page: string
  runtime: Pick<Runtime, 'elapsed' | 'platform'>
  /** Called before each answer. If it throws, the error is the answer. */
  check?: (() => void) | undefined
  /** The place within the page that an address opens, such as `/runs/ID`; default: the overview. */
  place?: string | undefined
  /** Default: any free port. */
  port?: number | undefined
  /** How long a question may take to arrive; default 10 s. */
  arrivalMs?: number | undefined
  /** Called with the next address once {@link OpenedView.address} or the one after it was used. */
  onUsed?: ((next: string) => void) | undefined
  /** Called when an address that was used before is used again: another program may have been the first. */
  onUsedAgain?: (() => void) | undefined
  signal: AbortSignal
}

export interface OpenedView {
  port: number
  /** For a user. Works once: its fragment contains a code that the page exchanges for the token. */
  address: string
  /** The same, valid for a minute: for the arguments of a program, which other users can read. */
  addressToOpen: string
  ended: Promise<void>
}

/** Serves the view on 127.0.0.1 until the signal is aborted. */
export async function openView(options: ViewOptions): Promise<OpenedView> {
  const { view, page, runtime, check, signal, onUsed, place = '', arrivalMs = 10_000 } = options
  const { onUsedAgain } = options
  const token = process.getBuiltinModule('node:crypto').randomBytes(32).toString('hex')
  const entrance = openEntrance(token, () => runtime.elapsed(), onUsedAgain)
  const server = await openLocalServer({
    token,
    port: options.port,
    largestBody: largestQuestion,
    arrivalMs,
    routes: { ...viewRoutes(view, page, runtime, check), '/enter': entrance.route },
  })
  const addressWith = (code: string) => `http://127.0.0.1:${server.port}/#once-${code}${place}`
  const invite = () => addressWith(entrance.invite({ onUsed: onUsed && (() => onUsed(invite())) }))
  const ended = aborted(signal).then(() => {
    server.stop()
    server.destroy()
  })
  return {
    port: server.port,
    address: invite(),
    addressToOpen: addressWith(entrance.invite({ lifetimeMs: 60_000 })),
    ended,
  }
}

interface Invitation {
  /** Default: as long as the view. */
  lifetimeMs?: number | undefined
  onUsed?: (() => void) | undefined
}

/**
 * Exchanges a code for the token. Others can read arguments and the history, but a code works once.
 */
export function openEntrance(token: string, now: () => number, onUsedAgain?: () => void) {
  const { randomBytes, timingSafeEqual } = process.getBuiltinModule('node:crypto')
  const invited = new Map<string, { end: number; onUsed: (() => void) | undefined }>()
  const used = new Set<string>()
  const route: LocalRoute = {
    method: 'POST',
    isPublic: true,
    answer(body, response) {
      const received = Buffer.from(codeIn(body))
      const isReceived = (one: string) =>
        one.length === received.length && timingSafeEqual(received, Buffer.from(one))
      const code = [...invited.keys()].find(isReceived)
      const invitation = code === undefined ? undefined : invited.get(code)
      if (code !== undefined) invited.delete(code)
      const isGood = invitation !== undefined && now() < invitation.end
      response.writeHead(isGood ? 200 : 401, { 'content-type': 'application/json' })
      response.end(isGood ? JSON.stringify({ token }) : '{}')
      if (isGood) {
        used.add(code ?? '')
        invitation.onUsed?.()
      } else if ([...used].some(isReceived)) onUsedAgain?.()
    },
  }
  return {
    route,
    invite({ lifetimeMs = Infinity, onUsed }: Invitation): string {
      const code = randomBytes(32).toString('hex')
      invited.set(code, { end: now() + lifetimeMs, onUsed })
      return code
    },
  }
}

function codeIn(body: unknown) {
  const { code } = objectOf(body)
  return typeof code === 'string' ? code : ''
}

function viewRoutes(
  view: ProjectView,
  page: string,
  { platform }: Pick<Runtime, 'platform'>,
  check: ViewOptions['check'],
): Record<string, LocalRoute> {
  const answers = Object.entries(view).map(([name, answer]) => [
    `/api/${name}`,
    answerRoute((question, request) => {
      check?.()
      return answer(question, callerOf(request, platform))
    }),
  ])
  return { '/': pageRoute(page), ...Object.fromEntries(answers) }
}

/** The program at the other end of the connection. A program in between that says so hides it. */
function callerOf({ socket, headers }: IncomingMessage, platform: NodeJS.Platform): Caller {
  const { localPort = 0, remoteAddress = '', remotePort = 0 } = socket
  const connection = { localPort, remoteAddress, remotePort }
  const isForwarded = Object.keys(headers).some((name) => forwarding.test(name))
  return {
    ancestry: () =>
      isForwarded ? { kind: 'unknown' } : ancestryOfPeer(peersOf(connection, platform), platform),
  }
}

const forwarding = /^(?:via|forwarded|x-forwarded-.*|x-real-ip|proxy-.*)$/

function answerRoute(
  answerTo: (question: QuestionFields, request: IncomingMessage) => unknown,
): LocalRoute {
  return {
    method: 'POST',
    async answer(body, response, request) {
      const [status, value] = await answered(() => answerTo(questionFields(body), request))
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      response.end(JSON.stringify(forPage(value)))
    },
  }
}

/** An explained failure has status 200, because browsers log any other status as an error. */
async function answered(ask: () => unknown): Promise<[status: number, value: unknown]> {
  try {
    return [200, await ask()]
  } catch (error) {
    if (!(error instanceof SkillrailError)) {
      const failure: Failure = { error: { code: 'unexpected', message: messageOf(error) } }
      return [500, failure]
    }
    const { code, message, hint, diagnostics } = error
    const failure: Failure = { error: { code, message, hint }, diagnostics }
    return [error instanceof UsageError ? 400 : 200, failure]
  }
}
