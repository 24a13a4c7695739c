import { messageOf } from '../base/index.ts'
import {
  configuredEmbedding,
  meaningOf,
  type RouteOptions,
  type ToolIndex,
} from '../tools/index.ts'
import type { CommandContext } from './command.ts'

/** What the user configured may fail; the words then decide alone. */
export async function meaningIn(
  request: string,
  { tools }: ToolIndex,
  { runtime, settings, signal, output }: CommandContext,
): Promise<RouteOptions['meaning']> {
  if (settings.tools.embeddings === 'off' || tools.length === 0) return undefined
  try {
    const embedding = await configuredEmbedding(settings, runtime)
    if (embedding === undefined) return undefined
    return await meaningOf(request, tools, embedding, { signal })
  } catch (error) {
    signal.throwIfAborted()
    const hint = error instanceof Error && 'hint' in error ? ` ${String(error.hint)}` : ''
    output.note(`Routed by words alone: ${messageOf(error)}.${hint}`)
    return undefined
  }
}
