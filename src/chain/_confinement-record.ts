import type { ConfinementRecord } from './journal-records.ts'
import type { RunConfinement } from './script-executor.ts'

/** What a journal keeps of a confinement; nothing where there is none. */
export function recordOf(confinement: RunConfinement | undefined): {
  confinement?: ConfinementRecord
} {
  if (confinement === undefined) return {}
  if (confinement === 'off') return { confinement: { sandbox: 'off' } }
  const { read, write, network, environment } = confinement.grants
  return {
    confinement: {
      sandbox: confinement.sandbox.name,
      read,
      write,
      network,
      environment: Object.keys(environment),
    },
  }
}
