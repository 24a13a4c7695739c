import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { askerOf, makeClient } from '../mcp/_project.ts'
import { until } from '../patience.ts'
import { isMissing, skipReason } from './needs.ts'
import { overPipes } from './over-pipes.ts'
import { program, type ServerProject } from './project.ts'
import { useFixture } from './fixture.ts'

describe('the official test server, through ours', () => {
  const fixture = useFixture(['everything'])

  it('is searched by keywords, described, called, batched and chained', async () => {
    const { client, text, json, questions } = await overPipes(fixture().project)
    expect(await json('find_tools', { request: 'echo back hello' })).toMatchObject({
      tool: 'everything__echo',
    })
    expect(await json('describe_tool', { tool: 'everything__echo' })).toMatchObject({
      tool: { id: 'everything__echo' },
    })
    const call = { tool: 'everything__echo', params: { message: 'hello' } }
    expect(await text('call_tool', call)).toContain('hello')
    const sum = { tool: 'everything__get-sum', params: { a: 2, b: 3 } }
    expect(JSON.stringify(await json('batch_tools', { tools: [sum, sum] }))).toContain('5')
    const kept = { ...sum, output_as: 'sum' }
    const echoCall = { tool: 'everything__echo', params: { message: '$sum' } }
    expect(JSON.stringify(await json('chain_tools', { tools: [kept, echoCall] }))).toContain('5')
    expect(
      questions.every((message) => message.includes('Tool: ') || message.includes('Plan:')),
    ).toBe(true)
    await client.close()
  })

  it('forwards progress of a long call, and its end when it is cancelled', async () => {
    const { client } = await overPipes(fixture().project)
    const steps: unknown[] = []
    const controller = new AbortController()
    const long = client.callTool(
      {
        name: 'call_tool',
        arguments: {
          tool: 'everything__trigger-long-running-operation',
          params: { duration: 30, steps: 60 },
        },
      },
      {
        signal: controller.signal,
        onprogress(step) {
          steps.push(step)
          controller.abort('enough')
        },
      },
    )
    await expect(long).rejects.toThrow(/enough|abort/i)
    expect(steps.length).toBeGreaterThan(0)
    await client.close()
  })
})

describe.skipIf(isMissing('postgresql'))(
  `the workflow of a database, enforced through our server${skipReason('postgresql')}`,
  () => {
    const fixture = useFixture(['database'])
    const steps = [
      "Workflow 'database-safe-query' triggered. Running 4 prerequisites...",
      '✓ Step 1: list_databases completed',
      '✓ Step 2: list_tables completed',
      '✓ Step 3: inspect_table completed',
      '✓ Step 4: get_indexes completed',
    ]
    const select = (query: string): Record<string, unknown> => ({
      tool: 'database__select_query',
      params: { database: 'postgres', query },
    })

    it('refuses calls before it is accepted', async () => {
      const { project } = fixture()
      await project.cli(['tools', 'workflow', 'add', '--template', 'database'])
      const { client, text } = await overPipes(project)
      expect(await text('call_tool', select('SELECT name FROM users'))).toContain('skillrail trust')
      await client.close()
      expect((await project.cli(['trust', '--yes'])).code).toBe(0)
    })

    it('runs every prerequisite before the query, once in a connection', async () => {
      const { client, text } = await overPipes(fixture().project)
      const first = await text('call_tool', select('SELECT name FROM users ORDER BY id'))
      expect(first.split('\n').slice(0, 5)).toEqual(steps)
      expect(first).toContain('Ann')
      const second = await text('call_tool', select('SELECT email FROM users'))
      expect(second).not.toContain('triggered')
      expect(second).toContain('ann@example.com')
      await client.close()
    })

    it('does not send the query when a prerequisite fails', async () => {
      const { project, database } = fixture()
      const { client, text } = await overPipes(project)
      const call = {
        tool: 'database__select_query',
        params: { database: 'absent', query: 'SELECT visit()' },
      }
      const answer = await text('call_tool', call)
      expect(answer).toMatch(/Workflow 'database-safe-query' failed at step \d/)
      expect(database?.log()).not.toContain('SELECT visit()')
      await client.close()
    })

    it('does the same over HTTP', async () => {
      const { project } = fixture()
      const { client, text, end } = await overHttp(project)
      try {
        const answer = await text('call_tool', select('SELECT name FROM users ORDER BY id'))
        expect(answer.split('\n').slice(0, 5)).toEqual(steps)
        expect(answer).toContain('Ann')
        await client.close()
      } finally {
        await end()
      }
    })
  },
)

async function overHttp({ directory, environment }: ServerProject) {
  const child = spawn(process.execPath, [program, 'mcp', 'serve', '--http'], {
    cwd: directory,
    env: environment,
  })
  let received = ''
  child.stderr.on('data', (chunk) => (received += String(chunk)))
  const configuration = (): string => /^\{$[^]*?^\}$/m.exec(received)?.[0] ?? ''
  await until(() => configuration() !== '')
  const { mcpServers } = JSON.parse(configuration())
  const { url, headers } = mcpServers.skillrail
  const client = makeClient({}, () => ({ approve: true }))
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  )
  return {
    client,
    ...askerOf(client),
    async end() {
      child.kill('SIGTERM')
      await until(() => child.exitCode !== null)
    },
  }
}
