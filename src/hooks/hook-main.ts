import { readSync } from 'node:fs'
import { systemCode } from '#core/errors'
import { parseJson } from '#core/json'
import { systemRuntime } from '#core/runtime'
import { writeAll } from '#core/write-files'
import { isPlatform, platforms } from './adapters.ts'
import { runHook } from './run-hook.ts'

const [major = 0] = process.versions.node.split('.').map(Number)
const [platform = '', ...rest] = process.argv.slice(2)
const isPart = (text: string): boolean => /^\d+\/\d+$/.test(text)
const [number = 1, of = 1] = (rest.find(isPart) ?? '1/1').split('/').map(Number)
const event = rest.find((text) => !isPart(text))

/** Without the clock of `performance`, which would have to be loaded. */
const runtime = systemRuntime({
  elapsed: () => {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1_000_000
  },
})

if (major < 20) {
  complain(`the hook needs Node 20 or newer; this is ${process.version} (${process.execPath})`)
} else if (isPlatform(platform)) {
  const request = { platform, part: { number, of }, event, input: readInput(), runtime }
  void runHook(request).then(({ stdout, stderr }) => {
    if (stderr !== '') write(2, stderr)
    if (stdout !== '') write(1, stdout)
    // Everything is written: an orderly shutdown would take a tenth of the time.
    process.exit(0)
  })
} else {
  complain(`${platform || 'nothing'} is not a client; the clients are ${platforms.join(', ')}`)
}

/** Reads standard input to its end, or to the end of the JSON where the client keeps it open. */
function readInput(): string {
  const chunks: Buffer[] = []
  const buffer = Buffer.allocUnsafe(1 << 16)
  for (;;) {
    const count = readSome(buffer)
    if (count === 0) break
    chunks.push(Buffer.from(buffer.subarray(0, count)))
    if (count < buffer.length && isWhole(chunks)) break
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** 0 at the end. A descriptor that does not wait is asked again and again, with pauses. */
function readSome(buffer: Buffer): number {
  for (;;) {
    try {
      return readSync(0, buffer)
    } catch (error) {
      if (systemCode(error) !== 'EAGAIN') return 0
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
  }
}

function isWhole(chunks: readonly Buffer[]): boolean {
  const text = Buffer.concat(chunks).toString('utf8')
  return /\}\s*$/.test(text.slice(-16)) && parseJson(text) !== undefined
}

function complain(message: string): void {
  write(2, `skillrail: ${message}\n`)
}

/** A client that has ended is not an error. */
function write(descriptor: number, text: string): void {
  try {
    writeAll(descriptor, Buffer.from(text))
  } catch {}
}
