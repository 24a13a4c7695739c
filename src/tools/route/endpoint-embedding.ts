import { messageOf } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { safeLine } from '../../core/text.ts'
import { ToolError } from '../errors.ts'
import type { Embedding } from './embedding.ts'

export interface EndpointOptions {
  /** Base address, such as `http://127.0.0.1:11434/v1`; `/embeddings` is added where it is missing. */
  url: string
  model: string
  /** Sent as a bearer token; none where it is undefined. */
  key?: string | undefined
  /** For one request; default 30,000. */
  timeoutMs?: number | undefined
}

/** Texts for one request. */
const batchSize = 64
/** Bytes of one answer. */
const largestAnswer = 64 * 1024 * 1024

/**
 * Any server that speaks OpenAI's `/embeddings`: Ollama, llama.cpp, vLLM, a hosted one. The request
 * and the descriptions of tools are sent to it, and nothing else. Redirects are not followed.
 * https://platform.openai.com/docs/api-reference/embeddings
 */
export function openEndpointEmbedding(options: EndpointOptions): Embedding {
  const url = addressOf(options.url)
  if (options.model === '') {
    throw new ToolError({
      code: 'embedding-model-missing',
      message: 'no model is set for the embedding endpoint',
      hint: 'Set tools.embeddingsModel, or SKILLRAIL_TOOLS_EMBEDDINGS_MODEL.',
    })
  }
  return {
    name: `${url.href} ${options.model}`,
    async embed(texts, { signal } = {}) {
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += batchSize) {
        vectors.push(...(await ask(url, options, texts.slice(from, from + batchSize), signal)))
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

async function ask(
  url: URL,
  { model, key, timeoutMs = 30_000 }: EndpointOptions,
  input: readonly string[],
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const limit = AbortSignal.timeout(timeoutMs)
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
  let response: Response
  let text = ''
  try {
    response = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      headers: { 'content-type': 'application/json', ...authorization },
      body: JSON.stringify({ model, input, encoding_format: 'float' }),
      signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
    })
    text = await readAnswer(response)
  } catch (error) {
    signal?.throwIfAborted()
    // `fetch` says only that it failed; its cause says why.
    const reason = messageOf((error instanceof Error ? error.cause : undefined) ?? error)
    throw failed(url, limit.aborted ? `no answer after ${timeoutMs} ms` : reason, error)
  }
  if (!response.ok) throw failed(url, `status ${response.status}: ${safeLine(text.slice(0, 200))}`)
  return readVectors(url, text, input.length)
}

async function readAnswer(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > largestAnswer) throw new Error(`the answer is larger than ${largestAnswer} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** `{ data: [{ index, embedding }] }`; the order is that of `index`. */
function readVectors(url: URL, text: string, count: number): Float32Array[] {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch (error) {
    throw failed(url, 'the answer is not JSON', error)
  }
  const data = isObject(answer) ? answer['data'] : undefined
  if (!Array.isArray(data) || data.length !== count) {
    throw failed(url, `the answer has no ${count} vectors`)
  }
  const vectors = new Map<number, Float32Array>()
  data.forEach((item: unknown, place) => {
    const { index = place, embedding }: Record<string, unknown> = isObject(item) ? item : {}
    if (!Array.isArray(embedding) || !embedding.every((value) => Number.isFinite(value))) return
    if (typeof index === 'number') vectors.set(index, Float32Array.from(embedding))
  })
  const whole = data.flatMap((_, place) => vectors.get(place) ?? [])
  if (whole.length !== count || new Set(whole.map(({ length }) => length)).size !== 1) {
    throw failed(url, 'a vector is missing, or they differ in length')
  }
  return whole
}

function failed(url: URL, why: string, cause?: unknown): ToolError {
  return new ToolError({
    code: 'embedding-failed',
    message: `the embedding endpoint ${url.origin}${url.pathname} failed: ${why}`,
    hint: 'Check that its server runs and has the model, or set tools.embeddings to "off".',
    cause,
  })
}
