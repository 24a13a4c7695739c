import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, systemCode } from '../base/index.ts'
import { readInChunks } from './_file-digest.ts'

export type InstalledHash = { ok: true; hashes: readonly string[] } | { ok: false; problem: string }

export interface InstalledLimits {
  /** Files and directories. */
  entries: number
  bytes: number
}

/** Of a skill, as where it is locked. */
export const installedLimits: InstalledLimits = { entries: 20_000, bytes: 256 * 1024 * 1024 }

/**
 * The `computedHash` of the `skills` command (1.7) for a directory: SHA-256 over path and content of
 * every regular file, without `.git`, `node_modules` and links, in the order of `localeCompare`. That
 * order depends on the language of the machine, so there may be two: English, then this machine's.
 */
export function installedHash(
  directory: string,
  limits: InstalledLimits = installedLimits,
): InstalledHash {
  const listing: Listing = { paths: [], left: limits.entries }
  const problem = listFiles(directory, '', listing)
  const { paths } = listing
  if (listing.left < 0) return { ok: false, problem: `has more than ${limits.entries} entries` }
  if (problem !== undefined) return { ok: false, problem }
  const orders = [paths.toSorted(inEnglish), paths.toSorted((a, b) => a.localeCompare(b))]
  const different = new Map(orders.map((order) => [order.join('\0'), order]))
  const hashes: string[] = []
  for (const order of different.values()) {
    const hash = createHash('sha256')
    let size = 0
    for (const path of order) {
      hash.update(path)
      const take = (bytes: Buffer): void => {
        hash.update(bytes)
        size += bytes.length
      }
      const reading = readInChunks(join(directory, path), take)
      if (size > limits.bytes) {
        return { ok: false, problem: `has more than ${limits.bytes / 1024 / 1024} MiB` }
      }
      if (!reading.ok) return { ok: false, problem: `${path} ${reading.problem}` }
    }
    hashes.push(hash.digest('hex'))
  }
  return { ok: true, hashes }
}

function inEnglish(a: string, b: string): number {
  return a.localeCompare(b, 'en-US')
}

interface Listing {
  paths: string[]
  /** So many entries more may be looked at. */
  left: number
}

/** Why the files cannot be listed, or undefined. */
function listFiles(directory: string, way: string, listing: Listing): string | undefined {
  try {
    for (const entry of readdirSync(join(directory, way), { withFileTypes: true })) {
      const path = way === '' ? entry.name : `${way}/${entry.name}`
      listing.left--
      if (listing.left < 0) return undefined
      if (entry.isFile()) listing.paths.push(path)
      if (!entry.isDirectory() || entry.name === '.git' || entry.name === 'node_modules') continue
      const problem = listFiles(directory, path, listing)
      if (problem !== undefined) return problem
    }
    return undefined
  } catch (error) {
    return `cannot be listed: ${systemCode(error) ?? messageOf(error)}`
  }
}
