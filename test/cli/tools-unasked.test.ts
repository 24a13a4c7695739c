import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type CliResult, runInProcess } from '../run-in-process.ts'

const server = new URL('../fixtures/programs/tool-lister.mjs', import.meta.url).pathname

let project: string
let home: string

const skillrail = (...args: string[]): Promise<CliResult> =>
  runInProcess(args, { cwd: project, home })

function configuration(name: string): string {
  const tools = [{ name: `list_${name}`, inputSchema: { type: 'object' } }]
  const entry = {
    command: process.execPath,
    args: [server],
    env: { TOOLS: JSON.stringify(tools) },
  }
  return JSON.stringify({ mcpServers: { [name]: entry } })
}

beforeEach(() => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-unasked-')))
  project = join(root, 'project')
  home = join(root, 'home')
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(join(home, '.cursor'), { recursive: true })
})

const steps = '[{"tool": "list_notes", "params": {}}]'
/** Commands that need a server. */
const needy: string[][] = [
  ['call', 'list_notes'],
  ['do', 'list the notes'],
  ['do', 'notes__list_notes {}'],
  ['batch', steps],
  ['chain', steps],
  ['route', 'list the notes'],
  ['search', 'notes'],
  ['show', 'list_notes'],
  ['refresh'],
  ['refresh', '--dry-run'],
  ['servers', '--start'],
  ['serve', '--detach'],
]

describe('an untrusted project', () => {
  it.each(needy)('refuses tools %s %s, with the command that allows it', async (...words) => {
    writeFileSync(join(project, '.mcp.json'), configuration('notes'))
    const { code, stdout, stderr } = await skillrail('tools', ...words)
    expect(stderr).toContain('Not started: notes, because the workspace was never trusted')
    expect(stderr).toContain('skillrail trust')
    expect(stderr).not.toContain('tools refresh')
    expect(stdout).toBe('')
    expect(code).toBe(4)
    expect(existsSync(join(project, '.skillrail'))).toBe(false)
  })

  it.each([
    ['call', 'notes__list_notes'],
    ['do', 'zzz qqq'],
    ['route', 'zzz qqq'],
    ['search', 'zzz'],
    ['show', 'list_notes'],
    ['batch', steps],
  ])('refuses tools %s %s if other servers have no such tool', async (...words) => {
    writeFileSync(join(project, '.mcp.json'), configuration('notes'))
    writeFileSync(join(home, '.cursor', 'mcp.json'), configuration('pages'))
    const { code, stderr } = await skillrail('tools', ...words)
    expect(stderr).toContain('Not started: notes')
    expect(code).toBe(4)
  })

  it('uses servers from outside the project', async () => {
    writeFileSync(join(project, '.mcp.json'), configuration('notes'))
    writeFileSync(join(home, '.cursor', 'mcp.json'), configuration('pages'))
    const called = await skillrail('tools', 'call', 'list_pages')
    const refreshed = await skillrail('tools', 'refresh')
    const listed = await skillrail('tools', 'list')
    expect([called.code, refreshed.code, listed.code]).toEqual([0, 0, 0])
    expect(refreshed.stdout).toContain('Total tools: 1')
    expect(listed.stdout).toContain('pages__list_pages')
    expect(listed.stderr).toContain('notes was not trusted at the last refresh, and not asked')
    expect(listed.stderr).not.toContain('failing')
  })

  it('lists the cached tools, and names the server that was not started', async () => {
    writeFileSync(join(project, '.mcp.json'), configuration('notes'))
    const { code, stderr } = await skillrail('tools', 'list')
    expect(stderr).toContain('Not started: notes')
    expect(stderr).not.toContain('failing')
    expect(code).toBe(0)
  })

  it('has the reason as the error with --json', async () => {
    writeFileSync(join(project, '.mcp.json'), configuration('notes'))
    const { code, stdout } = await skillrail('tools', 'call', 'list_notes', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'servers-not-trusted' } })
    expect(code).toBe(4)
  })

  it('names a file that changed since it was trusted', async () => {
    const path = join(project, '.mcp.json')
    writeFileSync(path, configuration('notes'))
    await skillrail('trust', '--yes')
    writeFileSync(path, configuration('others'))
    const { code, stderr } = await skillrail('tools', 'call', 'list_others')
    expect(stderr).toContain(
      `Not started: others, because ${path} has changed since the workspace was trusted`,
    )
    expect(code).toBe(4)
  })

  it('does not start a server whose program changed since it was trusted', async () => {
    const program = join(project, 'server.mjs')
    const { mcpServers } = JSON.parse(configuration('notes'))
    const entry = { ...mcpServers.notes, args: ['./server.mjs'] }
    writeFileSync(join(project, '.mcp.json'), JSON.stringify({ mcpServers: { notes: entry } }))
    writeFileSync(program, `import ${JSON.stringify(server)}\n`)
    expect(await skillrail('trust', '--yes')).toMatchObject({ code: 0 })
    expect(await skillrail('tools', 'call', 'list_notes')).toMatchObject({ code: 0 })
    writeFileSync(program, `import ${JSON.stringify(server)}\nprocess.exit(1)\n`)
    const { code, stderr } = await skillrail('tools', 'call', 'list_notes')
    expect(stderr).toContain(`because ${program} has changed since the workspace was trusted`)
    expect(code).toBe(4)
    const shown = await skillrail('trust', '--dry-run')
    expect(shown.stdout).toContain('changed: server-file server.mjs')
    expect(shown.stdout).toContain('+process.exit(1)')
    await skillrail('trust', '--yes')
    expect((await skillrail('tools', 'call', 'list_notes')).stderr).not.toContain('has changed')
  })
})

describe('a project without a configured server', () => {
  it.each(needy)('answers tools %s %s with the files that can configure one', async (...words) => {
    const { code, stdout, stderr } = await skillrail('tools', ...words)
    expect(stderr).toContain('No MCP server is configured for this project')
    expect(stderr).toContain('.mcp.json')
    expect(stderr).toContain('skillrail tools import')
    expect(stdout).toBe('')
    expect(code).toBe(3)
    expect(existsSync(join(project, '.skillrail'))).toBe(false)
  })

  it('answers tools list with exit code 0', async () => {
    const { code, stderr } = await skillrail('tools', 'list')
    expect(stderr).toContain('No MCP server is configured for this project')
    expect(code).toBe(0)
  })

  it('names a disabled server', async () => {
    const entry = { command: 'x', disabled: true }
    const path = join(project, '.cursor', 'mcp.json')
    mkdirSync(join(project, '.cursor'))
    writeFileSync(path, JSON.stringify({ mcpServers: { off: entry } }))
    const { stderr } = await skillrail('tools', 'refresh')
    expect(stderr).toContain('Every MCP server of this project is disabled: off')
  })

  it('names a file that cannot be read', async () => {
    const path = join(project, '.mcp.json')
    writeFileSync(path, '{"mcpServers": {,}')
    const { code, stderr } = await skillrail('tools', 'call', 'list_notes')
    expect(stderr).toContain(`${path}:1`)
    expect(code).toBe(1)
  })
})
