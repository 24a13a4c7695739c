import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newMarker, processesWith, serverProgram } from '../tools/server/_servers.ts'
import { runInProcess } from '../run-in-process.ts'

let root: string
let home: string
let project: string
let marker: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-servers-')))
  home = join(root, 'home')
  project = join(root, 'project')
  marker = newMarker()
  mkdirSync(join(project, '.git'), { recursive: true })
  mkdirSync(join(home, '.cursor'), { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true }))

const cli = (...args: string[]): ReturnType<typeof runInProcess> =>
  runInProcess(args, { cwd: project, home })
const server = (...habits: string[]): object => ({
  command: process.execPath,
  args: [serverProgram, marker, ...habits],
})

function configure(mine: object, shared?: object): void {
  writeFileSync(join(home, '.cursor/mcp.json'), JSON.stringify({ mcpServers: mine }))
  if (shared !== undefined) {
    writeFileSync(join(project, '.mcp.json'), JSON.stringify({ mcpServers: shared }))
  }
}

describe('tools import', () => {
  it('shows the source of each server and which one takes precedence, without secrets', async () => {
    const secret = 'S3cretValue123'
    configure(
      {
        web: {
          url: `https://me:${secret}@example.org/mcp?key=${secret}`,
          headers: { 'X-Custom': secret },
        },
        db: { command: 'db-server', args: ['--api-key', secret], env: { ANY: secret } },
        shared: { command: 'mine' },
      },
      { shared: { command: 'theirs' } },
    )
    const shown = await cli('tools', 'import')
    expect(shown.code).toBe(0)
    expect(shown.stdout).toMatch(/^shared +usable +mine +cursor/m)
    expect(shown.stdout).toMatch(/^shared +hidden: may not start +theirs +claude-code/m)
    expect(shown.stdout).toContain('3 servers of 3 can be used.')
    expect(shown.stderr).toContain('skillrail trust')
    const json = await cli('tools', 'import', '--json', '--trust-workspace')
    const report = JSON.parse(json.stdout)
    expect(report.servers[0]).toMatchObject({
      name: 'shared',
      transport: { command: 'theirs' },
      trusted: true,
    })
    expect(report.shadowed).toMatchObject([
      { name: 'shared', reason: 'earlier', by: { scope: 'project' } },
    ])
    expect(shown.stdout + json.stdout).not.toContain(secret)
  })

  it('fails for a broken file, and still shows the other servers', async () => {
    configure({ a: { command: 'x' } })
    writeFileSync(join(project, '.mcp.json'), '{\n "mcpServers": [')
    const { code, stdout, stderr } = await cli('tools', 'import')
    expect(code).toBe(1)
    expect(stdout).toMatch(/^a +usable/m)
    expect(stderr).toMatch(/\.mcp\.json:2:\d+: error: it is not JSON/)
  })
})

describe.skipIf(process.platform === 'win32')('tools servers', () => {
  it('starts each server, reports failures, and leaves nothing running', async () => {
    configure({ good: server(), bad: server('ends-at-start') }, { strange: server() })
    const { code, stdout, stderr } = await cli('tools', 'servers', '--start', '--json')
    expect(code).toBe(1)
    const report = JSON.parse(stdout)
    expect(report.servers).toMatchObject([
      { name: 'strange', state: 'not trusted' },
      { name: 'good', state: 'running', tools: 2 },
      {
        name: 'bad',
        state: 'failed',
        stderrTail: expect.stringContaining('the database is not there'),
      },
    ])
    expect(stderr).toBe('')
    expect(processesWith(marker)).toEqual([])
  })

  it('fails for a broken file, and does not say that no server is configured', async () => {
    writeFileSync(join(home, '.cursor/mcp.json'), '{ "mcpServers": { broken')
    for (const args of [['servers'], ['import']]) {
      const { code, stderr } = await cli('tools', ...args)
      expect(code).toBe(1)
      expect(stderr).toContain('.cursor/mcp.json')
      expect(stderr).not.toContain('No servers are configured')
    }
  })

  it('starts no server without --start', async () => {
    configure({ good: server() })
    expect((await cli('tools', 'servers')).stdout).toMatch(/^good +usable/m)
  })
})
