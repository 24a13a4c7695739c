import type { IncomingMessage } from 'node:http'
import { openInChromium } from './chromium.ts'
import { hostilePage } from './hostile-page.ts'
import { listenOnLoopback } from './loopback.ts'

/** A server that is attacked; `path` is where its data are. */
export interface AttackedServer {
  port: number
  token: string
  path: string
  stop(): unknown
}

/** Starts one, which notes the path of each request that it carries out. */
export type Target = (note: (path: string) => void) => Promise<AttackedServer>

export interface Outcome {
  /** The text that the page could read, by attempt. */
  got: Record<string, string>
  /** Paths of the requests that were carried out. */
  carriedOut: readonly string[]
}

/** The answers that a page of another origin gets from a server; `name` is its name for this machine. */
export async function attack(target: Target, name: string): Promise<Outcome> {
  const carriedOut: string[] = []
  const { port, token, path, stop } = await target((carried) => carriedOut.push(carried))
  const reported = later<Record<string, string>>()
  const page = hostilePage({ target: `http://${name}:${port}`, token, path })
  const pageServer = await listenOnLoopback((request, response) => {
    if (request.url !== '/report') {
      response.setHeader('content-type', 'text/html').end(page)
      return
    }
    response.end()
    void readText(request).then((text) => reported.resolve(JSON.parse(text)))
  })
  try {
    const address = pageServer.url.replace('127.0.0.1', name)
    await openInChromium(address, { until: reported.promise, names: ['rebound.example'] })
    return { got: await reported.promise, carriedOut }
  } finally {
    await stop()
    await pageServer.stop()
  }
}

/** The attempts that came to something. */
export function gained({ got }: Outcome): string[] {
  return Object.keys(got).filter((attempt) => got[attempt] !== '')
}

/** A promise that somebody else keeps. */
export function later<T>(): { promise: Promise<T>; resolve(value: T): void } {
  const kept: ((value: T) => void)[] = []
  const promise = new Promise<T>((resolve) => kept.push(resolve))
  return { promise, resolve: (value) => kept[0]?.(value) }
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
