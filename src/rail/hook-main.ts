import { existsSync, readSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf, systemCode } from '#core/errors'
import { parseJson } from '#core/json'
import { systemRuntime } from '#core/runtime'
import { safeLine } from '#core/text'
import { writeAll } from '#core/write-files'
import { isPlatform, launcherName, type Platform, platforms } from '#hooks/adapters'
import type { HookAnswer } from '#hooks/hook-call'
import { runHook } from '#hooks/run-hook'
import { workflowHook } from '#project/workflow-hook'
import { railHook } from './hook-rail.ts'

const [major = 0] = process.versions.node.split('.').map(Number)
const [platform = '', ...rest] = process.argv.slice(2)
const isPart = (text: string): boolean => /^\d+\/\d+$/.test(text)
const [number = 1, of = 1] = (rest.find(isPart) ?? '1/1').split('/').map(Number)
const event = rest.find((text) => !isPart(text))

if (major < 20) {
  const found = `${process.version} (${process.execPath})`
  complain(`the hook needs Node 20 or newer; this is ${found}`)
  void tellOfOldNode(found)
} else if (isPlatform(platform)) {
  void answer(platform).then(({ stdout, stderr }) => {
    if (stderr !== '') write(2, stderr)
    if (stdout !== '') write(1, stdout)
    // Everything is written. An orderly shutdown would take a tenth of the time.
    process.exit(0)
  })
} else {
  complain(`${platform || 'nothing'} is not a client; the clients are ${platforms.join(', ')}`)
}

/** A client may block a prompt if its hook fails, so every error is only a line on stderr. */
async function answer(client: Platform): Promise<HookAnswer> {
  try {
    const input = readInput()
    const slowness = currentSlowness()
    const runtime = systemRuntime({ elapsed: monotonicMs })
    return await runHook({
      platform: client,
      part: { number, of },
      event,
      input,
      runtime,
      slowness,
      rail: railHook,
      workflows: workflowHook,
    })
  } catch (error) {
    return { stdout: '', stderr: `skillrail: ${safeLine(messageOf(error))}\n` }
  }
}

/** The launcher of a package, beside its folder `hook`, tells the user in the form of each client. */
async function tellOfOldNode(found: string): Promise<void> {
  const launcher = join(dirname(process.argv[1] ?? ''), '..', launcherName)
  if (!existsSync(launcher)) return
  const { spawnSync } = await import('node:child_process')
  spawnSync(launcher, [platform, rest[0] ?? '-', 'old-node', found], { stdio: 'inherit' })
}

/** The time since this process started, relative to the processor time that it got. */
function currentSlowness(): number {
  const { user, system } = process.cpuUsage()
  return Math.max(1, (process.uptime() * 1_000_000) / (user + system))
}

/** Avoids the clock of `performance`, which Node would have to load. */
function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1_000_000
}

/** Reads standard input to its end, or to the end of the JSON if the client keeps stdin open. */
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

/** Returns 0 at the end. Reads a non-blocking descriptor repeatedly, with pauses. */
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
