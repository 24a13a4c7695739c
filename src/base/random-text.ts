/** Random lower-case letters and digits, `length` of them, from the system's secure source. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) text += (nextByte() % 36).toString(36)
  return text
}

/** Asking the system for each text by itself would cost more than all else that an id needs. */
const pool = new Uint8Array(256)
let taken = pool.length

function nextByte(): number {
  if (taken === pool.length) {
    crypto.getRandomValues(pool)
    taken = 0
  }
  return pool[taken++] ?? 0
}
