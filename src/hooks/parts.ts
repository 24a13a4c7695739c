import { statSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfiguration, type Runtime } from '../base/index.ts'
import { discoverOptionsFrom, discoverSkills } from '../library/index.ts'
import { type ContextLimit, partsNeeded } from './context.ts'

/** The bytes of all references of each skill, the largest sum first: what one prompt can ask for. */
export function largestInjection(runtime: Runtime): number {
  const { settings } = loadConfiguration(runtime)
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  const sums = skills.map(({ directory, fields }) => {
    const files = new Set(fields.triggers.map(({ inject }) => join(directory, inject)))
    return [...files].reduce((sum, file) => sum + sizeOf(file), 0)
  })
  return Math.max(0, ...sums)
}

/** How many parts the hook needs so that every skill's references arrive whole, all at once. */
export function partsFor(limit: ContextLimit, largest: number): number {
  return partsNeeded(largest, limit)
}

function sizeOf(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? stats.size : 0
}
