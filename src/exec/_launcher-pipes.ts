import type { ChildProcess } from 'node:child_process'
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs'
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

/**
 * Opens the pipes that the launcher has made for it; undefined where the system has no way to open a
 * pipe of another process, or forbids it.
 *
 * @param descriptors of the launcher: where it listens and where it answers.
 */
export function openQuickPipes(
  { pid, exitCode, signalCode }: Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'>,
  descriptors: string,
): QuickPipes | undefined {
  // Until we have noticed its end, no other process can have its number.
  if (exitCode !== null || signalCode !== null) return undefined
  const [asks = '', tells = ''] = descriptors.split(' ')
  const input = openOf(pid, asks, constants.O_WRONLY)
  if (input === undefined) return undefined
  const output = openOf(pid, tells, constants.O_RDONLY)
  if (output !== undefined) return quickPipes(input, output)
  closeSync(input)
  return undefined
}

function openOf(pid: number | undefined, descriptor: string, flags: number): number | undefined {
  try {
    return openSync(`/proc/${pid}/fd/${descriptor}`, flags)
  } catch {
    return undefined
  }
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
