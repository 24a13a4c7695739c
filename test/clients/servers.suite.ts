import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { readServerConfiguration } from '../../src/tools/config/read-configuration.ts'
import { allowsTool } from '../../src/tools/config/tool-rules.ts'
import { startModelServer } from '../model-server/server.ts'
import { installClients, type TestedClient } from './cache.ts'
import { type ClientRecipe, recipes } from './clients.ts'
import { makeHome, write } from './home.ts'
import { runClient } from './run-client.ts'
import { isTried } from './short.ts'

/** An MCP server in one file, with the tools that its arguments name. */
const program = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const tools = process.argv.slice(1).map((name) => ({ name, description: name, inputSchema: { type: 'object' } }))
  const answers = { 'tools/list': { tools } }
  if (method === 'initialize') answers[method] = { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? {} }))
})`
const tools = { kelp: ['smelt_kelp', 'smelt_ore', 'dry'], reef: ['dry'] }
const entry = (names: readonly string[], more: object = {}): object => ({
  command: process.execPath,
  args: ['-e', program, ...names],
  ...more,
})
const entries = { kelp: entry(tools.kelp), reef: entry(tools.reef) }
const openCodeEntries = Object.fromEntries(
  Object.entries(tools).map(([name, list]) => [
    name,
    { type: 'local', command: [process.execPath, '-e', program, ...list] },
  ]),
)

interface Row {
  client: TestedClient
  /** Files below the home, whose values are merged into the existing files. */
  files: Readonly<Record<string, object>>
  environment?: Readonly<Record<string, string>>
}

const claude = (permissions: object): Row => ({
  client: 'claude',
  files: {
    '.claude.json': { mcpServers: entries },
    '.claude/settings.json': { permissions },
  },
})
const openCode = (
  settings: object,
  more: Omit<Row, 'client' | 'files'> & Partial<Row> = {},
): Row => ({
  client: 'opencode',
  ...more,
  files: {
    '.config/opencode/opencode.json': { mcp: openCodeEntries, ...settings },
    ...more.files,
  },
})
const copilot = (files: Row['files']): Row => ({
  client: 'copilot',
  files: { '.copilot/mcp-config.json': { mcpServers: entries }, ...files },
})
const qwen = (settings: object): Row => ({
  client: 'qwen',
  files: { '.qwen/settings.json': { mcpServers: entries, ...settings } },
})

const rows: readonly Row[] = [
  claude({}),
  ...['mcp__kelp', 'mcp__kelp__*', 'mcp__kelp__smelt_*', 'mcp__*__dry', 'mcp__*', 'MCP__KELP'].map(
    (rule) => claude({ deny: [rule] }),
  ),
  openCode({}),
  openCode({ tools: { 'kelp*': false, kelp_dry: true } }),
  openCode({ tools: { kelp_dry: true, 'kelp*': false } }),
  openCode({ permission: { 'kelp_s*': 'deny' } }),
  openCode({}, { files: { 'further/opencode.json': { tools: { 'reef*': false } } } }),
  copilot({}),
  copilot({ '.copilot/settings.json': { disabledMcpServers: ['kelp'] } }),
  copilot({
    '.copilot/mcp-config.json': {
      mcpServers: {
        kelp: entry(tools.kelp, { tools: ['dry'] }),
        reef: entry(tools.reef, { tools: [] }),
      },
    },
  }),
  {
    client: 'copilot',
    files: {
      'project/.github/mcp.json': { mcpServers: entries },
      'project/.github/copilot/settings.json': { disabledMcpServers: ['reef'] },
    },
  },
  qwen({}),
  qwen({ mcp: { excluded: ['kelp'] } }),
  qwen({ mcp: { allowed: ['reef', 'KELP'] } }),
]

const numbered = rows.map((row, at) => ({ ...row, case: at + 1 }))

// One after the other: Claude Code does not wait long for servers that start slowly.
it.each(numbered.filter(({ client }) => isTried(client)))(
  'lists the tools that $client sends to its model, case $case',
  async ({ client: name, files }) => {
    const client = installClients([name], { latest: false }).get(name)
    if (client === undefined) throw new Error(`${name} is not installed`)
    const recipe: ClientRecipe = recipes[name]
    const model = await startModelServer()
    const home = makeHome(recipe, model.url)
    const further = Object.keys(files).some((path) => path.startsWith('further/'))
    const variables = further ? { OPENCODE_CONFIG_DIR: join(home.home, 'further') } : {}
    try {
      mkdirSync(join(home.project, '.git'))
      for (const [path, value] of Object.entries(files)) {
        const file = join(home.home, path)
        const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
        write(file, JSON.stringify({ ...before, ...value }))
      }
      const environment = { ...recipe.environment(model.url), ...variables }
      const { output } = await runClient(client, recipe.prompt('hello', true), home, environment)
      const bodies = model.prompts().map(({ body }) => body)
      expect({ requests: bodies.length, output }).not.toMatchObject({ requests: 0 })
      // Each client has its own form of the name, which ends with that of the server and the tool.
      const names = bodies
        .join('\n')
        .match(/(?:mcp__)?(?:kelp|reef)[-_]+(?:smelt_kelp|smelt_ore|dry)/g)
      const sent = (names ?? []).map((text) => text.replace(/^mcp__/, '').replace(/[-_]+/, ' '))
      const env = { HOME: home.home, ...variables }
      const runtime = systemRuntime({ cwd: home.project, env })
      const { servers } = readServerConfiguration({
        project: home.project,
        runtime,
        trust: 'trusted',
      })
      const allowed = servers.flatMap((server) => {
        const list = Object.entries(tools).find(([key]) => key === server.name)?.[1] ?? []
        const isUsed = !server.disabled && !server.blocked
        return isUsed
          ? list.filter((tool) => allowsTool(server, tool)).map((tool) => `${server.name} ${tool}`)
          : []
      })
      expect(allowed.toSorted()).toEqual([...new Set(sent)].toSorted())
    } finally {
      await model.close()
      rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
    }
  },
)
