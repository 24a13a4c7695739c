import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openLocalServer, pageRoute } from '../../src/core/local-server.ts'
import { renderReport } from '../../src/chain/report.ts'
import { attack, gained, later, type Target } from './attack.ts'
import { openInChromium } from './chromium.ts'
import { hostileResult } from './hostile-result.ts'
import { hostileTexts } from './hostile-texts.ts'
import { listenOnLoopback } from './loopback.ts'
import { isMissing, skipReason } from './needs.ts'

const token = 'f'.repeat(64)

/** A server as this project makes them. */
const ours: Target = async (note) => {
  const server = await openLocalServer({
    token,
    routes: {
      '/': pageRoute('<!doctype html><p>page</p>'),
      '/data': {
        method: 'POST',
        answer(_body, response) {
          note('/data')
          response.end('secret')
        },
      },
    },
  })
  return { port: server.port, token, path: '/data', stop: server.destroy }
}

/** A server that trusts every caller, which shows the result of the attempts without protection. */
const careless: Target = async (note) => {
  const server = createServer((request, response) => {
    note(request.url ?? '')
    response.setHeader('access-control-allow-origin', request.headers.origin ?? '*')
    response.setHeader('access-control-allow-headers', 'authorization, content-type')
    if (request.url === '/script') response.end('globalThis.stolen = "secret"')
    else if (request.url === '/style') response.setHeader('content-type', 'text/css').end('p{}')
    else if (request.url === '/image') image(response)
    else if (request.url === '/events') events(response)
    else response.end('secret')
  })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  return { port, token, path: '/data', stop: () => server.closeAllConnections() }
}

function image(response: ServerResponse): void {
  response.setHeader('content-type', 'image/svg+xml')
  response.end('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>')
}

function events(response: ServerResponse): void {
  response.setHeader('content-type', 'text/event-stream').write('data: secret\n\n')
}

describe.skipIf(isMissing('chromium'))(
  `a local server and web pages in a browser${skipReason('chromium')}`,
  () => {
    it('refuses a page at another port, which a careless server answers almost completely', async () => {
      expect(gained(await attack(careless, '127.0.0.1'))).toEqual(
        expect.arrayContaining(['fetch', 'fetch with the token', 'script', 'image', 'events']),
      )
      const outcome = await attack(ours, '127.0.0.1')
      expect(gained(outcome)).toEqual([])
      expect(Object.keys(outcome.got)).toHaveLength(13)
      expect(outcome.carriedOut).toEqual([])
    })

    it('refuses a page whose name was bound to this machine', async () => {
      expect(gained(await attack(careless, 'rebound.example'))).toContain('fetch')
      const outcome = await attack(ours, 'rebound.example')
      expect(gained(outcome)).toEqual([])
      expect(outcome.carriedOut).toEqual([])
    })

    it('accepts its own page, whose markup comes from no text', async () => {
      const reported = later<unknown>()
      const server = await openLocalServer({
        token,
        routes: {
          '/': pageRoute(ownPage),
          '/data': { method: 'POST', answer: (_body, response) => void response.end(hostileText) },
          '/report': {
            method: 'POST',
            answer(body, response) {
              reported.resolve(body)
              response.end()
            },
          },
        },
      })
      try {
        const address = `http://127.0.0.1:${server.port}/#${token}`
        await openInChromium(address, { until: reported.promise })
        expect(await reported.promise).toEqual({
          text: hostileText,
          asMarkup: 'TypeError',
          added: 'not run',
          elsewhere: 'TypeError',
        })
      } finally {
        server.destroy()
      }
    })
  },
)

const hostileText =
  '<img src=x onerror="globalThis.ran = true"><script>globalThis.ran = true</script>'

const ownPage = `<!doctype html><title>Own</title><p></p><script>
const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + location.hash.slice(1) }
const ask = (path, body) => fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
const failure = async (work) => { try { await work() } catch (error) { return error.name } }
const place = document.querySelector('p')
ask('/data', {}).then((answer) => answer.text()).then(async (text) => {
  place.textContent = text
  const asMarkup = await failure(() => { place.innerHTML = text })
  const elsewhere = await failure(() => fetch('https://elsewhere.example/'))
  await failure(() => place.setAttribute('onclick', 'globalThis.ran = true'))
  place.click()
  const added = globalThis.ran ? 'run' : 'not run'
  await ask('/report', { text: place.textContent, asMarkup, added, elsewhere })
})
</script>`

describe.skipIf(isMissing('chromium'))(
  `the HTML report in a browser${skipReason('chromium')}`,
  () => {
    it('runs and loads no code that a skill put into its names, output and errors', async () => {
      // Shows that these texts reach the beacon as markup, and how long this browser takes for that.
      const started = performance.now()
      const asMarkup = await reached(
        (beacon) =>
          hostileTexts(beacon)
            .map((text) => `<p>${text}</p>`)
            .join(''),
        (firstRequest) => Promise.race([firstRequest, delay(30_000)]),
      )
      expect(asMarkup).not.toEqual([])
      const patienceMs = 4000 + 2 * (performance.now() - started)
      const inReport = await reached(
        (beacon) => renderReport('html', hostileResult(hostileTexts(beacon))),
        () => delay(patienceMs),
      )
      expect(inReport).toEqual([])
    })
  },
)

/** Returns the paths that a file asks for while a browser has it open. */
async function reached(
  contentOf: (beacon: string) => string,
  until: (firstRequest: Promise<void>) => Promise<unknown>,
): Promise<string[]> {
  const paths: string[] = []
  const firstRequest = later<void>()
  const pageServer = await listenOnLoopback((request, response) => {
    paths.push(request.url ?? '')
    firstRequest.resolve()
    response.end()
  })
  try {
    const file = join(mkdtempSync(join(tmpdir(), 'skillrail-report-')), 'report.html')
    writeFileSync(file, contentOf(pageServer.url))
    await openInChromium(pathToFileURL(file).href, { until: until(firstRequest.promise) })
    return paths
  } finally {
    await pageServer.stop()
  }
}
