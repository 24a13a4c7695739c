import { posix } from 'node:path'
import { extensionOf } from '#trust/file-kinds'
import type { Findings } from './findings.ts'
import { checkFileNames } from './check-names.ts'
import { auditLimits, type FileKind, readBytes, type Tree, type TreeEntry } from './read-tree.ts'

export function checkTree({ entries, stopped }: Tree, findings: Findings): void {
  for (const entry of entries) checkEntry(entry, findings)
  checkFileNames(entries, findings)
  checkGit(entries, findings)
  for (const { limit, path } of stopped) {
    const message =
      limit === 'too-deep'
        ? `what is below this directory was not checked: ${auditLimits.depth} levels are the limit`
        : `more than ${auditLimits.entries} entries; the others were not checked`
    findings.add(limit, { file: path }, message)
  }
}

function checkEntry(entry: TreeEntry, findings: Findings): void {
  const place = { file: entry.path }
  switch (entry.kind) {
    case 'file': {
      if ((entry.mode & 0o6000) !== 0) {
        findings.add('special-rights', place, 'the file has the setuid or setgid bit')
      }
      if (entry.size > auditLimits.fileBytes) {
        const message = `${entry.size} bytes; ${auditLimits.fileBytes} are the limit`
        findings.add('file-too-large', place, `${message}, and the file was not read`)
      }
      return
    }
    case 'link': {
      const target = entry.target.slice(0, 200)
      if (entry.leads === 'outside') {
        const hint = 'Copy what is needed into the skill.'
        findings.add('link-outside', place, `leads out of the skill, to ${target}`, { hint })
      }
      if (entry.leads === 'nowhere') {
        findings.add('link-broken', place, `leads nowhere: ${target}`)
      }
      return
    }
    case 'special':
      return findings.add('special-file', place, `is a ${entry.what}`)
    case 'unreadable':
      return findings.add('not-analysed', place, `cannot be read: ${entry.reason}`)
    case 'directory': {
      if (posix.basename(entry.path) === 'node_modules') {
        findings.add('not-analysed', place, 'installed packages are not checked')
      }
    }
  }
}

/** A clone has its `.git` at the root. A bare repository may have any name. */
function checkGit(entries: readonly TreeEntry[], findings: Findings): void {
  const paths = new Map(entries.map(({ path, kind }) => [path, kind]))
  for (const { path, kind } of entries) {
    if (posix.basename(path) === '.git' && path !== '.git') {
      findings.add('nested-git', { file: path }, 'a Git repository inside the skill')
    }
    const isBare =
      kind === 'directory' &&
      paths.get(`${path}/HEAD`) === 'file' &&
      paths.get(`${path}/config`) === 'file' &&
      paths.get(`${path}/objects`) === 'directory'
    if (isBare) findings.add('nested-git', { file: path }, 'a bare Git repository')
  }
  if (paths.get('.git') === 'directory') {
    findings.add('not-analysed', { file: '.git' }, 'the history of the skill is not checked')
  }
}

export function checkFileKind(file: string, kind: FileKind, findings: Findings): void {
  const place = { file }
  const extension = extensionOf(file)
  if (kind.group === 'program') findings.add('executable-binary', place, `is ${kind.name}`)
  if (kind.group === 'byte code') findings.add('compiled-code', place, `is ${kind.name}`)
  const claim = claims.get(extension)
  if (claim !== undefined && belies(claim, kind)) {
    findings.add('misleading-extension', place, `is named like ${claim}, and is ${kind.name}`)
  }
  const inner = claims.get(extensionOf(posix.basename(file, posix.extname(file))))
  if (starters.has(extension) && inner !== undefined) {
    const message = `is named like ${inner}, and ends in .${extension}`
    findings.add('misleading-extension', place, message)
  }
}

export function isNamedLikeText(file: string): boolean {
  return claims.get(extensionOf(file)) === 'a text'
}

const claims = new Map(
  Object.entries({
    'a picture': 'png jpg jpeg gif webp bmp ico avif',
    'a text': 'md txt csv json yaml yml toml xml html css svg rst',
    'a document': 'pdf doc xls ppt',
  }).flatMap(([claim, list]) => list.split(' ').map((extension) => [extension, claim] as const)),
)

/** Extensions of files that a double click starts on Windows, whatever the rest of the name is. */
const starters = new Set('exe scr com bat cmd ps1 vbs lnk pif'.split(' '))

function belies(claim: string, { group }: FileKind): boolean {
  const isText = claim === 'a text'
  return ['program', 'byte code', 'archive', isText ? 'data' : 'script'].includes(group)
}

/** Checks what an archive claims about itself. Nothing is unpacked. */
export function checkArchive(
  archive: { path: string; file: string; size: number; kind: FileKind; head: Buffer },
  findings: Findings,
): void {
  const { path, file, size, kind, head } = archive
  const place = { file }
  findings.add('archive', place, `is ${kind.name}; its contents were not checked`)
  const claim = head.readUInt16LE(0) === 0x8b1f ? gzipClaim(path, size) : zipClaim(path, size)
  if (!claim) return
  const { bytes, entries, escape } = claim
  const { archiveBytes, archiveGrowth } = auditLimits
  const grows = bytes > archiveBytes && bytes > Math.max(1, size) * archiveGrowth
  if (grows || entries > auditLimits.archiveEntries) {
    const message = `claims to unpack to ${bytes} bytes in ${entries} files, from ${size} bytes`
    findings.add('archive-bomb', place, message)
  }
  if (escape !== undefined) {
    const message = `contains a path that leads out of it: ${escape.slice(0, 120)}`
    findings.add('archive-escape', place, message)
  }
}

type ArchiveClaim = { bytes: number; entries: number; escape?: string | undefined }

/** RFC 1952: the last four bytes are the size of the original, modulo 2^32. */
function gzipClaim(path: string, size: number): ArchiveClaim | undefined {
  const tail = readBytes(path, Math.max(0, size - 4), 4)
  if (!tail.ok || tail.bytes.length < 4) return undefined
  return { bytes: tail.bytes.readUInt32LE(0), entries: 1 }
}

/** The end record and the longest comment that can follow it; APPNOTE 4.3.16. */
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
    const leadsOut = /^(?:[/\\]|[A-Za-z]:)|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(name)
    if (leadsOut) claim.escape ??= name
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return claim
}
