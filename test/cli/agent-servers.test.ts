import { afterEach, expect, it } from 'vitest'
import { emptyFixture } from '../agent/_agent-fixture.ts'
import { type ModelServer, startModelServer } from '../model-server/server.ts'
import { type CliResult, runInProcess } from '../run-in-process.ts'

let server: ModelServer | undefined

afterEach(async () => {
  await server?.close()
  server = undefined
})

/** In a project that nobody trusted. */
async function run(
  args: readonly string[],
  servers: readonly string[] = ['files', 'mail'],
): Promise<CliResult & { prompts: number }> {
  const { write, project: cwd, home } = emptyFixture()
  const entries = servers.map((name) => [name, { command: 'node', args: ['missing.js'] }])
  write({
    'project/.mcp.json': JSON.stringify({ mcpServers: Object.fromEntries(entries) }),
    'home/.claude/agents/helper.md': '---\nname: helper\ndescription: Helps.\n---\nHelp.\n',
  })
  server = await startModelServer(['Hello.'])
  const model = ['--model', 'openai-compatible:test', '--base-url', `${server.url}/v1`]
  const result = await runInProcess([...args, ...model], { cwd, home })
  return { ...result, prompts: server.prompts().length }
}

it.each([[['agent', 'Go.']], [['agent', 'delegate', 'helper', 'Go.']]])(
  '%j asks no model if a server that it names is held back or missing',
  async (command) => {
    const held = await run([...command, '--mcp-server', 'files'])
    expect(held).toMatchObject({ code: 4, prompts: 0 })
    expect(held.stderr).toContain('the workspace was never trusted')
    expect(held.stderr).toContain('skillrail trust')
    const missing = await run([...command, '--mcp-server', 'filez'])
    expect(missing).toMatchObject({ code: 3, prompts: 0 })
    expect(missing.stderr).toContain('Did you mean files?')
  },
)

it.each([[['agent', 'Go.']], [['agent', 'delegate', 'helper', 'Go.']]])(
  '%j --mcp prints a line for each server that is held back, and continues',
  async (command) => {
    const { code, stdout, stderr } = await run([...command, '--mcp'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'Hello.\n' })
    const lines = stderr.split('\n').filter((line) => line.includes('skillrail trust'))
    expect(lines.map((line) => line.slice(0, 22))).toEqual([
      'The MCP server files c',
      'The MCP server mail ca',
    ])
  },
)

it('--mcp reports that no server is configured', async () => {
  const { code, stderr } = await run(['agent', 'Go.', '--mcp'], [])
  expect(code).toBe(0)
  expect(stderr).toContain('No MCP server is configured for this project.')
})
