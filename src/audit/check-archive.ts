import { safeLine } from '../base/index.ts'
import type { Findings } from './_findings.ts'
import { readBytes } from './_read-bytes.ts'
import { auditLimits } from './limits.ts'

/** What an archive claims about itself. Nothing is unpacked. */
export function checkArchive(
  archive: { path: string; file: string; size: number; name: string; head: Buffer },
  findings: Findings,
): void {
  const { path, file, size, name, head } = archive
  const place = { file }
  findings.add('archive', place, `is ${name}; what is in it was not looked at`)
  const claim = head.readUInt16LE(0) === 0x8b1f ? gzipClaim(path, size) : zipClaim(path, size)
  if (claim === undefined) return
  const { bytes, entries, escape } = claim
  const grows =
    bytes > auditLimits.archiveBytes && bytes > Math.max(1, size) * auditLimits.archiveGrowth
  if (grows || entries > auditLimits.archiveEntries) {
    const message = `claims to unpack to ${bytes} bytes in ${entries} files, from ${size} bytes`
    findings.add('archive-bomb', place, message)
  }
  if (escape !== undefined) {
    const message = `contains a path that leads out of it: ${safeLine(escape).slice(0, 120)}`
    findings.add('archive-escape', place, message)
  }
}

interface ArchiveClaim {
  bytes: number
  entries: number
  escape?: string | undefined
}

/** RFC 1952: the last four bytes are the size of the original, modulo 2^32. */
function gzipClaim(path: string, size: number): ArchiveClaim | undefined {
  const tail = readBytes(path, Math.max(0, size - 4), 4)
  if (!tail.ok || tail.bytes.length < 4) return undefined
  return { bytes: tail.bytes.readUInt32LE(0), entries: 1 }
}

/** Longest comment and the record behind which it stands; APPNOTE 4.3.16. */
const endBytes = 22 + 0xffff
const directoryBytes = 4 * 1024 * 1024

/** Sums up the central directory of a ZIP archive; APPNOTE 4.3.12. */
function zipClaim(path: string, size: number): ArchiveClaim | undefined {
  const tail = readBytes(path, Math.max(0, size - endBytes), endBytes)
  if (!tail.ok) return undefined
  const end = tail.bytes.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  if (end === -1 || end + 22 > tail.bytes.length) return undefined
  const claim: ArchiveClaim = { bytes: 0, entries: tail.bytes.readUInt16LE(end + 10) }
  const start = tail.bytes.readUInt32LE(end + 16)
  const length = Math.min(tail.bytes.readUInt32LE(end + 12), directoryBytes)
  const directory = readBytes(path, start, length)
  if (!directory.ok) return claim
  const { bytes } = directory
  for (let at = 0; at + 46 <= bytes.length && bytes.readUInt32LE(at) === 0x02014b50;) {
    const nameLength = bytes.readUInt16LE(at + 28)
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength)
    claim.bytes += bytes.readUInt32LE(at + 24)
    if (leadsOut(name)) claim.escape ??= name
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return claim
}

function leadsOut(name: string): boolean {
  return /^(?:[/\\]|[A-Za-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name)
}
