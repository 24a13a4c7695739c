import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { type Listener, splitMessages } from './_launcher-messages.ts'

/**
 * Pipes to and from the launcher without the streams of Node, whose upkeep costs a trivial program as
 * much as its start. Reading them blocks; the launcher sees to it that this takes 50 ms at most.
 */
export interface QuickPipes {
  write(message: Buffer): void
  /** Reads what is said of a program until it is done or takes longer; `lost` without a launcher. */
  answer(listener: Listener, isDone: () => boolean): 'done' | 'slow' | 'lost'
  /** The launcher takes this for our end. */
  closeInput(): void
  close(): void
}

/** What the launcher says of itself once it is ready. */
export interface Readiness {
  /** Not that of the process we started: see `launcherProgram`. */
  pid: number
  /** Where it listens. */
  asks: PipeEnd
  /** Where it answers. */
  tells: PipeEnd
}

/** A descriptor of the launcher that leads to the other end of one of its pipes. */
interface PipeEnd {
  descriptor: number
  inode: number
}

/** What the launcher writes first, as a whole; undefined when it is anything else. */
export function readReadiness(chunk: Buffer): Readiness | undefined {
  const text = chunk.toString('latin1', 5)
  if (!chunk.subarray(0, 5).equals(readinessHead(text)) || !/^\d+(?: \d+){4}$/.test(text)) {
    return undefined
  }
  const [pid = 0, asks = 0, asksInode = 0, tells = 0, tellsInode = 0] = text.split(' ').map(Number)
  return {
    pid,
    asks: { descriptor: asks, inode: asksInode },
    tells: { descriptor: tells, inode: tellsInode },
  }
}

function readinessHead({ length }: string): Buffer {
  const head = Buffer.from('R\0\0\0\0')
  head.writeUInt32BE(length, 1)
  return head
}

/**
 * Opens the pipes that the launcher has made for it; undefined where the system has no way to open a
 * pipe of another process, or forbids it.
 */
export function openQuickPipes({ pid, asks, tells }: Readiness): QuickPipes | undefined {
  const input = openEnd(pid, asks, constants.O_WRONLY)
  if (input === undefined) return undefined
  const output = openEnd(pid, tells, constants.O_RDONLY)
  if (output !== undefined) return quickPipes(input, output)
  closeSync(input)
  return undefined
}

function openEnd(pid: number, { descriptor, inode }: PipeEnd, flags: number): number | undefined {
  try {
    const opened = openSync(`/proc/${pid}/fd/${descriptor}`, flags)
    // A launcher that has ended may have left its number to another process.
    if (fstatSync(opened).ino === inode) return opened
    closeSync(opened)
  } catch {
    // There is no such place here, or it is closed to us.
  }
  return undefined
}

function quickPipes(input: number, output: number): QuickPipes {
  const buffer = Buffer.allocUnsafe(65_536)
  let isOpen = true
  return {
    write(message) {
      // A closed descriptor's number may be that of another file by now.
      if (isOpen) writeWhole(input, message)
    },
    answer(listener, isDone) {
      let slow = false
      const take = splitMessages((letter, data) => {
        if (letter === 'S') slow = true
        else listener.heard(letter, data)
      })
      while (!isDone()) {
        if (slow) return 'slow'
        const count = readSome(output, buffer)
        if (count === 0) {
          listener.lost()
          return 'lost'
        }
        // Listeners keep what they heard, and the buffer is used again.
        take(Buffer.from(buffer.subarray(0, count)))
      }
      return 'done'
    },
    closeInput() {
      isOpen = false
      closeSync(input)
    },
    close: () => closeSync(output),
  }
}

/** A launcher that is gone is noticed by who reads. */
function writeWhole(descriptor: number, bytes: Buffer): void {
  try {
    for (let written = 0; written < bytes.length;) {
      written += writeSync(descriptor, bytes, written)
    }
  } catch {
    return
  }
}

function readSome(descriptor: number, buffer: Buffer): number {
  try {
    return readSync(descriptor, buffer)
  } catch {
    return 0
  }
}
