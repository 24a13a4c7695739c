import { createHash } from 'node:crypto'

/** `sha256:` and 64 hexadecimal digits. Text is hashed as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`
}
