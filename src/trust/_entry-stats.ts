import { lstatSync, type Stats } from 'node:fs'
import { messageOf, systemCode } from '../base/index.ts'

export type EntryStats =
  | { kind: 'there'; stats: Stats }
  | { kind: 'missing' }
  | { kind: 'unreadable'; problem: string }

/** What lies at a path, a link being a link. Throws for nothing that a disk may hold. */
export function entryStats(path: string): EntryStats {
  try {
    return { kind: 'there', stats: lstatSync(path) }
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' }
    return { kind: 'unreadable', problem: `cannot be read: ${code ?? messageOf(error)}` }
  }
}
