import { expect, it } from 'vitest'
import { z } from 'zod'
import { offeredTools } from '../../src/mcp/create-server.ts'
import type { ClientCall } from '../../src/mcp/tool.ts'
import { projectAt } from './_in-process.ts'
import { servedProject } from './_served-project.ts'

const project = servedProject('test')

const call: ClientCall = {
  signal: new AbortController().signal,
  connection: { session: undefined, activated: new Set() },
  progress: () => undefined,
  ask: undefined,
}
const found = z.object({
  skills: z.array(z.object({ name: z.string() })),
  omitted: z.array(z.string()),
})

it('lists skills within a budget, and names what it leaves out', async () => {
  for (let count = 0; count < 150; count++) {
    project.skill(`skill-${count}`, `license: ${'x'.repeat(200)}\n`, 'Do it.')
  }
  const tools = offeredTools(projectAt(project.project, project.home))
  const find = tools.find(({ name }) => name === 'find_skills')
  const answer = await find?.run({}, call)
  expect(answer?.text.length).toBeLessThanOrEqual(2000 * 4)
  const { skills, omitted } = found.parse(answer?.value)
  expect(omitted.length).toBeGreaterThan(0)
  expect(skills.length + omitted.length).toBe(150)
})
