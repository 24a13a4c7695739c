import { join } from 'node:path'
import { sha256 } from '../../core/json.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { type Runtime, userDirectories } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import { writeFileAtomic } from '../../core/write-files.ts'
import type { ToolSummary } from '../model.ts'
import { openEndpointEmbedding } from './endpoint-embedding.ts'
import { embeddingDirectory, openLocalEmbedding } from './local-embedding.ts'

/** Turns texts into vectors whose directions are near when the meanings are. */
export interface Embedding {
  /** Names model and source: vectors of different names are never compared. */
  name: string
  /** One vector for each text, in their order. Rejects with a `ToolError`. */
  embed(
    texts: readonly string[],
    options?: { signal?: AbortSignal | undefined },
  ): Promise<Float32Array[]>
}

/** What embeds requests, and what embeds tools and keeps their vectors. */
export interface ConfiguredEmbedding {
  embedding: Embedding
  stored: Embedding
}

/** Never a project's file: the setting lets words leave the machine. */
const keyVariable = 'SKILLRAIL_TOOLS_EMBEDDINGS_KEY'

const longestText = 2_000
/** More vectors than any project's tools; beyond it those that were not asked for are dropped. */
const mostVectors = 10_000
const largestFile = 256 * 1024 * 1024

/**
 * The embedding that the user configured; undefined without one, which is the default.
 *
 * @throws {ToolError} where it cannot be had, with what to do
 */
export async function configuredEmbedding(
  settings: Pick<Settings, 'tools'>,
  runtime: Runtime,
): Promise<ConfiguredEmbedding | undefined> {
  const { embeddings, embeddingsUrl: url, embeddingsModel: model } = settings.tools
  if (embeddings === 'off') return undefined
  const embedding =
    embeddings === 'endpoint'
      ? openEndpointEmbedding({ url, model, key: runtime.env[keyVariable] || undefined })
      : await openLocalEmbedding({ directory: embeddingDirectory(runtime) })
  return { embedding, stored: cachedEmbedding(embedding, runtime) }
}

/**
 * How near each tool's meaning is to the request's, by id, for `route`. `stored` embeds the tools and
 * may keep what it has; `embedding` embeds the request.
 */
export async function meaningOf(
  request: string,
  tools: readonly ToolSummary[],
  { embedding, stored = embedding }: { embedding: Embedding; stored?: Embedding | undefined },
  options?: { signal?: AbortSignal | undefined },
): Promise<ReadonlyMap<string, number>> {
  const vectors = await stored.embed(tools.map(embeddedText), options)
  const [asked = new Float32Array()] = await embedding.embed(
    [request.slice(0, longestText)],
    options,
  )
  return new Map(tools.map(({ id }, at) => [id, cosine(asked, vectors[at] ?? new Float32Array())]))
}

/** A tool as a sentence: `take screenshot. Saves a picture of the page.` */
function embeddedText({ name, description }: ToolSummary): string {
  const words = name
    .slice(name.lastIndexOf('__') + 1)
    .replaceAll(/([a-z0-9])(?=[A-Z])/g, '$1 ')
    .replaceAll(/[_\-.]+/g, ' ')
    .trim()
  return `${words}. ${description}`.slice(0, longestText)
}

/** 0 for vectors of different lengths, and for those without a direction. */
function cosine(one: Float32Array, other: Float32Array): number {
  if (one.length !== other.length) return 0
  const dot = (a: Float32Array, b: Float32Array): number =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
  const length = Math.sqrt(dot(one, one) * dot(other, other))
  return length === 0 ? 0 : dot(one, other) / length
}

/**
 * The same embedding with its vectors kept in the user's cache, by the digest of each text. For the
 * descriptions of tools, not for requests: nothing that a user typed is written.
 */
export function cachedEmbedding(embedding: Embedding, runtime: Runtime): Embedding {
  const file = `${digest(embedding.name).slice(0, 16)}.json`
  const path = join(userDirectories(runtime).cache, 'embeddings', file)
  return {
    name: embedding.name,
    async embed(texts, options) {
      const known = readVectors(path)
      const missing = [...new Set(texts)].filter((text) => !known.has(digest(text)))
      if (missing.length === 0)
        return texts.map((text) => known.get(digest(text)) ?? new Float32Array())
      const fresh = await embedding.embed(missing, options)
      const all = new Map(known)
      missing.forEach((text, at) => all.set(digest(text), fresh[at] ?? new Float32Array()))
      const asked = texts.map((text): [string, Float32Array] => {
        const key = digest(text)
        return [key, all.get(key) ?? new Float32Array()]
      })
      await writeVectors(path, new Map([...asked, ...known]))
      return asked.map(([, vector]) => vector)
    },
  }
}

function digest(text: string): string {
  return sha256(text).slice('sha256:'.length)
}

/** Anything that is not such a file is not a cache, and is written anew. */
function readVectors(path: string): Map<string, Float32Array> {
  const file = readRegularFile(path, { maxBytes: largestFile })
  if (!file.ok) return new Map()
  try {
    const { vectors = {} }: { vectors?: Record<string, string> } = Object(JSON.parse(file.text))
    return new Map(Object.entries(vectors).map(([key, text]) => [key, decode(text)]))
  } catch {
    return new Map()
  }
}

async function writeVectors(
  path: string,
  vectors: ReadonlyMap<string, Float32Array>,
): Promise<void> {
  const kept = [...vectors].slice(0, mostVectors).map(([key, vector]) => [key, encode(vector)])
  const content = { version: 1, vectors: Object.fromEntries(kept) }
  await writeFileAtomic(path, `${JSON.stringify(content)}\n`, { mode: 0o600 })
}

function encode({ buffer, byteOffset, byteLength }: Float32Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}

function decode(text: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'))
  return new Float32Array(bytes.buffer, 0, Math.floor(bytes.byteLength / 4))
}
