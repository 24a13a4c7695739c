// Measures the CPU time in which the index of a project's tools is loaded from a warm cache, in this
// process: the first load of a process that has never loaded one, and the median of later ones. TOOLS sets the number of tools (default 500) of 10
// servers, ROUNDS the loads (default 50).
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { systemRuntime } from '../../src/core/runtime.ts'
import { loadToolIndex } from '../../src/tools/cache/tool-index.ts'
import { toolCachePath } from '../../src/tools/cache/stored-tools.ts'
import { refreshToolIndex } from '../../src/tools/cache/refresh.ts'
import { benchTools, serverNames } from './_tools.mjs'

const count = Number(process.env.TOOLS ?? 500)
const rounds = Number(process.env.ROUNDS ?? 50)

const base = mkdtempSync(path.join(tmpdir(), 'skillrail-bench-'))
try {
  const project = path.join(base, 'project')
  const runtime = systemRuntime({ env: {}, cwd: project, home: path.join(base, 'home') })
  const tools = benchTools(count)
  await refreshToolIndex({
    project,
    runtime,
    pool: { list: () => Promise.resolve({ tools, failures: [] }) },
    servers: serverNames.map((name) => ({ name, digest: `sha256:${name}`, trusted: true })),
  })
  const first = load()
  const times = Array.from({ length: rounds }, load).toSorted((a, b) => a - b)
  const size = statSync(toolCachePath(project)).size
  console.log(
    `${count} tools of ${serverNames.length} servers, cache ${Math.round(size / 1000)} KB`,
  )
  console.log(`first load  ${first.toFixed(1)} ms`)
  console.log(`median      ${times[Math.floor(rounds / 2)].toFixed(1)} ms of ${rounds}`)

  function load() {
    const before = process.cpuUsage()
    const { index, state } = loadToolIndex({ project, runtime })
    const { user, system } = process.cpuUsage(before)
    const time = (user + system) / 1000
    if (state !== 'fresh' || index?.tools.length !== count) throw new Error('not loaded')
    return time
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}
