/** Returns a text for a file name: FNV-1a with two seeds, which needs no library. */
export function fingerprint(text: string): string {
  return hash(text, 0x811c9dc5) + hash(text, 0x01000193)
}

/** The characters of a fingerprint. */
export const fingerprintLength = 16

function hash(text: string, seed: number): string {
  let value = seed
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  return (value >>> 0).toString(16).padStart(8, '0')
}
