// Measures the CPU of `skillrail tools route` as a whole process, from a warm cache, beside a bare
// start of the same Node. TOOLS sets the number of tools (default 500) of 10 servers, ROUNDS the
// rounds (default 20).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { systemRuntime } from '../../src/core/runtime.ts'
import { refreshToolIndex } from '../../src/tools/cache/refresh.ts'
import { interleave } from './_measure.mjs'
import { benchTools, serverNames } from './_tools.mjs'

const count = Number(process.env.TOOLS ?? 500)
const rounds = Number(process.env.ROUNDS ?? 20)
const program = path.resolve(import.meta.dirname, '../../dist/cli/bin.cjs')
const base = mkdtempSync(path.join(tmpdir(), 'skillrail-bench-'))
try {
  const home = path.join(base, 'home')
  const tools = benchTools(count)
  await refreshToolIndex({
    project: base,
    runtime: systemRuntime({ env: {}, cwd: base, home }),
    pool: { list: () => Promise.resolve({ tools, failures: [] }) },
    servers: serverNames.map((name) => ({ name, digest: `sha256:${name}`, trusted: true })),
  })
  const directories = { XDG_CACHE_HOME: '', XDG_STATE_HOME: '', XDG_CONFIG_HOME: '' }
  const results = interleave(
    {
      'node -e 0': [process.execPath, '-e', '0'],
      'tools route': [process.execPath, program, 'tools', 'route', 'get the latest invoice'],
    },
    { base: 'node -e 0', rounds, cwd: base, env: { HOME: home, ...directories } },
  )
  console.log(
    `${count} tools of ${serverNames.length} servers, ${rounds} rounds, Node ${process.version}`,
  )
  for (const { name, cpu, ratio } of results) {
    console.log(`${name.padEnd(12)} ${cpu.toFixed(0).padStart(4)} ms  ${ratio.toFixed(2)}`)
  }
} finally {
  rmSync(base, { recursive: true, force: true })
}
