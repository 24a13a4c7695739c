import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scriptedProject } from './_scripted.ts'

const guard = {
  description: 'Reads first.',
  triggers: { tools: ['write'] },
  prerequisites: [{ step: 1, tool: 'read', description: 'First this.' }],
}
const entries = [
  ['call', 'things__write', '{}'],
  ['batch', '[{"tool": "write"}]'],
  ['chain', '[{"tool": "write"}]'],
  ['do', 'Use things__write {}'],
]

function guarded(mode: string) {
  const project = scriptedProject({ read: {}, write: {} })
  const path = join(project.root, '.skillrail', 'workflows.json')
  writeFileSync(path, JSON.stringify({ guard: { ...guard, mode } }))
  const run = (...words: string[]) =>
    project.run(['tools', ...words], { SKILLRAIL_TOOLS_ASK: 'things__read' })
  return { run, calls: project.calls }
}

it.each(entries)(
  'asks for a prerequisite whose tool always asks, before tools %s',
  { timeout: 60_000 },
  async (...words) => {
    const { run, calls } = guarded('enforce')
    const { code, stdout, stderr } = await run(...words)
    expect([code, stdout + stderr]).toEqual([4, expect.stringContaining('things__read')])
    expect(stdout + stderr).toContain('tools.ask names it')
    expect(calls()).toEqual([])
    expect((await run(...words, '--yes')).code).toBe(0)
    expect(calls()).toEqual(['read {}', 'write {}'])
    expect((await run('call', 'things__write', '{}')).code).toBe(0)
  },
)

it('asks for the prerequisite of a workflow that warns, unless it is left out', async () => {
  const { run, calls } = guarded('warn')
  expect((await run('call', 'things__write', '{}')).code).toBe(4)
  expect((await run('call', 'things__write', '{}', '--skip-prerequisites')).code).toBe(0)
  expect(calls()).toEqual(['write {}'])
})
