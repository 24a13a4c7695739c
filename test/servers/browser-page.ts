import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from './recipes.ts'

/** A page of a real browser, and its activity. */
export interface BrowserPage {
  go(address: string): Promise<void>
  /** What an expression comes to in the page; promises are awaited. */
  evaluate(expression: string): Promise<unknown>
  /** Waits until an expression is true there; the error contains the text of the page. */
  until(expression: string): Promise<void>
  type(text: string): Promise<void>
  press(key: string): Promise<void>
  resize(size: { width: number; height: number; scheme?: 'light' | 'dark' }): Promise<void>
  screenshot(): Promise<Buffer>
  /** Addresses that were asked for, the page's own included. */
  readonly requests: readonly string[]
  /** Dialogs, uncaught errors, errors in the console, and requests that the policy of the page refused. */
  readonly incidents: readonly string[]
  close(): Promise<void>
}

interface Message {
  id?: number
  method?: string
  params?: Readonly<Record<string, unknown>>
  result?: Readonly<Record<string, unknown>>
  error?: { message: string }
}

/** A real browser. */
export interface Browser {
  /** Opens an empty page that shares no storage with other pages. */
  newPage(): Promise<BrowserPage>
  close(): Promise<void>
}

interface BrowserOptions {
  /** Whether pages learn that a program drives the browser, as `navigator.webdriver` says. */
  saysDriven?: boolean
}

/** Opens a separate browser with one empty page. */
export async function openBrowserPage(options: BrowserOptions = {}): Promise<BrowserPage> {
  const browser = await openBrowser(options)
  return { ...(await browser.newPage()), close: browser.close }
}

/** Starts a browser that is driven by its DevTools protocol. */
export async function openBrowser({ saysDriven = true }: BrowserOptions = {}): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'skillrail-browser-'))
  const silent = saysDriven ? [] : ['--disable-blink-features=AutomationControlled']
  const words = [...flags, ...silent, `--user-data-dir=${profile}`, 'about:blank']
  const browser = spawn(chromium, words, {
    stdio: 'ignore',
    detached: true,
    env: { PATH: '/usr/bin:/bin', HOME: profile },
  })
  const address = await browserAddress(profile)
  const connection = await connect(address)
  return {
    async newPage() {
      const { browserContextId } = await connection.send('Target.createBrowserContext')
      const { targetId } = await connection.send('Target.createTarget', {
        url: 'about:blank',
        browserContextId,
      })
      const page = await connect(new URL(`/devtools/page/${String(targetId)}`, address).href)
      return drivenPage(page, async () => {
        page.close()
        await connection.send('Target.disposeBrowserContext', { browserContextId })
      })
    },
    async close() {
      connection.close()
      await end(browser)
      rmSync(profile, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** Drives a page, and records what it asks for and what goes wrong in it. */
async function drivenPage(
  { send, onEvent }: Connection,
  close: () => Promise<void>,
): Promise<BrowserPage> {
  const requests: string[] = []
  const incidents: string[] = []
  onEvent(({ method = '', params = {} }) => {
    if (method === 'Network.requestWillBeSent') requests.push(textAt(params, 'request', 'url'))
    if (method === 'Page.javascriptDialogOpening') {
      incidents.push(`dialog: ${textAt(params, 'message')}`)
      void send('Page.handleJavaScriptDialog', { accept: false })
    }
    if (method === 'Runtime.exceptionThrown') {
      incidents.push(`error: ${textAt(params, 'exceptionDetails', 'exception', 'description')}`)
    }
    if (method === 'Runtime.consoleAPICalled' && textAt(params, 'type') === 'error') {
      incidents.push(`console: ${JSON.stringify(params['args'])}`)
    }
    if (method === 'Log.entryAdded') {
      const isPolicy = textAt(params, 'entry', 'source') === 'security'
      const isError = textAt(params, 'entry', 'level') === 'error'
      if (isPolicy) incidents.push(`policy: ${textAt(params, 'entry', 'text')}`)
      else if (isError) incidents.push(`console: ${textAt(params, 'entry', 'text')}`)
    }
  })

  async function evaluate(expression: string): Promise<unknown> {
    const result = await send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      userGesture: true,
    })
    const thrown = result['exceptionDetails']
    if (thrown !== undefined) throw new Error(`${expression}: ${JSON.stringify(thrown)}`)
    return valueAt(result, 'result', 'value')
  }

  for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await send(`${domain}.enable`)
  return {
    requests,
    incidents,
    evaluate,
    async go(address) {
      // Another fragment alone would load nothing anew.
      await send('Page.navigate', { url: 'about:blank' })
      await send('Page.navigate', { url: address })
    },
    async until(expression) {
      for (let waited = 0; waited < 15_000; waited += 50) {
        // A page that is loaded again in the meantime has no answer yet.
        const value = await evaluate(expression).catch((error: unknown) => {
          if (!String(error).includes('navigated')) throw error
        })
        if (value === true) return
        await sleep(50)
      }
      const pageText = String(await evaluate('`${location.hash}: ${document.body.innerText}`'))
      throw new Error(`never true: ${expression}\nthe page shows: ${pageText}`)
    },
    type: async (text) => void (await send('Input.insertText', { text })),
    async press(key) {
      const text = key.length === 1 ? key : key === 'Enter' ? '\r' : undefined
      await send('Input.dispatchKeyEvent', { type: 'keyDown', key, text, ...codeOf(key) })
      await send('Input.dispatchKeyEvent', { type: 'keyUp', key, ...codeOf(key) })
    },
    async resize({ width, height, scheme = 'light' }) {
      const size = { width, height, deviceScaleFactor: 1, mobile: width < 600 }
      await send('Emulation.setDeviceMetricsOverride', size)
      const features = [{ name: 'prefers-color-scheme', value: scheme }]
      await send('Emulation.setEmulatedMedia', { features })
    },
    async screenshot() {
      const result = await send('Page.captureScreenshot', { format: 'png' })
      return Buffer.from(textAt(result, 'data'), 'base64')
    },
    close,
  }
}

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--remote-debugging-port=0',
]

/** Keys without a text are identified by their number. */
function codeOf(key: string): { windowsVirtualKeyCode?: number } {
  const codes: Readonly<Record<string, number>> = {
    Enter: 13,
    Escape: 27,
    ArrowUp: 38,
    ArrowDown: 40,
  }
  const code = codes[key]
  return code === undefined ? {} : { windowsVirtualKeyCode: code }
}

/** Where the browser is driven from: it writes its port into its profile. */
async function browserAddress(profile: string): Promise<string> {
  const file = join(profile, 'DevToolsActivePort')
  for (let waited = 0; waited < 20_000; waited += 50) {
    const [port = '', path = ''] = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    if (path !== '') return `ws://127.0.0.1:${port}${path}`
    await sleep(50)
  }
  throw new Error('the browser did not start')
}

/** A socket of the DevTools protocol. */
interface Connection {
  send(method: string, params?: object): Promise<Readonly<Record<string, unknown>>>
  onEvent(listener: (event: Message) => void): void
  close(): void
}

async function connect(address: string): Promise<Connection> {
  const socket = new WebSocket(address)
  const pending = new Map<number, (message: Message) => void>()
  const listeners: ((event: Message) => void)[] = []
  let last = 0
  socket.addEventListener('message', ({ data }) => {
    const message: Message = JSON.parse(String(data))
    if (message.id !== undefined) pending.get(message.id)?.(message)
    else for (const listener of listeners) listener(message)
  })
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', reject, { once: true })
  })
  return {
    async send(method, params = {}) {
      const id = ++last
      const answer = new Promise<Message>((resolve) => pending.set(id, resolve))
      socket.send(JSON.stringify({ id, method, params }))
      const { result = {}, error } = await answer
      pending.delete(id)
      if (error !== undefined) throw new Error(`${method}: ${error.message}`)
      return result
    },
    onEvent: (listener) => void listeners.push(listener),
    close: () => socket.close(),
  }
}

async function end(browser: ChildProcess): Promise<void> {
  if (browser.exitCode !== null || browser.pid === undefined) return
  const closed = new Promise((resolve) => browser.once('close', resolve))
  process.kill(-browser.pid, 'SIGKILL')
  await closed
}

function valueAt(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined,
    value,
  )
}

function textAt(value: unknown, ...keys: readonly string[]): string {
  const text = valueAt(value, ...keys)
  return typeof text === 'string' ? text : ''
}
