import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import type { ChildDescriptor } from './process.ts'

/** What `spawn` takes for the descriptors from 3 on; `close` once it has returned. */
export function furtherDescriptors(descriptors: ReadonlyMap<number, ChildDescriptor>): {
  stdio: ('ignore' | 'pipe' | number)[]
  close(): void
} {
  const count = Math.max(2, ...descriptors.keys()) - 2
  // Where nothing is asked for, `ignore` leaves what the child inherits.
  const stdio: ('ignore' | 'pipe' | number)[] = Array.from({ length: count }, () => 'ignore')
  const wantsNothing = [...descriptors.values()].includes('nothing')
  const nothing = wantsNothing ? openSync('/dev/null', 'r') : undefined
  for (const [number, descriptor] of descriptors) {
    stdio[number - 3] = descriptor === 'nothing' && nothing !== undefined ? nothing : 'pipe'
  }
  return {
    stdio,
    close() {
      if (nothing !== undefined) closeSync(nothing)
    },
  }
}

/** Fills and reads the pipes of a child that was started with {@link furtherDescriptors}. */
export function serve(
  child: ChildProcess,
  descriptors: ReadonlyMap<number, ChildDescriptor>,
): void {
  const streams: readonly unknown[] = child.stdio
  for (const [number, descriptor] of descriptors) {
    if (descriptor === 'nothing') continue
    const stream = streams[number]
    if ('holds' in descriptor) {
      if (!(stream instanceof Writable)) continue
      stream.on('error', () => undefined)
      stream.end(descriptor.holds)
    } else if (stream instanceof Readable) {
      let text = ''
      stream.on('error', () => undefined)
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1')
        descriptor.tells(text)
      })
    }
  }
}
