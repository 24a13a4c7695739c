import { join } from 'node:path'
import { cachePath, readCache, writeCache } from '../../core/derived-cache.ts'
import { sha256 } from '../../core/json.ts'
import { type Runtime, userDirectories } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import type { ToolSummary } from '../model.ts'
import { openLocalEmbedding } from './embedding-models.ts'

export interface Embedding {
  /** Names model and source: vectors of different names are never compared. */
  name: string
  /** One vector for each text, in their order. Rejects with a `ToolError`. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>
}

const longestText = 2_000
/** More vectors than any project's tools; beyond it the oldest are dropped. */
const mostVectors = 10_000

/** The embedding that the user configured; undefined without one, which is the default. */
export async function configuredEmbedding(
  { tools }: Pick<Settings, 'tools'>,
  runtime: Runtime,
): Promise<Embedding | undefined> {
  if (tools.embeddings === 'off') return undefined
  return await openLocalEmbedding(join(userDirectories(runtime).data, 'embeddings'))
}

/**
 * How near each tool's meaning is to the request's, by id, for `route`.
 *
 * @param runtime whose user's cache keeps the vectors of the tools; undefined: they are not kept
 */
export async function meaningOf(
  request: string,
  tools: readonly ToolSummary[],
  embedding: Embedding,
  { runtime, signal }: { runtime?: Runtime; signal?: AbortSignal } = {},
): Promise<ReadonlyMap<string, number>> {
  const texts = tools.map(embeddedText)
  const vectors =
    runtime === undefined
      ? await embedding.embed(texts, signal)
      : await keptVectors(texts, embedding, runtime, signal)
  const [asked] = await embedding.embed([request.slice(0, longestText)], signal)
  const none = new Float32Array()
  return new Map(tools.map(({ id }, at) => [id, cosine(asked ?? none, vectors[at] ?? none)]))
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
 * The vectors of texts, kept in the user's cache by the digest of each text. For the descriptions of
 * tools, not for requests: nothing that a user typed is written.
 */
export async function keptVectors(
  texts: readonly string[],
  embedding: Embedding,
  runtime: Runtime,
  signal?: AbortSignal,
): Promise<Float32Array[]> {
  const path = cachePath(runtime, 'embeddings', embedding.name)
  const known = new Map(readCache<[string, string][]>(path, '1', []))
  const missing = [...new Set(texts)].filter((text) => !known.has(sha256(text)))
  const fresh = missing.length === 0 ? [] : await embedding.embed(missing, signal)
  const found = fresh.map(({ buffer, byteOffset, byteLength }, at): [string, string] => [
    sha256(missing[at] ?? ''),
    Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
  ])
  const all = new Map([...found, ...known])
  if (fresh.length > 0) writeCache(path, '1', [...all].slice(0, mostVectors))
  return texts.map((text) => {
    const bytes = Uint8Array.from(Buffer.from(all.get(sha256(text)) ?? '', 'base64'))
    return new Float32Array(bytes.buffer)
  })
}
