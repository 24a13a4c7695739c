import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from './loopback.ts'
import { type ServerName, serverPackages } from './packages.ts'
import { postgresPrograms } from './postgres.ts'
import { httpEverything, type ServerEntry } from './recipes.ts'
import { addRow } from './rows.ts'
import { closeFixture, makeFixture, type Fixture } from './fixture.ts'

/** How many tools each server of these versions has; `everything` has one of them only with roots. */
const toolCounts: Readonly<Record<ServerName, number>> = {
  everything: 14,
  filesystem: 14,
  memory: 9,
  'sequential-thinking': 1,
  'chrome-devtools': 32,
  playwright: 25,
  database: 9,
  github: 26,
  graphql: 2,
  context7: 2,
}

const isServer = (name: string): name is ServerName => Object.hasOwn(toolCounts, name)
const names = Object.keys(toolCounts)
  .filter(isServer)
  .filter((name) => name !== 'database' || postgresPrograms() !== undefined)

describe('refresh over all servers', () => {
  let fixture: Fixture
  const stops: (() => void)[] = []
  beforeAll(async () => {
    const more: Record<string, ServerEntry> = {}
    more['everything-http'] = { type: 'http', url: await everythingOver('streamableHttp', '/mcp') }
    more['everything-sse'] = { type: 'sse', url: await everythingOver('sse', '/sse') }
    fixture = await makeFixture(names, more)
  })
  afterAll(async () => {
    await closeFixture(fixture)
    for (const stop of stops) stop()
  })

  it('lists every tool of every server, over stdio, streamable HTTP and SSE', async () => {
    const { code, stdout, stderr } = await fixture.project.cli(['tools', 'refresh'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const total = names.reduce((sum, name) => sum + toolCounts[name], 0) + 2 * 13
    expect(stdout).toMatch(
      /^Agent Skill Tools Index Refreshed:\nCategories:\n {2}- browser: 57 tools\n/,
    )
    expect(stdout).toMatch(/^ {2}- docs: 2 tools$/m)
    expect(stdout).toMatch(/^ {2}- github: 26 tools$/m)
    expect(stdout).toContain(`Summary:\n  - Total tools: ${String(total)}\n  - Categories: `)
    expect(stdout).toContain(`  - Cache: ${fixture.project.directory}/.skillrail/tools.json\n`)
    expect(stdout).toContain(`Changes:\n  - ${String(total)} added: chrome-devtools__click, `)
    const { answer } = await fixture.project.json(['tools', 'list'])
    const counts: Record<string, number> = {}
    for (const { server } of answer.tools) counts[server] = (counts[server] ?? 0) + 1
    expect(counts).toEqual(Object.fromEntries(expectedCounts()))
  })

  it('reports no change the second time', async () => {
    const { code, stdout } = await fixture.project.cli(['tools', 'refresh'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Nothing changed\.$/m)
    const { answer } = await fixture.project.json(['tools', 'refresh'])
    expect(answer.changes).toEqual({ added: [], removed: [], changed: [], accepted: [] })
    for (const { name, tools, failure } of answer.servers) {
      expect(failure).toBeUndefined()
      addServerRow(name, tools)
    }
  })

  it('leaves no process', async () => {
    expect(await fixture.project.processesLeft()).toEqual([])
  })

  it('names the failed server and the reason, and keeps the tools of the others', async () => {
    const broken = await makeFixture(['memory'], {
      broken: {
        command: 'node',
        args: ['-e', 'console.error("no licence"); process.exit(3)'],
        env: {},
      },
    })
    try {
      const { code, stdout } = await broken.project.cli(['tools', 'refresh'])
      expect(code).toBe(0)
      expect(stdout).toContain('Total tools: 9')
      expect(stdout).toMatch(/Servers that could not be listed:\n {2}- broken: [^]*no licence/)
    } finally {
      await closeFixture(broken)
    }
  })

  function expectedCounts(): [string, number][] {
    const own = names.map((name): [string, number] => [name, toolCounts[name]])
    return [...own, ['everything-http', 13], ['everything-sse', 13]]
  }

  /** Starts server-everything on loopback and waits until it listens. */
  async function everythingOver(
    transport: 'streamableHttp' | 'sse',
    path: string,
  ): Promise<string> {
    const port = String(await freePort())
    const { file, args } = httpEverything(transport)
    const env = { PATH: process.env['PATH'], PORT: port }
    const child = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    stops.push(() => child.kill())
    await new Promise((resolve) => child.stderr.once('data', resolve))
    child.stderr.resume()
    return `http://127.0.0.1:${port}${path}`
  }
})

function addServerRow(server: string, tools: number): void {
  const [name = '', way] = isServer(server) ? [server, 'stdio'] : server.split('-')
  const { name: title, version } = serverPackages[isServer(name) ? name : 'everything']
  const transport = way === 'http' ? 'streamable HTTP' : way === 'sse' ? 'SSE' : 'stdio'
  addRow({ table: 'servers', server, package: `${title} ${version}`, transport, tools })
}
