import { idleTimer, openLocalServer, type Runtime } from '../base/index.ts'
import { openEntrance } from './entrance.ts'
import { largestQuestion } from './largest-question.ts'
import { viewRoutes } from './view-routes.ts'
import type { ViewWorld } from './world.ts'

export interface ViewOptions {
  world: ViewWorld
  /** The HTML, from {@link pageText}. */
  page: string
  runtime: Pick<Runtime, 'elapsed'>
  /** Default: any that is free. */
  port?: number | undefined
  /** How long a question may take to arrive; default 10 s. */
  arrivalMs?: number | undefined
  /** Ends by itself after this long without a question; 0: never. */
  idleMs: number
  /** Called with the next address once {@link OpenedView.address} or the one after it was used. */
  onUsed?: ((next: string) => void) | undefined
  /** Ends it. */
  signal: AbortSignal
}

export interface OpenedView {
  port: number
  /**
   * For a person. It works once, since browsers keep addresses in their history: in its fragment, which
   * no browser sends anywhere, is a code that the page gets the token for.
   */
  address: string
  /** The same for a minute alone: for the arguments of a program, which others can read. */
  addressToOpen: string
  /** Resolves when it has ended, with the reason. */
  ended: Promise<'stopped' | 'idle'>
}

/** Serves the view on 127.0.0.1 until it is ended. It answers questions, and changes nothing. */
export async function openView(options: ViewOptions): Promise<OpenedView> {
  const { world, page, runtime, idleMs, signal, onUsed, arrivalMs = 10_000 } = options
  const token = process.getBuiltinModule('node:crypto').randomBytes(32).toString('hex')
  const entrance = openEntrance(token, () => runtime.elapsed())
  const stop = new AbortController()
  const ends = AbortSignal.any([signal, stop.signal])
  const idle = idleTimer(idleMs, () => stop.abort('idle'))
  try {
    const server = await openLocalServer({
      token,
      port: options.port,
      largestBody: largestQuestion,
      arrivalMs,
      routes: { ...viewRoutes(world, page), '/enter': entrance.route },
      onRequest: idle.busy,
    })
    const addressWith = (code: string): string => `http://127.0.0.1:${server.port}/#once-${code}`
    const invite = (): string =>
      addressWith(entrance.invite({ onUsed: onUsed && (() => onUsed(invite())) }))
    const ended = aborted(ends).then((): 'stopped' | 'idle' => {
      idle.end()
      server.stop()
      server.destroy()
      return stop.signal.reason === 'idle' ? 'idle' : 'stopped'
    })
    return {
      port: server.port,
      address: invite(),
      addressToOpen: addressWith(entrance.invite({ lifetimeMs: 60_000 })),
      ended,
    }
  } catch (error) {
    idle.end()
    throw error
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
