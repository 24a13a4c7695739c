import { createHash } from 'node:crypto'
import { type Dirent, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf, systemCode } from '../base/index.ts'
import { readInChunks } from './_file-digest.ts'
import type { InstalledHash, InstalledLimits } from './_installed-hash.ts'

/**
 * The name that Git (with SHA-1) gives the tree of a directory: every file with its executable bit,
 * links by where they lead, no `.git` and no directory without files.
 */
export function gitTreeHash(directory: string, limits: InstalledLimits): InstalledHash {
  let { entries, bytes } = limits
  try {
    return { ok: true, hashes: [(treeOf('') ?? objectName('tree', [])).toString('hex')] }
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, problem: error.message }
    return { ok: false, problem: `cannot be listed: ${systemCode(error) ?? messageOf(error)}` }
  }

  function treeOf(way: string): Buffer | undefined {
    const lines = readdirSync(join(directory, way), { withFileTypes: true })
      .filter(({ name }) => name !== '.git')
      .toSorted((a, b) => Buffer.compare(sortedAs(a), sortedAs(b)))
      .flatMap((entry) => {
        entries--
        if (entries < 0) throw new Unreadable(`has more than ${limits.entries} entries`)
        const path = way === '' ? entry.name : `${way}/${entry.name}`
        const found = entry.isDirectory()
          ? { mode: '40000', name: treeOf(path) }
          : blobOf(path, entry)
        return found.name === undefined
          ? []
          : [Buffer.from(`${found.mode} ${entry.name}\0`), found.name]
      })
    return lines.length === 0 ? undefined : objectName('tree', lines)
  }

  function blobOf(path: string, entry: Dirent): { mode: string; name: Buffer | undefined } {
    const place = join(directory, path)
    if (entry.isSymbolicLink()) {
      return { mode: '120000', name: objectName('blob', [readlinkSync(place, 'buffer')]) }
    }
    const chunks: Buffer[] = []
    const reading = readInChunks(place, (chunk) => void chunks.push(Buffer.from(chunk)))
    if (!reading.ok) throw new Unreadable(`${path} ${reading.problem}`)
    bytes -= chunks.reduce((size, chunk) => size + chunk.length, 0)
    if (bytes < 0) throw new Unreadable(`has more than ${limits.bytes / 1024 / 1024} MiB`)
    return { mode: reading.executable ? '100755' : '100644', name: objectName('blob', chunks) }
  }
}

class Unreadable extends Error {}

/** Git compares a directory as if its name ended with a slash. */
function sortedAs(entry: Dirent): Buffer {
  return Buffer.from(entry.isDirectory() ? `${entry.name}/` : entry.name)
}

function objectName(kind: 'blob' | 'tree', parts: readonly Uint8Array[]): Buffer {
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  const hash = createHash('sha1').update(`${kind} ${size}\0`)
  for (const part of parts) hash.update(part)
  return hash.digest()
}
