import { isUtf8 } from 'node:buffer'
import { readlinkSync } from 'node:fs'
import { messageOf, sha256, systemCode } from '../base/index.ts'

/**
 * The digest of a link, by where it leads and what is there. It has a prefix of its own, since any
 * text that is hashed for a link could be the content of a file as well.
 */
export function linkDigest(target: string, content: string): string {
  return `link-${sha256(`${target}\0${content}`)}`
}

/** Whether a value has the form of a digest that a record or a lock may hold: of a file or a link. */
export function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^(?:link-)?sha256:[0-9a-f]{64}$/.test(value)
}

export type LinkReading = { ok: true; target: string } | { ok: false; problem: string }

/** Where a link leads, unless its bytes are no text, when two of them could look the same. */
export function readLink(path: string): LinkReading {
  try {
    const target = readlinkSync(path, { encoding: 'buffer' })
    if (isUtf8(target)) return { ok: true, target: target.toString() }
    return { ok: false, problem: 'is a link whose target is not UTF-8' }
  } catch (error) {
    return { ok: false, problem: `cannot be read: ${systemCode(error) ?? messageOf(error)}` }
  }
}
