/** What it says of the program that runs: a letter and data, as `launcherProgram` describes them. */
export type Listener = { heard(letter: string, data: Buffer): void; lost(): void }

/** A message to the launcher, as `launcherProgram` reads it. */
export function withLength(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const message = Buffer.allocUnsafe(length + 4)
  message.writeUInt32BE(length)
  message.write(text, 4)
  return message
}

/** Messages are a letter, a 32-bit length and as many bytes; chunks end anywhere. */
export function splitMessages(
  heard: (letter: string, data: Buffer) => void,
): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0)
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    while (pending.length >= headLength) {
      const end = headLength + pending.readUInt32BE(1)
      if (pending.length < end) return
      const [letter, data] = [pending.toString('latin1', 0, 1), pending.subarray(headLength, end)]
      pending = pending.subarray(end)
      heard(letter, data)
    }
  }
}

const headLength = 5
