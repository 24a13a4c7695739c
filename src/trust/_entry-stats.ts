import { lstatSync, type Stats } from 'node:fs'
import { messageOf, systemCode } from '../base/index.ts'

export type EntryStats =
  | { kind: 'there'; stats: Stats }
  | { kind: 'missing' }
  | { kind: 'unreadable'; problem: string }

/** What lies at a path, a link being a link. Throws for nothing that a disk may hold. */
export function entryStats(path: string): EntryStats {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    return stats === undefined ? { kind: 'missing' } : { kind: 'there', stats }
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOTDIR') return { kind: 'missing' }
    return { kind: 'unreadable', problem: `cannot be read: ${code ?? messageOf(error)}` }
  }
}
