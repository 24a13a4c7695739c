import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { bin } from '../command-line.ts'
import { until } from '../patience.ts'
import { isRunning } from './_project.ts'
import { servedProject } from './_served-project.ts'

const project = servedProject('test')
let children: ChildProcess[] = []

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children = []
})

interface Pipes {
  child: ChildProcess
  /** Every line of stdout. */
  lines: string[]
  stderr(): string
  write(text: string): void
  /** The answer with an id. */
  answer(id: number): Promise<Record<string, unknown>>
  code: Promise<number | null>
}

function pipes(...args: string[]): Pipes {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', bin, 'mcp', 'serve', '--trust-workspace', ...args],
    { cwd: project.project, env: { PATH: process.env['PATH'], HOME: project.home } },
  )
  children.push(child)
  const lines: string[] = []
  let stderr = ''
  child.stderr.on('data', (chunk) => (stderr += String(chunk)))
  // A process that has ended reads nothing more; its exit code is read instead.
  child.stdin.on('error', () => undefined)
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const parsed = (): Record<string, unknown>[] => lines.map((line) => JSON.parse(line))
  return {
    child,
    lines,
    stderr: () => stderr,
    write: (text) => void child.stdin.write(text),
    async answer(id) {
      await until(() => parsed().some((message) => message['id'] === id))
      return parsed().find((message) => message['id'] === id) ?? {}
    },
    code: new Promise((resolve) => child.on('close', resolve)),
  }
}

const message = (fields: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...fields })}\n`
const initialize = message({
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  },
})
const call = (id: number, name: string, input: unknown): string =>
  message({ id, method: 'tools/call', params: { name, arguments: input } })

describe('bad input on the pipe', () => {
  it('is answered or ignored, and standard output contains only messages', async () => {
    const server = pipes()
    server.write('garbage\n\n\u0000\u0001\n{"half": \n[]\n"text"\n{"jsonrpc":"1.0","id":9}\n')
    server.write(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}\n`)
    server.write(initialize)
    await server.answer(0)
    server.write(message({ method: 'notifications/initialized' }))
    server.write(message({ id: 1, method: 'no/such/method' }))
    expect(await server.answer(1)).toMatchObject({ error: { code: -32_601 } })
    server.write(call(2, 'use_skil', { name: 'saw' }))
    const unknown = await server.answer(2)
    expect(unknown).toMatchObject({ error: { code: -32_602 } })
    expect(JSON.stringify(unknown)).toContain('There is no tool')
    server.write(call(3, 'call_tool', { tool: 7, params: [] }))
    const wrong = JSON.stringify(await server.answer(3))
    expect(wrong).toContain('invalid parameters for call_tool')
    expect(wrong).toContain('tool: Invalid input: expected string')
    server.write(call(4, 'match_references', { prompt: 'x'.repeat(10_000_000) }))
    expect(JSON.stringify(await server.answer(4))).toContain('characters; 4194304 are allowed')
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    server.write(
      `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"call_tool","arguments":{"tool":"get_echo","params":{"a":${deep}}}}}\n`,
    )
    expect(JSON.stringify(await server.answer(5))).toContain('nested too deep')
    server.write(message({ method: 'notifications/cancelled', params: { requestId: 'nobody' } }))
    server.write(message({ id: 6, method: 'ping' }))
    expect(await server.answer(6)).toMatchObject({ result: {} })
    server.child.stdin?.end()
    expect(await server.code).toBe(0)
    for (const line of server.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  })

  it('ends quietly with a client that never says who it is', async () => {
    const server = pipes()
    server.child.stdin?.end()
    expect(await server.code).toBe(0)
    expect(server.lines).toEqual([])
  })

  it('ends the connection of a message that never ends', async () => {
    const server = pipes()
    server.write('x'.repeat(13 * 1024 * 1024))
    expect(await server.code).toBe(0)
    expect(server.lines).toEqual([])
  })
})

describe('the end', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('comes with %s, and ends its servers', async (name) => {
    const server = pipes()
    server.write(initialize)
    server.write(call(1, 'call_tool', { tool: 'get_echo', params: { message: 'a' } }))
    await server.answer(1)
    server.child.kill(name)
    expect(await server.code).toBe(130)
    await until(() => project.started().every((pid) => !isRunning(pid)))
    expect(project.started()).toHaveLength(1)
  })

  it('comes in the middle of a call when the client hangs up', async () => {
    const server = pipes()
    server.write(initialize)
    server.write(call(1, 'call_tool', { tool: 'get_slow', params: {} }))
    await until(() => project.calls().includes('get_slow {}'))
    server.child.stdin?.end()
    expect(await server.code).toBe(0)
    await until(() => project.started().every((pid) => !isRunning(pid)))
    expect(server.lines.map((line) => JSON.parse(line).id)).toEqual([0])
  })

  it('comes after kill -9 of the client, and leaves no process', async () => {
    const holder = fileURLToPath(new URL('../fixtures/programs/mcp-client.ts', import.meta.url))
    const client = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', holder, bin, project.project],
      {
        env: { PATH: process.env['PATH'], HOME: project.home },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    )
    children.push(client)
    let stderr = ''
    client.stdout.on('data', (chunk) => (stderr += String(chunk)))
    await until(() => stderr.includes('\n'))
    const server = Number(stderr)
    expect(isRunning(server)).toBe(true)
    expect(project.started().map(isRunning)).toEqual([true])
    client.kill('SIGKILL')
    await until(() => [server, ...project.started()].every((pid) => !isRunning(pid)))
  })
})

it('prints text that is no message on standard error', async () => {
  project.write('.skillrail/skills/broken/SKILL.md', 'no frontmatter')
  project.write('.mcp.json', '{"mcpServers": {"things": {"command": 7}}}')
  const { client, stderr: said, text } = await project.startProcess()
  await text('find_skills')
  await client.close()
  expect(said()).toContain('.mcp.json')
})
