import { join } from 'node:path'
import { safeLine } from '../core/text.ts'
import { checkScript, isNamedLikeScript } from './check-scripts.ts'
import { lineIndex } from './check-text.ts'
import type { AuditedText, Findings } from './findings.ts'
import { checkArchive, checkFileKind, isNamedLikeText } from './check-tree.ts'
import { auditLimits, type FileKind, fileKind, headBytes, readBytes } from './read-tree.ts'

/** A text and the bytes of it that were read. */
interface OpenedText extends AuditedText {
  bytes: number
}

/**
 * The text of a file, as far as the limits go, or undefined for one that is not text. What kind of
 * file it is, and what was not read, goes to the findings.
 *
 * @param left bytes that may still be read of this skill
 */
export function openText(
  directory: string,
  entry: { path: string; size: number; mode: number },
  left: number,
  findings: Findings,
): OpenedText | undefined {
  const file = entry.path
  const path = join(directory, file)
  const head = readBytes(path, 0, headBytes)
  if (!head.ok) {
    findings.add('not-analysed', { file }, `cannot be read: ${safeLine(head.reason)}`)
    return undefined
  }
  const kind = fileKind(head.bytes, file)
  checkFileKind(file, kind, findings)
  if (kind.group === 'archive') {
    checkArchive({ path, file, size: entry.size, name: kind.name, head: head.bytes }, findings)
  }
  const executable = process.platform !== 'win32' && (entry.mode & 0o111) !== 0
  const isText = isReadable(file, kind)
  checkScript({ file, head: isText ? head.bytes.toString('latin1') : '', executable }, findings)
  if (!isText) return undefined
  const length = Math.min(entry.size, auditLimits.textBytes, Math.max(0, left))
  if (length < entry.size) {
    const message = `only the first ${length} of ${entry.size} bytes were looked at`
    findings.add('not-analysed', { file }, message)
  }
  const reading = length <= head.bytes.length ? head : readBytes(path, 0, length)
  if (!reading.ok) {
    findings.add('not-analysed', { file }, `cannot be read: ${safeLine(reading.reason)}`)
    return undefined
  }
  const bytes = reading.bytes.subarray(0, length)
  const { text, encoding } = decode(bytes, length < entry.size)
  if (encoding !== 'utf-8') {
    findings.add('not-analysed', { file }, `is not UTF-8; it was read as ${encoding}`)
  }
  return { file, text, placeOf: lineIndex(text), bytes: bytes.length }
}

/** A shell skips NUL characters, so a script or a text with some is looked at all the same. */
function isReadable(file: string, { group }: FileKind): boolean {
  if (group === 'text' || group === 'script') return true
  return group === 'data' && (isNamedLikeText(file) || isNamedLikeScript(file))
}

/** Where a limit cut, the last character may be incomplete. */
function decode(bytes: Uint8Array, isCut: boolean): { text: string; encoding: string } {
  const [first, second] = bytes
  const isLittle = first === 0xff && second === 0xfe
  const isBig = first === 0xfe && second === 0xff
  if (isLittle || isBig) {
    const encoding = isLittle ? 'utf-16le' : 'utf-16be'
    return { text: new TextDecoder(encoding).decode(bytes), encoding }
  }
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { text: decoder.decode(bytes, { stream: isCut }), encoding: 'utf-8' }
  } catch {
    return { text: new TextDecoder('windows-1252').decode(bytes), encoding: 'windows-1252' }
  }
}
