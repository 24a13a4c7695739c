import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemRuntime } from '../../src/core/runtime.ts'
import { installHook } from '../../src/hooks/install.ts'
import { startModelServer } from '../model-server/server.ts'
import type { ModelToolCall } from '../model-server/turn.ts'
import { runInProcess } from '../run-in-process.ts'
import { isMissing, skipReason } from '../servers/needs.ts'
import { installServers, serverProgram } from '../servers/packages.ts'
import { type Database, startDatabase } from '../servers/postgres.ts'
import { installClients, type TestedClient } from './cache.ts'
import { type ClientRecipe, recipes } from './clients.ts'
import { makeHome, type TestHome, write } from './home.ts'
import { runClient } from './run-client.ts'
import { isShort } from './short.ts'

type Servers = Readonly<Record<string, { command: string; args: readonly string[] }>>

/** How a client is given MCP servers, and how its model calls a tool of one. */
interface McpRecipe {
  configure(home: TestHome, servers: Servers): void
  call(server: string, tool: string): Pick<ModelToolCall, 'name' | 'namespace'>
  /** Further arguments, so that the client asks nobody about these tools. */
  arguments?: readonly string[]
}

/** Longer than the window in which parallel calls are denied. */
const thinkingMs = 1800
const task = 'please edit the files'
const rules = 'RULES 4711 OF the files.'
const query = 'SELECT name FROM users'

const clients: Partial<Record<TestedClient, McpRecipe>> = {
  claude: {
    configure: ({ home }, mcpServers) => merge(home, '.claude.json', { mcpServers }),
    call: (server, tool) => ({ name: `mcp__${server}__${tool}` }),
    arguments: ['mcp__files', 'mcp__shop-db'],
  },
  codex: {
    configure({ home }, servers) {
      const path = join(home, '.codex/config.toml')
      const tables = Object.entries(servers).map(
        ([name, { command, args }]) =>
          `\n[mcp_servers.${name}]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
      )
      write(path, `${readFileSync(path, 'utf8')}${tables.join('')}`)
    },
    call: (server, tool) => ({ namespace: `mcp__${server.replaceAll('-', '_')}`, name: tool }),
  },
  copilot: {
    configure({ home }, servers) {
      const entries = Object.entries(servers).map(([name, one]) => [name, { ...one, tools: ['*'] }])
      merge(home, '.copilot/mcp-config.json', { mcpServers: Object.fromEntries(entries) })
    },
    call: (server, tool) => ({ name: `${server}-${tool}` }),
  },
  gemini: {
    configure: ({ home }, servers) =>
      merge(home, '.gemini/settings.json', { mcpServers: trusted(servers) }),
    call: (server, tool) => ({ name: `mcp_${server}_${tool}` }),
  },
  opencode: {
    configure({ home }, servers) {
      const entries = Object.entries(servers).map(([name, { command, args }]) => [
        name,
        { type: 'local', command: [command, ...args] },
      ])
      merge(home, '.config/opencode/opencode.json', { mcp: Object.fromEntries(entries) })
    },
    call: (server, tool) => ({ name: `${server}_${tool}` }),
  },
  qwen: {
    configure: ({ home }, servers) =>
      merge(home, '.qwen/settings.json', { mcpServers: trusted(servers) }),
    call: (server, tool) => ({ name: `mcp__${server}__${tool}` }),
  },
}

/** In a short run, the fastest client of each kind: it names the server and the tool, or joins both. */
const alike = isShort ? ['codex', 'gemini', 'opencode', 'qwen'] : []
const tried = Object.entries(clients).filter(([name]) => !alike.includes(name))

function merge(home: string, path: string, more: object): void {
  const file = join(home, path)
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  write(file, JSON.stringify({ ...before, ...more }))
}

/** Servers whose tools need no question. */
function trusted(servers: Servers): object {
  return Object.fromEntries(
    Object.entries(servers).map(([name, one]) => [name, { ...one, trust: true }]),
  )
}

const skill = `---
name: files
description: Rules for files.
triggers:
  - tool: mcp__files__write_*
    inject: rules.md
---

# Files
`

describe.skipIf(isMissing('postgresql'))(
  `the MCP calls that a client makes itself${skipReason('postgresql')}`,
  () => {
    let database: Database
    beforeAll(async () => {
      installServers(['filesystem', 'database'])
      database = await startDatabase()
    })
    afterAll(() => database.stop())

    /** One after the other: all of them use the log of one database. */
    it.each(tried.map(([name, recipe]) => ({ name, recipe })))(
      'are guarded in $name by a trigger on a tool and by the workflow of a database',
      async ({ name, recipe: mcp }) => {
        const platform = Object.keys(recipes).find((one): one is TestedClient => one === name)
        const client = platform && installClients([platform], { latest: false }).get(platform)
        if (!platform || !client) throw new Error(`${name} is not installed`)
        const recipe: ClientRecipe = recipes[platform]
        const called: string[] = []
        const seen: Record<string, unknown> = {}
        const call = (server: string, tool: string, input: object) => {
          called.push(tool)
          return { calls: [{ ...mcp.call(server, tool), input }] }
        }
        const sent = database.log().split(query).length
        const queries = () => database.log().split(query).length - sent
        const path = () => join(home.project, 'a.txt')
        const steps: ((body: string) => ReturnType<typeof call> & { delayMs?: number })[] = [
          () => call('files', 'write_file', { path: path(), content: 'text' }),
          (body) => {
            seen['denied by the trigger'] = body.includes(rules) && !existsSync(path())
            const again = call('files', 'write_file', { path: path(), content: 'text' })
            return { ...again, delayMs: thinkingMs }
          },
          () => {
            seen['written with the rules'] = existsSync(path())
            return call('shop-db', 'select_query', { database: 'postgres', query })
          },
          (body) => {
            const isDenied = body.includes("Workflow 'database-safe-query' must run first")
            seen['denied by the workflow'] = isDenied && queries() === 0
            return call('shop-db', 'list_databases', {})
          },
          () => call('shop-db', 'list_tables', { database: 'postgres' }),
          // A call that fails does not count.
          () => call('shop-db', 'inspect_table', { database: 'absent', table: 'users' }),
          () => call('shop-db', 'select_query', { database: 'postgres', query }),
          () => {
            seen['denied after a call that failed'] = queries() === 0
            return call('shop-db', 'inspect_table', { database: 'postgres', table: 'users' })
          },
          () => call('shop-db', 'select_query', { database: 'postgres', query }),
        ]
        const model = await startModelServer(({ body }) => {
          const isTask = body.includes(task) && /"(?:tools|functionDeclarations)"/.test(body)
          return isTask ? (steps.shift()?.(body) ?? 'done') : 'ok'
        })
        const home = makeHome(recipe, model.url)
        try {
          mcp.configure(home, {
            files: { command: process.execPath, args: [serverProgram('filesystem'), home.project] },
            'shop-db': {
              command: process.execPath,
              args: [serverProgram('database'), ...database.urls],
            },
          })
          write(join(home.home, '.agents/skills/files/SKILL.md'), skill)
          write(join(home.home, '.agents/skills/files/rules.md'), `${rules}\n`)
          const place = { cwd: home.project, home: home.home }
          const added = await runInProcess(
            ['tools', 'workflow', 'add', '--template', 'database', '--yes'],
            place,
          )
          expect(added.code).toBe(0)
          const runtime = systemRuntime({ cwd: home.project, env: { HOME: home.home } })
          await installHook(runtime, platform, { scope: 'user' })
          const args = [...recipe.prompt(task, true), ...(mcp.arguments ?? [])]
          const environment = recipe.environment(model.url)
          const { output } = await runClient(client, args, home, environment, 120_000)
          const result = { ...seen, queries: queries(), called }
          expect({ ...result, output }).toMatchObject({
            'denied by the trigger': true,
            'written with the rules': true,
            'denied by the workflow': true,
            'denied after a call that failed': true,
            // What the client makes of the answer is its own matter: Gemini CLI refuses its form.
            queries: 1,
          })
        } finally {
          await model.close()
          rmSync(home.home, { recursive: true, force: true, maxRetries: 3 })
        }
      },
    )
  },
)
