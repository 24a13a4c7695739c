import { createRequire } from 'node:module'
import type * as Zod from 'zod'

/** Loads zod for the first schema: that takes 60 ms, and most calls need no schema. */
export function zod(): typeof Zod {
  return createRequire(import.meta.url)('zod')
}
