/** Fuzzes one target in a thread of its own until the time is up; started by `fuzz.mjs`. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { runGuided } from '../test/fuzz/_guided.ts'
import { randomFrom } from '../test/skill/_fuzz-text.ts'

const { bundle, counters, branches, literals, seconds, corpus, finds, seed, state, input } =
  workerData
const counted = new Uint8Array(branches)
globalThis[counters] = counted
const { name, seeds, words, fuzz, readings = 1 } = await import(bundle)
const slow = workerData.slow * readings
mkdirSync(corpus, { recursive: true })
mkdirSync(finds, { recursive: true })
const known = readdirSync(corpus).map((file) => readFileSync(path.join(corpus, file)))
const reached = new Uint8Array(branches)
const seen = new Set()
const maxFinds = 10
/** The words of the language as often as those of the code, which are many. */
const often = Array.from({ length: Math.ceil(literals.length / words.length) }, () => words).flat()
const end = performance.now() + seconds * 1000

const own = seeds.map((text) => Buffer.from(text))

runGuided({
  fuzz: timed,
  seeds: [...own, ...known],
  lengthened: own,
  words: [...often, ...literals].map((text) => Buffer.from(text)),
  counters: counted,
  random: randomFrom(seed),
  goesOn: () => performance.now() < end && seen.size < maxFinds,
  onStart(data) {
    input.set(data.subarray(0, input.length))
    state[1] = Math.min(data.length, input.length)
    state[0]++
    state[2] = 1
  },
  onNew(data) {
    counted.forEach((count, index) => {
      if (count > 0) reached[index] = 1
    })
    writeFileSync(path.join(corpus, digest(data)), data)
  },
  onFind: ({ data, error }) => found(data, error),
})
state[2] = 0
tell({ kind: 'end', reached: reached.reduce((sum, bit) => sum + bit, 0) })

function timed(data) {
  // Once may be the compiler or the collector of garbage.
  if (milliseconds(data) > slow && milliseconds(data) > slow) {
    throw new Error(`slow: it takes more than ${slow} ms`)
  }
}

/** Of the processor: others may be at work on this machine. */
function milliseconds(data) {
  const before = process.threadCpuUsage()
  fuzz(data)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

function found(data, error) {
  const what = error instanceof Error ? error : new Error(String(error))
  const key = keyOf(what)
  if (seen.has(key)) return
  seen.add(key)
  const small = key.startsWith('Error: slow') ? data : smaller(data, key)
  const file = path.join(finds, `${name}-${digest(small)}`)
  writeFileSync(file, small)
  const stack = (what.stack ?? '').split('\n').slice(0, 6).join('\n')
  tell({ kind: 'find', file, stack: stack.slice(0, 2000) })
}

function tell(message) {
  parentPort.postMessage(message, [])
}

/** What is the same find again: the words before the facts, and the line that threw. */
function keyOf({ name: kind, message, stack = '' }) {
  const words = message.split('\n')[0].split(': ')[0].replaceAll(/\d+/g, '#')
  const line = kind === 'RangeError' ? '' : /\n\s+at (\S+)/.exec(stack.replace(message, ''))?.[1]
  return `${kind}: ${words.slice(0, 80)} ${line ?? ''}`
}

/** The input without what is not needed for the same find. */
function smaller(data, key) {
  let best = Buffer.from(data)
  const until = performance.now() + 3000
  for (let size = best.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < best.length && performance.now() < until;) {
      const shorter = Buffer.concat([best.subarray(0, at), best.subarray(at + size)])
      if (throwsSame(shorter, key)) best = shorter
      else at += size
    }
  }
  return best
}

function throwsSame(data, key) {
  try {
    fuzz(data)
    return false
  } catch (error) {
    return error instanceof Error && keyOf(error) === key
  }
}

function digest(data) {
  return createHash('sha256').update(data).digest('hex').slice(0, 16)
}
