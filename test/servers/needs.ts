import { existsSync } from 'node:fs'
import { postgresPrograms } from './postgres.ts'
import { chromium } from './recipes.ts'

type Need = 'chromium' | 'postgresql'

/** Whether a Debian package that a block needs is not installed. */
export function isMissing(need: Need): boolean {
  return need === 'chromium' ? !existsSync(chromium) : postgresPrograms() === undefined
}

/** For the name of a block that is skipped: why. */
export function skipReason(need: Need): string {
  return isMissing(need) ? ` (skipped: ${need} is not installed)` : ''
}
