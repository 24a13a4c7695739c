import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Runtime } from '../../../src/core/runtime.ts'
import type { CallGate } from '../../../src/tools/call/context.ts'
import { projectGate } from '../../../src/tools/call/gate.ts'
import type { ToolSummary } from '../../../src/tools/model.ts'
import { collectActingParts } from '../../../src/trust/acting-parts.ts'
import { acceptPlacements } from '../../../src/trust/accept-edit.ts'
import { TrustStore } from '../../../src/trust/store.ts'
import { loadWorkflows } from '../../../src/tools/workflow/read-workflows.ts'
import { openSession } from '../../../src/tools/workflow/session.ts'
import type { WorkflowReading } from '../../../src/tools/workflow/model.ts'
import { runtimeIn, temporaryDirectory, writeFiles } from '../../trust/_project.ts'
import { settings } from '../../workflow/helpers.ts'

const tool = { id: 'db__write', server: 'db', name: 'write', description: '' }
const call = { tool: { ...tool, inputSchema: {} }, params: {} }

function summary(name: string): ToolSummary {
  return { id: `db__${name}`, server: 'db', name, description: '', parameters: [], required: [] }
}

/** The gate of a project, with its workflows as they are now or as they were read. */
function gateOf(
  project: string,
  runtime: Runtime,
  { workflows, diagnostics }: WorkflowReading = loadWorkflows(project),
  workspaceTrust: 'ask' | 'trusted' = 'ask',
): CallGate {
  return projectGate({
    project,
    runtime,
    workspaceTrust,
    workflows,
    diagnostics,
    session: openSession({ runtime, project, settings }),
    index: () => ({ tools: ['read', 'write', 'drop'].map(summary), definition: () => undefined }),
    failures: () => [],
    note: () => {},
  })
}

interface Case {
  file?: string
  /** The step that the file names while it is loaded; before and after it is `read`. */
  loaded?: string
  /** The length of the description, which makes the file longer. */
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
  await new TrustStore(runtime).accept(project, collectActingParts(project, []))
  write(loaded)
  const { workflows, diagnostics } = loadWorkflows(project)
  expect({ workflows, diagnostics }).toMatchObject({ workflows: [{}], diagnostics: [] })
  write('read')
  return await gateOf(project, runtime, { workflows, diagnostics }).foresee?.(call)
}

const places = ['.skillrail/workflows.json', '.skillrail/tools.json'].flatMap((file) =>
  [10, 100_000].map((length) => ({ file, length })),
)

it.each(places)('runs workflows that were loaded as accepted: $file, $length', async (place) => {
  const { prerequisites } = (await foreseen(place)) ?? {}
  expect(prerequisites).toMatchObject([{ id: 'db__read' }])
})

it.each(places)(
  'runs no other workflows, even if the accepted bytes return: $file, $length',
  async (place) => {
    await expect(foreseen({ ...place, loaded: 'drop' })).rejects.toMatchObject({
      code: 'workflow-not-trusted',
      message: expect.stringContaining('is not what was accepted'),
    })
  },
)

it.each(['ask', 'trusted'] as const)(
  'calls tools of a project without workflows if the text of their categories was not kept (%s)',
  async (workspaceTrust) => {
    const root = temporaryDirectory()
    const [project, runtime] = [join(root, 'project'), runtimeIn(root)]
    const path = join(project, '.skillrail/tools.json')
    // A text that looks like a secret is never kept.
    const tools = [{ id: 'db__secret' }, { id: 'db__write' }]
    const after = JSON.stringify({ categories: { db: { tools } } })
    const store = new TrustStore(runtime)
    await store.accept(project, [])
    writeFiles(project, { '.skillrail/tools.json': after })
    await acceptPlacements(store, { workspace: project, path, before: '', after })
    expect(store.find(project)?.parts.map(({ kind }) => kind)).toEqual(['category'])
    const gate = gateOf(project, runtime, loadWorkflows(project), workspaceTrust)
    await expect(gate.foresee?.(call)).resolves.not.toThrow()
  },
)

describe('a workflow that was accepted', () => {
  const guard = {
    description: 'Reads first.',
    triggers: { tools: ['write'] },
    prerequisites: [{ step: 1, tool: 'read', description: 'First this.' }],
    mode: 'enforce',
  }
  const file = '.skillrail/workflows.json'

  /** The result of a call after the files of a project have changed. */
  async function afterwards(
    change: (project: string) => void,
    definition: object = guard,
    name = 'write',
    workspaceTrust: 'ask' | 'trusted' = 'ask',
  ): Promise<unknown> {
    const root = temporaryDirectory()
    const project = join(root, 'project')
    const runtime = runtimeIn(root)
    writeFiles(project, { [file]: JSON.stringify({ guard: definition }) })
    await new TrustStore(runtime).accept(project, collectActingParts(project, []))
    change(project)
    const gate = gateOf(project, runtime, loadWorkflows(project), workspaceTrust)
    const request = { ...call, tool: { ...call.tool, id: `db__${name}`, name } }
    const foreseen = gate.foresee?.(request).then(() => 'passes', codeOf)
    const signal = new AbortController().signal
    const passed = gate
      .pass({ ...request, instance: 'a', signal }, () => Promise.reject(new Error('a step ran')))
      .then(() => 'passes', codeOf)
    expect(await passed).toBe(await foreseen)
    return await foreseen
  }
  const codeOf = (error: unknown): unknown =>
    error instanceof Error && 'code' in error ? error.code : error

  const elsewhere = { other: { ...guard, triggers: { tools: ['drop'] } } }
  it.each([
    ['the file is removed', (project: string) => rmSync(join(project, file))],
    ['the file is emptied', (project: string) => writeFiles(project, { [file]: '{}' })],
    [
      'another took its place',
      (project: string) => writeFiles(project, { [file]: JSON.stringify(elsewhere) }),
    ],
    [
      'it only suggests now',
      (project: string) =>
        writeFiles(project, { [file]: JSON.stringify({ guard: { ...guard, mode: 'suggest' } }) }),
    ],
    [
      'it is switched off',
      (project: string) =>
        writeFiles(project, { [file]: JSON.stringify({ guard: { ...guard, enabled: false } }) }),
    ],
  ])('stops only its calls when %s', async (_, change) => {
    expect(await afterwards(change)).toBe('workflow-not-trusted')
    expect(await afterwards(change, guard, 'read')).toBe('passes')
    // `--trust-workspace` allows what the project has. It does not lift what was accepted.
    expect(await afterwards(change, guard, 'write', 'trusted')).toBe('workflow-not-trusted')
    expect(await afterwards(change, guard, 'read', 'trusted')).toBe('passes')
  })

  it('is not replaced by a workflow with its name in an earlier file', async () => {
    const root = temporaryDirectory()
    const project = join(root, 'project')
    const runtime = runtimeIn(root)
    const cache = { version: 1, categories: {}, workflows: { guard } }
    writeFiles(project, { '.skillrail/tools.json': JSON.stringify(cache) })
    await new TrustStore(runtime).accept(project, collectActingParts(project, []))
    writeFiles(project, { [file]: JSON.stringify({ guard: { ...guard, mode: 'suggest' } }) })
    await expect(gateOf(project, runtime).foresee?.(call)).rejects.toMatchObject({
      code: 'workflow-not-trusted',
    })
  })

  it.each([
    ['only suggests', { mode: 'suggest' }],
    ['has no step', { prerequisites: [] }],
    [
      'has a step that is not there',
      { prerequisites: [{ step: 1, tool: 'nowhere', description: 'No.', required: false }] },
    ],
    ['asks', { mode: 'warn' }],
  ])('is not replaced by one that was inserted before it and %s', async (_, change) => {
    const before = { aaa: { ...guard, ...change }, guard }
    const overtake = (project: string): void =>
      writeFiles(project, { [file]: JSON.stringify(before) })
    expect(await afterwards(overtake)).toBe('workflow-not-trusted')
  })

  it('that only suggested can be removed', async () => {
    const suggests = { ...guard, mode: 'suggest' }
    expect(await afterwards((project) => rmSync(join(project, file)), suggests)).toBe('passes')
  })

  it('without a stored text closes the gate when its file changes', async () => {
    const long = { ...guard, description: 'x'.repeat(100_000) }
    const remove = (project: string): void => rmSync(join(project, file))
    expect(await afterwards(remove, long, 'read')).toBe('workflow-not-trusted')
    expect(await afterwards(() => {}, long, 'read')).toBe('passes')
  })
})
