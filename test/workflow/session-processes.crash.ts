import { spawn } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { openSession } from '../../src/tools/workflow/session.ts'
import { settings, temporaryProject } from './helpers.ts'

const program = new URL('../fixtures/programs/session-writer.ts', import.meta.url).pathname

/** How many records the process acknowledged; it is killed when it has acknowledged `killAt`. */
function write(project: string, name: string, count: number, killAt = Infinity): Promise<number> {
  const child = spawn(process.execPath, [program, project, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let lines = 0
  child.stdout.on('data', (chunk: Buffer) => {
    lines += chunk.toString().split('\n').length - 1
    if (lines >= killAt) child.kill('SIGKILL')
  })
  return new Promise((resolve) => child.on('close', () => resolve(lines)))
}

it('loses no write of 8 processes with 200 writes each when some of them are killed', async () => {
  const project = temporaryProject()
  const names = Array.from({ length: 8 }, (_, index) => `process-${index}`)
  const killed = [30, 77, 120]
  const acknowledged = await Promise.all([
    ...names.map((name) => write(project, name, 200)),
    ...killed.map((at) => write(project, `killed-${at}`, 200, at)),
  ])
  const runtime = systemRuntime({ env: {}, home: project })
  const session = openSession({ project, runtime, settings })
  const { state, diagnostics } = await session.read()
  expect(diagnostics).toEqual([])
  expect(acknowledged.slice(0, 8)).toEqual(Array(8).fill(200))
  const recorded = [...names, ...killed.map((at) => `killed-${at}`)].map(
    (name) => state.completed.filter((one) => one.workflow === name).length,
  )
  expect(recorded.slice(0, 8)).toEqual(Array(8).fill(200))
  for (const [index, at] of killed.entries()) {
    const acknowledgedCount = acknowledged[8 + index] ?? 0
    expect(acknowledgedCount).toBeGreaterThanOrEqual(at)
    expect(recorded[8 + index]).toBeGreaterThanOrEqual(acknowledgedCount)
  }
  const { calls, diagnostics: torn } = await session.calls()
  expect(torn).toEqual([])
  expect(calls.filter(({ tool }) => tool.startsWith('process-'))).toHaveLength(1600)
  expect(statSync(session.path).mode & 0o777).toBe(0o600)
  expect(statSync(session.logPath).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(session.path)).filter((file) => file.endsWith('.lock'))).toEqual([])
}, 180_000)
