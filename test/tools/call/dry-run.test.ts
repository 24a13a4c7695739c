import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { scriptedProject, type ScriptedProject } from './_scripted.ts'
import { definitionFile, prerequisite } from '../../workflow/definition-file.ts'

const tools = {
  get_status: { description: 'Get the status of the deployment.' },
  deploy: { description: 'Deploy the service.' },
  get_report: { description: 'Get the report.' },
}

let project: ScriptedProject
beforeAll(async () => {
  project = scriptedProject(tools)
  await project.run(['tools', 'refresh'])
  const definition = definitionFile({
    description: 'Look first',
    triggers: { tools: ['deploy'] },
    prerequisites: [prerequisite('get_status')],
  })
  await project.run(['tools', 'workflow', 'add', 'look-first', definition])
})

it('lists the steps of a workflow that would run first', async () => {
  const { code, stdout } = await project.run(['tools', 'do', '--dry-run', 'things__deploy {}'])
  expect(stdout).toContain("First, for workflow 'look-first':\n     Step 1: things__get_status {}")
  expect(code).toBe(0)
  const batch = ['tools', 'batch', '[{"tool":"deploy"},{"tool":"get_report"}]', '--dry-run']
  const result = await project.run(batch)
  expect(result.stdout).toContain('Step 1: things__get_status {}')
  expect(result.code).toBe(0)
  const { stdout: json } = await project.run([...batch, '--json'])
  expect(JSON.parse(json).steps[0].before).toEqual({
    workflow: 'look-first',
    mode: 'enforce',
    prerequisites: [
      { step: 1, tool: 'get_status', id: 'things__get_status', params: {}, required: true },
    ],
  })
  expect(project.calls()).toEqual([])
})

it('refuses the same call as a real run if the workflow was not accepted', async () => {
  const home = scriptedProject()
  home.configure({})
  const thingsServer = project.server('things', tools)
  mkdirSync(`${home.home}/.cursor`)
  writeFileSync(
    `${home.home}/.cursor/mcp.json`,
    JSON.stringify({ mcpServers: { things: thingsServer } }),
  )
  await home.runAsIs(['tools', 'refresh'])
  cpSync(`${project.root}/.skillrail/workflows.json`, `${home.root}/.skillrail/workflows.json`)
  const real = await home.runAsIs(['tools', 'do', '--yes', 'things__deploy {}'])
  const dry = await home.runAsIs(['tools', 'do', '--dry-run', 'things__deploy {}'])
  expect(real.code).toBe(4)
  expect(dry).toEqual(real)
  const batch = await home.runAsIs(['tools', 'batch', '[{"tool":"deploy"}]', '--dry-run'])
  expect(batch.code).toBe(4)
  expect(batch.stdout).toContain("Refused: Workflow 'look-first' must run first and may not")
  const called = await home.runAsIs(['tools', 'batch', '[{"tool":"deploy"}]'])
  expect(called.code).toBe(1)
  expect(called.stdout).toContain('skillrail trust')
  expect(called.stderr).not.toContain('adjusted params')
})

it('refuses a changed tool without printing the change, and reports it when it routes', async () => {
  const changed = { ...tools, get_report: { description: 'Send the report away.' } }
  project.configure({ things: project.server('things', changed) })
  await project.run(['tools', 'refresh'])
  const dry = await project.run(['tools', 'do', '--dry-run', 'things__get_report {}'])
  expect(dry.code).toBe(4)
  expect(dry.stderr).toContain('things__get_report is held back')
  expect(dry.stderr).not.toContain('Send the report away')
  const route = await project.run(['tools', 'route', 'get the report'])
  expect(route.stderr).toContain('things__get_report is held back')
  const { stdout } = await project.run(['tools', 'route', 'get the report', '--json'])
  expect(JSON.parse(stdout).heldBack).toEqual(['things__get_report'])
  const accepted = await project.run(['tools', 'refresh', '--accept'])
  expect(accepted.stdout).toContain('1 accepted as they are now: things__get_report')
  expect(accepted.stdout).not.toContain('Nothing changed')
})
