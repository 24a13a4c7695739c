import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { projectStateDirectory } from '../../src/core/runtime.ts'
import { settings } from '../workflow/helpers.ts'
import { runInProcess } from '../run-in-process.ts'
import { until } from '../patience.ts'
import { type Connected, isRunning } from './_project.ts'
import { servedProject } from './_served-project.ts'

const project = servedProject('test')
const start = async (args: readonly string[] = []): Promise<Connected> =>
  await project.startProcess({ args: ['--yes', ...args] })

const cli = (...args: string[]): ReturnType<typeof runInProcess> =>
  runInProcess(args, { cwd: project.project, home: project.home })

const echo = { tool: 'things__get_echo', params: { message: 'hi' } }
const create = { tool: 'things__create_thing', params: { name: 'x' } }

interface Entry {
  command: string
  args: string[]
}

function things(): Entry {
  return JSON.parse(readFileSync(join(project.project, '.mcp.json'), 'utf8')).mcpServers.things
}

const configure = (servers: object): void =>
  project.write('.mcp.json', JSON.stringify({ mcpServers: servers }))

async function untilEnded(pids: readonly number[]): Promise<void> {
  await until(() => !pids.some(isRunning))
}

describe('counts while the server serves', () => {
  it('applies withdrawn trust: processes end and nothing is called', async () => {
    await cli('trust', '--yes')
    const { text, json } = await start()
    expect(await json('call_tool', echo)).toMatchObject({ result: 'hi 1' })
    await cli('trust', '--revoke', '--yes')
    expect(await text('call_tool', echo)).toContain('[servers-not-trusted]')
    await untilEnded(project.started())
    await cli('trust', '--yes')
    expect(await json('call_tool', echo)).toMatchObject({ result: 'hi 1' })
    expect(project.calls()).toHaveLength(2)
  })

  it('applies an exclusion of a tool in the configuration', async () => {
    const entry = things()
    const { text, json } = await start(['--trust-workspace'])
    expect(await json('call_tool', create)).toMatchObject({ status: 'success' })
    const excluding = { things: { ...entry, excludeTools: ['create_thing'] } }
    configure({})
    project.write('.gemini/settings.json', JSON.stringify({ mcpServers: excluding }))
    expect(await text('call_tool', create)).not.toContain('"success"')
    expect(project.calls()).toHaveLength(1)
  })

  it('applies the removal and the addition of a server', async () => {
    const entry = things()
    const { text, json } = await start(['--trust-workspace'])
    expect(await json('call_tool', echo)).toMatchObject({ status: 'success' })
    const before = project.started()
    configure({ others: entry })
    expect(await text('call_tool', echo)).not.toContain('"success"')
    await untilEnded(before)
    const there = { ...echo, tool: 'others__get_echo' }
    expect(await json('call_tool', there)).toMatchObject({ status: 'success' })
  })

  it('applies a changed definition of a server, which starts once it is accepted', async () => {
    const { command, args } = things()
    await cli('trust', '--yes')
    const { text, json } = await start()
    expect(await json('call_tool', echo)).toMatchObject({ status: 'success' })
    const before = project.started()
    configure({ things: { command, args, env: { OTHER: '1' } } })
    expect(await text('call_tool', echo)).toContain('[servers-not-trusted]')
    await untilEnded(before)
    expect(project.started()).toEqual(before)
    await cli('trust', '--yes')
    expect(await json('call_tool', echo)).toMatchObject({ status: 'success' })
    expect(project.started()).toHaveLength(2)
  })
})

/** Its tools are described by a file; it cannot start while there is none. */
const program = `
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const path = process.argv[2]
if (!existsSync(path)) process.exit(7)
const inputSchema = { type: 'object', properties: {} }
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' },
  }),
  'tools/list': () => ({
    tools: Object.entries(JSON.parse(readFileSync(path, 'utf8'))).map(
      ([name, description]) => ({ name, description, inputSchema }),
    ),
  }),
  'tools/call': ({ name }) => ({ content: [{ type: 'text', text: 'ran ' + name }] }),
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = answers[method]?.(params)
  const answer = result === undefined ? { error: { code: -32601, message: 'no' } } : { result }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
})
`

describe('a server whose tools change', () => {
  const described = (tools: object): void => project.write('tools.json', JSON.stringify(tools))

  beforeEach(() => {
    const at = (name: string): string => join(project.project, name)
    project.write('server.mjs', program)
    configure({ s: { command: process.execPath, args: [at('server.mjs'), at('tools.json')] } })
  })

  it('is not called with the tools from before a refresh of the cache', async () => {
    described({ get_x: 'Harmless.', get_y: 'Also.' })
    await cli('tools', 'refresh', '--trust-workspace')
    const { text, json } = await start(['--trust-workspace'])
    expect(await text('describe_tool', { tool: 'nope' })).toContain('[tool-not-found]')
    described({ get_x: 'Deletes everything.', get_z: 'New.' })
    await cli('tools', 'refresh', '--trust-workspace')
    const tools = [{ tool: 's__get_y' }, { tool: 's__get_x' }]
    expect(await text('batch_tools', { tools })).not.toContain('ran get_x')
    expect(await text('call_tool', { tool: 's__get_x' })).toContain('[tool-held-back]')
    await cli('tools', 'refresh', '--accept', '--trust-workspace')
    expect(await json('call_tool', { tool: 's__get_x' })).toMatchObject({ result: 'ran get_x' })
  })

  it('is listed again once it can start', async () => {
    rmSync(join(project.project, 'tools.json'), { force: true })
    const { text, json } = await start(['--trust-workspace'])
    expect(await text('call_tool', { tool: 'get_x' })).toContain('[tool-not-found]')
    described({ get_x: 'Harmless.' })
    expect(await json('call_tool', { tool: 'get_x' })).toMatchObject({ result: 'ran get_x' })
  })
})

it('loses no call of two connections to one session', async () => {
  const options = { args: ['--trust-workspace', '--session', 'both'] }
  const [one, two] = await Promise.all([
    project.startProcess(options),
    project.startProcess(options),
  ])
  const calls = [one, two].flatMap(({ text }) =>
    Array.from({ length: 10 }, async (_, index) => {
      const input = { tool: 'get_echo', params: { message: String(index) } }
      return await text('call_tool', input)
    }),
  )
  await Promise.all(calls)
  await Promise.all([one.client.close(), two.client.close()])
  const shown = await cli('tools', 'session', 'show', '--session', 'both', '--json')
  expect(JSON.parse(shown.stdout).calls).toHaveLength(20)
})

it('makes room for the next question when its request is cancelled', async () => {
  const { client, text } = await project.startProcess({ answer: () => ({ approve: true }) })
  let asked = 0
  const give: (() => void)[] = []
  client.setRequestHandler('elicitation/create', async () => {
    asked++
    await new Promise<void>((resolve) => give.push(resolve))
    return { action: 'accept', content: { approve: true } }
  })
  for (let count = 1; count <= 30; count++) {
    const controller = new AbortController()
    const call = client.callTool(
      { name: 'call_tool', arguments: create },
      { signal: controller.signal },
    )
    const ended = call.catch(() => 'ended')
    await until(() => asked === count)
    controller.abort(new Error('enough'))
    expect(await ended).toBe('ended')
  }
  const last = text('call_tool', create)
  await until(() => asked === 31)
  for (const each of give) each()
  expect(await last).toContain('"success"')
  expect(project.calls()).toHaveLength(1)
})

it('shares the first steps between concurrent calls', async () => {
  const look = {
    description: 'Look first.',
    triggers: { tools: ['get_echo'] },
    prerequisites: [{ step: 1, tool: 'list_things', description: 'Know them.' }],
    mode: 'enforce',
  }
  project.write('.skillrail/workflows.json', JSON.stringify({ look }))
  const { json } = await start(['--trust-workspace'])
  const calls = Array.from({ length: 6 }, () => json('call_tool', echo))
  for (const answer of await Promise.all(calls)) expect(answer).toMatchObject({ status: 'success' })
  expect(project.calls().filter((line) => line.startsWith('list_things'))).toHaveLength(1)
  const place = { runtime: { home: project.home, cwd: project.project, env: {} }, settings }
  const sessions = join(projectStateDirectory(project.project, place), 'sessions')
  expect(existsSync(sessions)).toBe(true)
})
