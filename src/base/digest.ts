import type { Hash } from 'node:crypto'

/** `sha256:` and 64 hexadecimal digits. Text is hashed as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  return `sha256:${process.getBuiltinModule('node:crypto').hash('sha256', data)}`
}

/** A hash to be fed in parts; {@link digestOf} ends it. */
export function openSha256(): Hash {
  // Loading crypto costs a third of a Node start, and most commands hash nothing.
  return process.getBuiltinModule('node:crypto').createHash('sha256')
}

/** The digest of everything the hash was fed, in the form of {@link sha256}. */
export function digestOf(hash: Hash): string {
  return `sha256:${hash.digest('hex')}`
}
