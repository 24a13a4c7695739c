import { join } from 'node:path'
import { expect, it } from 'vitest'
import { canonicalCategory, projectGate, type ToolSummary } from '../../../src/tools/index.ts'
import { collectActingParts, openTrustStore } from '../../../src/trust/index.ts'
import { loadWorkflows, openSession } from '../../../src/workflow/index.ts'
import { runtimeIn, temporaryDirectory, writeFiles } from '../../trust/_project.ts'

const tool = { id: 'db__write', server: 'db', name: 'write', description: '' }
const call = { tool: { ...tool, inputSchema: {} }, params: {} }

function summary(name: string): ToolSummary {
  return { id: `db__${name}`, server: 'db', name, description: '', parameters: [], required: [] }
}

interface Case {
  file?: string
  /** The step that the file names while it is loaded; before and after it is `read`. */
  loaded?: string
  /** Of the description, which makes the file longer. */
  length?: number
}

/** What comes first, by a gate whose file was the accepted one again at its first use. */
async function foreseen({
  file = '.skillrail/workflows.json',
  loaded = 'read',
  length = 10,
}: Case) {
  const root = temporaryDirectory()
  const project = join(root, 'project')
  const runtime = runtimeIn(root)
  const write = (name: string): void => {
    const guard = {
      description: 'x'.repeat(length),
      triggers: { tools: ['write'] },
      prerequisites: [{ step: 1, tool: name, description: 'First this.' }],
      mode: 'enforce',
    }
    const value = file.endsWith('workflows.json')
      ? { guard }
      : { version: 1, categories: {}, workflows: { guard } }
    writeFiles(project, { [file]: JSON.stringify(value, undefined, 2) })
  }
  write('read')
  await openTrustStore(runtime).accept(project, collectActingParts(project, []))
  write(loaded)
  const { workflows, diagnostics } = loadWorkflows(project, { canonicalCategory })
  expect({ workflows, diagnostics }).toMatchObject({ workflows: [{}], diagnostics: [] })
  write('read')
  const gate = projectGate({
    project,
    runtime,
    workspaceTrust: 'ask',
    workflows,
    diagnostics,
    session: openSession({ runtime, project }),
    index: () => ({ tools: ['read', 'write', 'drop'].map(summary), definition: () => undefined }),
    note: () => {},
  })
  return await gate.foresee?.(call)
}

const places = ['.skillrail/workflows.json', '.skillrail/tools.json'].flatMap((file) =>
  [10, 100_000].map((length) => ({ file, length })),
)

it.each(places)('workflows that were loaded as accepted run: $file, $length', async (place) => {
  const { prerequisites } = (await foreseen(place)) ?? {}
  expect(prerequisites).toMatchObject([{ id: 'db__read' }])
})

it.each(places)(
  'others do not, though the accepted bytes are back: $file, $length',
  async (place) => {
    await expect(foreseen({ ...place, loaded: 'drop' })).rejects.toMatchObject({
      code: 'workflow-not-trusted',
      message: expect.stringContaining('is not what was accepted'),
    })
  },
)
