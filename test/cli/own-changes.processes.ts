import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type ServerProject, serverProject } from '../fixtures/server-project.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'
import { definitionFile, prerequisite } from '../workflow/definition-file.ts'

let project: ServerProject

const workflows = (): string => join(project.root, '.skillrail', 'workflows.json')
const cache = (): string => join(project.root, '.skillrail', 'tools.json')

const cli = (...args: string[]): Promise<CliResult> =>
  runInProcess(args, { cwd: project.root, home: project.home })

/** Writes a file of the project as its changed value, as anybody who can change a project does. */
function rewrite(path: string, change: (value: Record<string, object>) => void): void {
  const value: Record<string, object> = JSON.parse(readFileSync(path, 'utf8'))
  change(value)
  writeFileSync(path, JSON.stringify(value, undefined, 2))
}

const prerequisites = [prerequisite('get_status')]
const own = [
  'tools',
  'workflow',
  'add',
  'own',
  definitionFile({ triggers: { tools: ['deploy'] }, prerequisites }),
]
const call = ['tools', 'call', 'things__deploy']

const tools = { deploy: {}, get_status: {} }

beforeEach(() => {
  project = serverProject()
  const things = project.scripted('things', tools)
  mkdirSync(join(project.home, '.cursor'))
  writeFileSync(
    join(project.home, '.cursor', 'mcp.json'),
    JSON.stringify({ mcpServers: { things } }),
  )
})

describe.each(['in a trusted project', 'in one that nobody trusted'])('%s', (place) => {
  beforeEach(async () => {
    if (place === 'in a trusted project') await cli('trust', '--yes')
    await cli('tools', 'refresh')
  })

  it('accepts a workflow that the user adds with --yes', async () => {
    expect((await cli(...own, '--yes')).stderr).not.toContain('skillrail trust')
    expect(await cli(...call)).toMatchObject({ code: 0 })
    expect(project.calls()).toHaveLength(2)
    expect((await cli('tools', 'workflow', 'list')).stderr).not.toContain('refused')
  })

  it('leaves a workflow unaccepted without --yes and without a terminal', async () => {
    expect((await cli(...own)).stderr).toContain('skillrail trust')
    expect(await cli(...call)).toMatchObject({ code: 4 })
  })

  it("accepts the user's changes one after the other", async () => {
    await cli(...own, '--yes')
    const { root: cwd, home } = project
    const env = { EDITOR: 'sed -i s/enforce/warn/' }
    await runInProcess(['tools', 'workflow', 'edit', 'own', '--yes'], { cwd, home, env })
    expect(await cli(...call)).toMatchObject({ code: 0 })
    await cli('tools', 'workflow', 'disable', 'own', '--yes')
    await cli('tools', 'workflow', 'remove', 'own', '--yes')
    expect(await cli(...call)).toMatchObject({ code: 0 })
  })

  it('does not accept what somebody else wrote into the file', async () => {
    await cli(...own, '--yes')
    rewrite(workflows(), (value) => {
      value['foreign'] = { ...value['own'], triggers: { tools: ['get_status'] } }
      value['own'] = { ...value['own'], mode: 'suggest' }
    })
    const more = definitionFile({ triggers: { tools: ['other'] }, prerequisites })
    await cli('tools', 'workflow', 'add', 'more', more, '--yes')
    const { code, stderr } = await cli(...call)
    expect(code).toBe(4)
    expect(stderr).toContain("Workflow 'own' must run first")
    const shown = await cli('trust', '--dry-run')
    expect(shown.stdout).toContain('workflows.json')
  })

  it('trusts nothing else in the project', async () => {
    project.configure({ others: project.scripted('others', tools) })
    await cli(...own, '--yes')
    const { code, stderr } = await cli('tools', 'call', 'others__deploy')
    expect(code).toBe(4)
    expect(stderr).toContain('Not started: others')
  })
})

describe('a workflow for a category', () => {
  beforeEach(async () => {
    await cli('tools', 'refresh')
    rewrite(cache(), (value) => {
      const all = { description: 'Ships.', keywords: [], tools: [{ id: 'things__deploy' }] }
      value['categories'] = { shipping: all }
      value['uncategorized'] = [{ id: 'things__get_status' }]
    })
    const shipping = definitionFile({ triggers: { category: 'shipping' }, prerequisites })
    await cli('tools', 'workflow', 'add', 'own', shipping)
    await cli('trust', '--yes')
  })

  it.each([
    [
      'moves to another category',
      (value: object) => JSON.stringify(value).replace('shipping', 'x'),
    ],
    ['is in none', (value: object) => JSON.stringify({ ...value, categories: {} })],
  ])('still applies to its tool if the tool %s, and reports that', async (_how, change) => {
    expect(await cli(...call)).toMatchObject({ code: 0 })
    const before = project.calls().length
    writeFileSync(cache(), change(JSON.parse(readFileSync(cache(), 'utf8'))))
    const { code, stderr } = await cli(...call, '--session', 'other')
    expect(code).toBe(4)
    expect(stderr).toContain('things__deploy was in the category shipping')
    expect(stderr).toContain('skillrail trust')
    expect(project.calls()).toHaveLength(before)
    expect((await cli('trust', '--dry-run')).stdout).toContain('category .skillrail/tools.json')
    await cli('trust', '--yes')
    expect(await cli(...call, '--session', 'other')).toMatchObject({ code: 0 })
    expect(project.calls()).toHaveLength(before + 1)
  })

  it('still applies if another cache replaces the accepted one', async () => {
    mkdirSync(join(project.root, '.opencode'))
    const other = readFileSync(cache(), 'utf8').replace('shipping', 'x')
    writeFileSync(join(project.root, '.opencode', 'agent-skill-tools.json'), other)
    expect(await cli(...call)).toMatchObject({ code: 4 })
    rmSync(join(project.root, '.opencode'), { recursive: true })
    expect(await cli(...call)).toMatchObject({ code: 0 })
  })

  it('still applies after the user refreshes a cache in another place', async () => {
    writeFileSync(cache(), readFileSync(cache(), 'utf8').replace('shipping', 'x'))
    mkdirSync(join(project.root, '.opencode'))
    await cli('tools', 'refresh')
    expect(await cli(...call)).toMatchObject({ code: 4 })
  })

  it("needs no question after a refresh, which keeps the user's categories", async () => {
    await cli('tools', 'refresh')
    expect(await cli(...call)).toMatchObject({ code: 0 })
    writeFileSync(cache(), readFileSync(cache(), 'utf8').replace('shipping', 'x'))
    await cli('tools', 'refresh')
    expect(await cli(...call)).toMatchObject({ code: 4 })
  })
})
