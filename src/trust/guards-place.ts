import { join } from 'node:path'
import { type PlaceRuntime, userDirectories } from '#core/runtime'

/**
 * Where the guards are stored that always apply. It exists only while there are some: the hook looks for it
 * before each tool call, and loads nothing else.
 */
export function guardsDirectory(runtime: PlaceRuntime): string {
  return join(userDirectories(runtime).state, 'guards')
}
