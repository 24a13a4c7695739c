import { expect, it } from 'vitest'
import { serverTools } from '../../../src/mcp/server-tools.ts'
import { projectAt } from '../../mcp/_in-process.ts'
import { scriptedProject, type ScriptedProject } from './_scripted.ts'

const tools = {
  erase_notes: { description: 'Erases the notes of a day.' },
  read_notes: { description: 'Reads the notes of a day.' },
}

const id = 'things__erase_notes'

type Denial = (project: ScriptedProject) => Record<string, string>

it.each<[string, Denial]>([
  ['the setting tools.deny', () => ({ SKILLRAIL_TOOLS_DENY: 'erase_*' })],
  [
    'the configuration of its server',
    (project) => {
      const things = { ...project.server('things', tools), disabledTools: ['erase_notes'] }
      project.configure({ things })
      return {}
    },
  ],
])('marks a tool that is denied by %s since the refresh', { timeout: 60_000 }, async (_, deny) => {
  const project = scriptedProject(tools)
  await project.run(['tools', 'refresh'])
  const env = deny(project)
  for (const words of [['list'], ['search', 'notes']]) {
    const { stdout } = await project.run(['tools', ...words, '--json'], env)
    const listed: { id: string; denied?: boolean }[] = JSON.parse(stdout).tools
    expect(listed.filter(({ denied }) => denied).map((tool) => tool.id)).toEqual([id])
  }
  expect((await project.run(['tools', 'list'], env)).stdout).toMatch(/erase_notes +denied/)
  const routed = await project.run(['tools', 'route', 'erase the notes', '--json'], env)
  expect(JSON.parse(routed.stdout).denied).toEqual([id])
  const called = await project.run(['tools', 'call', id], env)
  expect([called.code, project.calls()]).toEqual([4, []])
})

it('tells a model that asks for tools which of them are denied', { timeout: 60_000 }, async () => {
  const project = scriptedProject(tools)
  await project.run(['tools', 'refresh'])
  const things = { ...project.server('things', tools), disabledTools: ['erase_notes'] }
  project.configure({ things })
  const served = projectAt(project.root, project.home)
  const findTools = serverTools(served).find(({ name }) => name === 'find_tools')
  const call = {
    signal: new AbortController().signal,
    connection: { session: undefined, activated: new Set<string>() },
    progress: () => undefined,
    ask: undefined,
  }
  const answer = await findTools?.run({ request: 'erase the notes' }, call)
  await served.servers.close()
  expect(answer?.value).toMatchObject({ denied: [id] })
})
