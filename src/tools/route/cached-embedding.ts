import { join } from 'node:path'
import { type Runtime, userDirectories } from '../../core/runtime.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { sha256 } from '../../core/json.ts'
import { writeFileAtomic } from '../../core/write-files.ts'
import type { Embedding, EmbedOptions } from './embedding.ts'

/** More vectors than any project's tools; beyond it those that were not asked for are dropped. */
const mostVectors = 10_000
const largestFile = 256 * 1024 * 1024

/**
 * The same embedding with its vectors kept in the user's cache, by the digest of each text. For the
 * descriptions of tools, not for requests: nothing that a user typed is written.
 */
export function cachedEmbedding(embedding: Embedding, runtime: Runtime): Embedding {
  const name = `${sha256(embedding.name).slice('sha256:'.length, 23)}.json`
  const path = join(userDirectories(runtime).cache, 'embeddings', name)
  return {
    name: embedding.name,
    async embed(texts: readonly string[], options?: EmbedOptions) {
      const known = readVectors(path)
      const keys = texts.map((text) => sha256(text).slice('sha256:'.length))
      const missing = texts.filter((_, at) => !known.has(keys[at] ?? ''))
      const fresh = missing.length === 0 ? [] : await embedding.embed(missing, options)
      const vectors = new Map<string, Float32Array>()
      texts.forEach((_, at) => {
        const key = keys[at] ?? ''
        const vector = known.get(key) ?? fresh.shift()
        if (vector !== undefined) vectors.set(key, vector)
      })
      if (missing.length > 0) await writeVectors(path, new Map([...vectors, ...known]))
      return keys.map((key) => vectors.get(key) ?? new Float32Array())
    },
  }
}

/** Anything that is not such a file is not a cache, and is written anew. */
function readVectors(path: string): Map<string, Float32Array> {
  const vectors = new Map<string, Float32Array>()
  const reading = readRegularFile(path, { maxBytes: largestFile })
  if (!reading.ok) return vectors
  try {
    const content: unknown = JSON.parse(reading.text)
    if (typeof content !== 'object' || content === null || !('vectors' in content)) return vectors
    for (const [key, text] of Object.entries(content.vectors ?? {})) {
      if (typeof text === 'string') vectors.set(key, decode(text))
    }
  } catch {
    vectors.clear()
  }
  return vectors
}

async function writeVectors(
  path: string,
  vectors: ReadonlyMap<string, Float32Array>,
): Promise<void> {
  const kept = [...vectors].slice(0, mostVectors).map(([key, vector]) => [key, encode(vector)])
  const content = { version: 1, vectors: Object.fromEntries(kept) }
  await writeFileAtomic(path, `${JSON.stringify(content)}\n`, { mode: 0o600 })
}

function encode(vector: Float32Array): string {
  const { buffer, byteOffset, byteLength } = vector
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64')
}

function decode(text: string): Float32Array {
  const bytes = Uint8Array.from(Buffer.from(text, 'base64'))
  return new Float32Array(bytes.buffer, 0, Math.floor(bytes.byteLength / 4))
}
