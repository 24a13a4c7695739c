import type { Server } from 'node:http'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BrowserPage, openBrowserPage } from './browser-page.ts'
import { isMissing, skipReason } from './needs.ts'

interface Chat {
  url: string
  server: Pick<Server, 'close' | 'closeAllConnections'>
}

interface Example {
  scriptedModel: () => object
  chatAgent: (model: object) => Promise<object>
  startChat: (agent: object, options: { script: string }) => Promise<Chat>
  cachedPackages: (...request: readonly unknown[]) => string | undefined
}

const at = (path: string): string => new URL(`../../${path}`, import.meta.url).href
const { scriptedModel }: Example = await import(at('examples/ai-chat/check.mjs'))
const { chatAgent, startChat }: Example = await import(at('examples/ai-chat/server.mjs'))
const { cachedPackages }: Example = await import(at('dev/cached-packages.mjs'))

const packages = { '@ai-sdk/react': '4.0.177', react: '19.3.1', 'react-dom': '19.3.1' }

/** The page of the example as one script, with React from the cache of test packages. */
async function pageScript(): Promise<string> {
  const folder = cachedPackages('ai-chat', packages, { peers: true })
  if (folder === undefined) throw new Error('React cannot be installed.')
  const bundle = await rolldown({
    input: 'examples/ai-chat/page.mjs',
    platform: 'browser',
    resolve: { modules: [join(folder, 'node_modules')] },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    logLevel: 'silent',
  })
  const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
  return output[0].code
}

const shows = (text: string): string =>
  `document.body?.innerText.includes(${JSON.stringify(text)}) === true`

describe.skipIf(isMissing('chromium'))(`a chat with useChat${skipReason('chromium')}`, () => {
  let page: BrowserPage
  let chat: Chat
  beforeAll(async () => {
    chat = await startChat(await chatAgent(scriptedModel()), { script: await pageScript() })
    page = await openBrowserPage()
  })
  afterAll(async () => {
    await page.close()
    chat.server.closeAllConnections()
    chat.server.close()
  })

  it('activates a skill, waits for an approval, and continues when the user approves', async () => {
    await page.go(chat.url)
    await page.until(`document.querySelector('input') !== null`)
    await page.evaluate(`document.querySelector('input').focus()`)
    await page.type('What is new in 2.1?')
    await page.press('Enter')
    await page.until(shows('May it call skill_tool'))
    await page.evaluate(
      `[...document.querySelectorAll('button')].find((one) => one.innerText === 'Allow').click()`,
    )
    await page.until(shows('2.1: orders can be cancelled.'))
    expect(await page.evaluate('document.body.innerText')).not.toContain('Write the notes')
    expect(page.incidents).toEqual([])
  })
})
