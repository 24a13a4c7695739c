import type { Runtime } from './runtime.ts'
import { editDistance } from './text.ts'

/** Returns the variables with our prefix, also misspelled: settings and others. */
export function ownVariables(env: Runtime['env']): string[] {
  return Object.keys(env).filter((name) => {
    const [prefix = ''] = name.split('_', 1)
    const isAsLong = Math.abs(prefix.length - ownPrefix.length) <= maxMistakes
    return isAsLong && editDistance(prefix.toUpperCase(), ownPrefix) <= maxMistakes
  })
}

const ownPrefix = 'SKILLRAIL'
const maxMistakes = 2
