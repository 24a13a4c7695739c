// Measures the session file: reading it, asking it and writing to it, in process, while it holds the
// work of a long day. Reads stand before every call of a tool and must stay below 10 ms. ROUNDS sets
// the rounds (default 200). The floor is `JSON.parse` of the same file, read with `readFileSync`.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { systemRuntime } from '../../src/core/runtime.ts'
import { openSession } from '../../src/tools/workflow/session.ts'
import { median } from './_measure.mjs'

const settings = { state: { directory: '' }, tools: { sessionHours: 24 } }
const rounds = Number(process.env.ROUNDS ?? 200)
const project = mkdtempSync(path.join(tmpdir(), 'skillrail-bench-'))
try {
  for (const count of [4, 100, 1000]) await measure(count)
} finally {
  rmSync(project, { recursive: true, force: true })
}

async function measure(count) {
  const runtime = systemRuntime({ env: {}, home: project })
  const session = openSession({ project, runtime, settings, id: `of-${count}` })
  const changes = Array.from({ length: count }, (_, index) => ({
    kind: 'record',
    workflow: `workflow-${index % 10}`,
    tool: `tool_${Math.floor(index / 10) % 20}`,
    scope: { server: 'db', database: 'shop', tables: [`table_${index}`] },
    result: 'a result of ordinary length, as a server summarises it, cut where it is too long',
  }))
  await session.change(changes)
  const { scope } = changes[0]
  const times = {
    'JSON.parse of the file': [],
    read: [],
    isValid: [],
    record: [],
  }
  for (let round = 0; round < rounds; round++) {
    await time(times['JSON.parse of the file'], () =>
      JSON.parse(readFileSync(session.path, 'utf8')),
    )
    await time(times.read, () => session.read())
    await time(times.isValid, () => session.isValid('workflow-0', 'tool_0', scope))
    if (round % 10 === 0) {
      await time(times.record, () => session.record('workflow-0', 'tool_0', scope, String(round)))
    }
  }
  const size = (statSync(session.path).size / 1024).toFixed(0)
  console.log(`${count} finished prerequisites (${size} KiB), ${rounds} rounds`)
  for (const [name, samples] of Object.entries(times)) {
    const worst = samples.toSorted((a, b) => a - b)[Math.ceil(samples.length * 0.99) - 1]
    console.log(
      `  ${name.padEnd(24)} ${median(samples).toFixed(2).padStart(7)} ms ${worst.toFixed(2).padStart(7)} ms (99 %)`,
    )
  }
}

async function time(samples, work) {
  const start = performance.now()
  await work()
  samples.push(performance.now() - start)
}
