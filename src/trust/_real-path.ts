import { isUtf8 } from 'node:buffer'
import { realpathSync } from 'node:fs'

/**
 * The path with every link resolved, or undefined where it leads nowhere, or to bytes that are no text:
 * as text they would name something else.
 */
export function realPathOf(path: string): string | undefined {
  try {
    const real = realpathSync.native(path, { encoding: 'buffer' })
    return isUtf8(real) ? real.toString() : undefined
  } catch {
    return undefined
  }
}
