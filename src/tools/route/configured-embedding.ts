import type { Runtime } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import type { Embedding } from './embedding.ts'
import { openEndpointEmbedding } from './endpoint-embedding.ts'
import { embeddingDirectory, openLocalEmbedding } from './local-embedding.ts'
import { cachedEmbedding } from './cached-embedding.ts'

/** What embeds requests, and what embeds tools and keeps their vectors. */
export interface ConfiguredEmbedding {
  embedding: Embedding
  stored: Embedding
}

/** Never a project's file: the setting lets words leave the machine. */
const keyVariable = 'SKILLRAIL_TOOLS_EMBEDDINGS_KEY'

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
  const embedding = await open()
  return { embedding, stored: cachedEmbedding(embedding, runtime) }

  async function open(): Promise<Embedding> {
    if (embeddings === 'endpoint') {
      return openEndpointEmbedding({ url, model, key: runtime.env[keyVariable] || undefined })
    }
    return await openLocalEmbedding({ directory: embeddingDirectory(runtime) })
  }
}
