import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { scriptedProject } from './_scripted.ts'

const hanging = { command: process.execPath, args: ['-e', 'setInterval(() => 0, 1000)'] }

describe('a name that no tool has', () => {
  it('does not wait for a server that hangs, and the answer reports that', async () => {
    const project = scriptedProject({ get_thing: {} })
    await project.run(['tools', 'refresh'])
    project.configure({ things: project.server('things', { get_thing: {} }), hangs: hanging })
    const { code, stderr } = await project.run(['tools', 'call', 'nope__x'])
    expect(code).toBe(3)
    expect(stderr).toContain('Asking 2 servers for their tools')
    expect(stderr).toContain('Not asked: The server hangs gave no answer within 5 s')
    expect(stderr).toContain('Tool not found: nope__x')
  })

  it('gets a hint to search instead of a suggestion if no name is similar', async () => {
    const project = scriptedProject({ get_thing: {}, make_other: {} })
    await project.run(['tools', 'refresh'])
    const { code, stderr } = await project.run(['tools', 'call', 'xqzwv'])
    expect(code).toBe(3)
    expect(stderr).not.toContain('Suggestions')
    expect(stderr).toContain('No name is near; skillrail tools search looks by meaning.')
  })
})

describe('a name in another spelling', () => {
  const project = scriptedProject({ get_thing: {}, 'Get-Thing': {}, List_Things: {} })

  it('is not a tool if several have a similar spelling', async () => {
    await project.run(['tools', 'refresh'])
    const { code, stderr } = await project.run(['tools', 'call', 'things__get-thing'])
    expect(code).toBe(3)
    expect(stderr).toContain('things__Get-Thing')
    expect(stderr).toContain('things__get_thing')
    expect(project.calls()).toEqual([])
    expect((await project.run(['tools', 'call', 'things__get_thing'])).code).toBe(0)
    expect(project.calls()).toEqual(['get_thing {}'])
  })

  it('is accepted with a note if only one tool matches', async () => {
    const { code, stderr } = await project.run(['tools', 'call', 'list_things'])
    expect(code).toBe(0)
    expect(stderr).toContain('There is no tool list_things; things__List_Things was taken')
  })
})

describe('files that cannot be read', () => {
  it('are named once with their line if they contain the servers', async () => {
    const project = scriptedProject({ get_thing: {} })
    await project.run(['tools', 'refresh'])
    writeFileSync(join(project.root, '.mcp.json'), '{"mcpServers": {\n  "a": {,}\n}}')
    const { code, stderr } = await project.run(['tools', 'call', 'nope'])
    expect(code).toBe(1)
    expect(stderr).toContain(`because ${join(project.root, '.mcp.json')}:2 cannot be read`)
    expect(stderr.match(/it is not JSON/g)).toHaveLength(1)
    expect(stderr).not.toContain('No MCP server is configured')
    const result = await project.run(['tools', 'call', 'get_thing'])
    expect(result.code).toBe(1)
    expect(result.stderr.match(/it is not JSON/g)).toHaveLength(1)
  })

  it('are named if they are a tool cache with workflows', async () => {
    const project = scriptedProject({ get_thing: {} })
    const cache = join(project.root, '.skillrail', 'tools.json')
    await project.run(['tools', 'refresh'])
    writeFileSync(cache, '{"workflows": {},\n oops')
    const { code, stderr } = await project.run(['tools', 'call', 'get_thing'])
    expect(code).toBe(4)
    expect(stderr).toContain(`the tool cache ${cache}:2 cannot be read`)
    expect(stderr).toContain('skillrail tools refresh')
    expect(stderr).not.toContain('workflow check')
    expect(project.calls()).toEqual([])
    await project.run(['tools', 'refresh'])
    expect((await project.run(['tools', 'call', 'get_thing'])).code).toBe(0)
  })
})

it('asks for trust before it reports that a tool to plan for does not exist', async () => {
  const project = scriptedProject({ deploy: {} })
  const { code, stderr } = await project.runAsIs(['tools', 'workflow', 'plan', 'deploy'])
  expect(code).toBe(4)
  expect(stderr).toContain('skillrail trust')
})
