/**
 * Fuzzes what reads the text of strangers: ten minutes each, guided by the branches that an input
 * reaches, as many at a time as there are processors.
 *
 *   npm run fuzz -- [TARGET ...] [--seconds 600] [--jobs N] [--seed N]
 *
 * All targets of test/fuzz/targets or those named. What is found lies in coverage/fuzz/finds, one
 * file each, and ends it with 1; what reached something new is kept in coverage/fuzz/corpus and used
 * again the next time. An execution that takes the processor more than a second counts as a find; a
 * find of few bytes is also printed, with the command that makes a file of it again.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { deflateRawSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { longestInput } from '../test/fuzz/_guided.ts'
import { instrument } from '../test/fuzz/_instrument.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '600' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const root = path.resolve(import.meta.dirname, '..')
const targets = path.join(root, 'test/fuzz/targets')
const work = path.join(root, 'coverage/fuzz')
const counters = '__branches'
/** Milliseconds of the processor above which an execution is a find. */
const slow = 1000
/**
 * So many looks in a row, a second apart, must find the same execution still running before it is
 * ended. A machine that stood still makes one look late, not many.
 */
const endlessLooks = 20
/** Bytes of a find, deflated, up to which it is printed. */
const maxPrinted = 4096

const all = readdirSync(targets).map((file) => path.basename(file, '.ts'))
const unknown = positionals.filter((name) => !all.includes(name))
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}; the targets are ${all.join(', ')}`)
  process.exit(2)
}
// Before the first of them: the tree may change meanwhile.
const programs = new Map()
const waiting = positionals.length > 0 ? [...new Set(positionals)] : [...all]
for (const name of waiting) programs.set(name, await instrumented(name))
console.log(`seed ${values.seed}`)
let failed = 0
let passed = 0
const row = (...cells) => cells.map((cell, at) => String(cell).padEnd(at === 0 ? 18 : 14)).join('')
console.log(row('target', 'executions', 'a second', 'branches', 'finds'))
await Promise.all(Array.from({ length: Number(values.jobs) }, runWaiting))
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

async function runWaiting() {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const { executions, seconds, reached, branches, finds } = await fuzz(name)
    if (finds.length > 0) failed++
    else passed++
    const rate = Math.round(executions / seconds)
    console.log(row(name, executions, rate, `${reached}/${branches}`, finds.length))
    for (const { file, stack } of finds) {
      console.log(`  ${path.relative(root, file)}\n    ${stack.replaceAll('\n', '\n    ')}`)
      printInput(file)
    }
  }
}

/** What makes the file of a find again, where nobody keeps the file itself. */
function printInput(file) {
  const deflated = deflateRawSync(readFileSync(file), { level: 9 })
  if (deflated.length > maxPrinted) return
  const text = deflated.toString('base64')
  const program = `process.stdout.write(require('zlib').inflateRawSync(Buffer.from('${text}','base64')))`
  console.log(`    node -e "${program}" > ${path.basename(file)}`)
}

async function fuzz(name) {
  const { bundle, branches, literals } = programs.get(name)
  /** Executions that began, bytes of the last, and whether it runs. */
  const progress = new Float64Array(new SharedArrayBuffer(24))
  const input = new Uint8Array(new SharedArrayBuffer(longestInput))
  const finds = []
  const start = performance.now()
  const worker = new Worker(path.join(import.meta.dirname, 'fuzz-worker.mjs'), {
    workerData: {
      bundle,
      counters,
      branches,
      literals,
      slow,
      input,
      state: progress,
      seconds: Number(values.seconds),
      seed: Number(values.seed),
      corpus: path.join(work, 'corpus', name),
      finds: path.join(work, 'finds'),
    },
    // The stack that a program's own thread has.
    resourceLimits: { maxOldGenerationSizeMb: 1024, stackSizeMb: 1 },
  })
  let reached = 0
  const report = (what) => {
    const file = path.join(work, 'finds', `${name}-${what}`)
    writeFileSync(file, input.slice(0, progress[1]))
    finds.push({ file, stack: `${what} while it executed this` })
  }
  await new Promise((resolve) => {
    let [last, looks] = [0, 0]
    const watch = setInterval(() => {
      const isSame = progress[2] === 1 && progress[0] === last
      looks = isSame ? looks + 1 : 0
      last = progress[0]
      if (looks < endlessLooks) return
      report('endless')
      void worker.terminate()
    }, 1000)
    worker.on('message', (message) => {
      if (message.kind === 'find') finds.push(message)
      else reached = message.reached
    })
    worker.on('error', (error) => {
      console.error(error)
      report('died')
    })
    worker.on('exit', () => {
      clearInterval(watch)
      resolve()
    })
  })
  const seconds = (performance.now() - start) / 1000
  return { executions: progress[0], seconds, reached, branches, finds }
}

/** The target with our own code as one module that counts its branches; libraries stay outside. */
async function instrumented(name) {
  const build = await rolldown({
    input: path.join(targets, `${name}.ts`),
    platform: 'node',
    external: (id) => !/^[./#]/.test(id),
  })
  const { output } = await build.generate({ format: 'esm', codeSplitting: false })
  await build.close()
  const { code, next, words } = instrument(output[0].code, 0, counters)
  const bundle = path.join(work, `${name}.mjs`)
  mkdirSync(path.join(work, 'finds'), { recursive: true })
  writeFileSync(bundle, code)
  const literals = words.filter((word) => word.length > 1 && word.length < 24)
  return { bundle, branches: next, literals }
}
