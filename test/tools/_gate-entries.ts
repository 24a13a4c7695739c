import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Agent } from '../../src/agent/agent.ts'
import { command as callCommand } from '../../src/commands/tools/call.ts'
import { command as doCommand } from '../../src/commands/tools/do.ts'
import { batch, chain } from '../../src/commands/tools/steps.ts'
import type { Context } from '../../src/core/command.ts'
import { loadConfiguration } from '../../src/core/configuration.ts'
import { SkillrailError } from '../../src/core/errors.ts'
import { systemRuntime } from '../../src/core/runtime.ts'
import { ServedProject } from '../../src/mcp/served-project.ts'
import { serverTools } from '../../src/mcp/server-tools.ts'
import { call, resultTexts, says, scripted } from '../agent/mock-replies.ts'

/** One call of a tool: with the settings, the server, the workspace and the answer of the user. */
export interface GateCase {
  permission: 'none' | 'allow' | 'ask' | 'deny'
  /** `reads` and `changes` by their annotations; nothing says what `unknown` does. */
  effect: 'reads' | 'changes' | 'unknown'
  /** `project-untrusted`: the server is a user's, and the project's workflows are untrusted. */
  trust: 'trusted' | 'project-untrusted' | 'server-untrusted'
  /** `lost`: it is enforced, and its tool may be on a server that cannot be started. */
  workflow: 'none' | 'suggest' | 'warn' | 'enforce' | 'lost'
  /** The answer of the user; `nobody`: no user can be asked; `in-advance`: `--yes`. */
  user: 'yes' | 'no' | 'nobody' | 'in-advance'
}

export interface GateVerdict {
  /** The tools that reached the server, in order. */
  reached: readonly string[]
  /** How often the user was asked to approve the call. */
  questions: number
  /** The error of the caller if the call was not made. */
  refusal: string | undefined
}

const tools = {
  reads: { name: 'look_up', annotations: { readOnlyHint: true } },
  changes: { name: 'move_item', annotations: { readOnlyHint: false, destructiveHint: true } },
  unknown: { name: 'frobnicate', annotations: {} },
  step: { name: 'list_things', annotations: { readOnlyHint: true } },
}

interface Message {
  id?: number
  method?: string
  params?: { name?: string }
}

/** An MCP server over HTTP in this process, which remembers the calls that reach it. */
export class ThingsServer {
  readonly reached: string[] = []
  readonly #server: Server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(405).end()
      const message: Message = JSON.parse(text)
      if (message.id === undefined) return void response.writeHead(202).end()
      const result = this.#answer(message)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }))
    })
  })

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    const address = this.#server.address()
    if (typeof address !== 'object' || address === null) throw new Error('not listening')
    return `http://127.0.0.1:${address.port}/mcp`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #answer({ method, params }: Message): object {
    if (method === 'initialize') {
      const serverInfo = { name: 'things', version: '1' }
      return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
    }
    if (method === 'tools/list') {
      const inputSchema = { type: 'object', properties: {} }
      return { tools: Object.values(tools).map((tool) => ({ ...tool, inputSchema })) }
    }
    if (method !== 'tools/call') return {}
    this.reached.push(params?.name ?? '')
    return { content: [{ type: 'text', text: 'done' }] }
  }
}

interface Place {
  project: string
  home: string
  tool: string
}

/** A project, and a user's home beside it, as a case describes them. */
function placeOf(one: GateCase, url: string): Place & { remove(): void } {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'gate-')))
  const [project, home] = [join(root, 'project'), join(root, 'home')]
  const write = (path: string, value: object): void => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(value))
  }
  const { name } = tools[one.effect]
  mkdirSync(join(project, '.git'), { recursive: true })
  const mcpServers: Record<string, object> = { things: { type: 'http', url } }
  if (one.workflow === 'lost') mcpServers['gone'] = { command: join(root, 'no-such-program') }
  const ofUser = one.trust === 'project-untrusted'
  write(ofUser ? join(home, '.claude.json') : join(project, '.mcp.json'), { mcpServers })
  write(join(home, '.config/skillrail/config.json'), {
    workspaceTrust: one.trust === 'trusted' ? 'trusted' : 'ask',
    tools: one.permission === 'none' ? {} : { [one.permission]: [`things__${name}`] },
  })
  if (one.workflow !== 'none') {
    const mode = one.workflow === 'lost' ? 'enforce' : one.workflow
    const tool = one.workflow === 'lost' ? 'lost_tool' : tools.step.name
    const prerequisites = [{ step: 1, tool, description: 'Looks first.', required: true }]
    const look = { description: 'Looks.', mode, triggers: { tools: [name] }, prerequisites }
    write(join(project, '.skillrail/workflows.json'), { look })
  }
  return {
    project,
    home,
    tool: `things__${name}`,
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** Counts the questions whether a call is made. */
interface Questions {
  count: number
}

function contextOf({ project, home }: Place, one: GateCase, questions: Questions): Context {
  const runtime = systemRuntime({
    cwd: project,
    home,
    env: { PATH: process.env['PATH'], SKILLRAIL_TOOLS_RETRY_WAITS: '0,0' },
  })
  const nothing = (): void => undefined
  const isThere = one.user === 'yes' || one.user === 'no'
  return {
    runtime,
    settings: loadConfiguration(runtime).settings,
    signal: new AbortController().signal,
    globals: { trustWorkspace: false },
    interactive: isThere,
    diagnose: nothing,
    note: nothing,
    emit: nothing,
    ask({ text, otherwise }) {
      if (!isThere) return Promise.reject(otherwise())
      // Whether the steps of a workflow run is another question.
      if (text.includes('Run them first')) return Promise.resolve('')
      questions.count += 1
      return Promise.resolve(one.user === 'yes' ? 'y' : 'n')
    },
    stdin: () => Promise.resolve(''),
  }
}

function textOf(error: unknown): string {
  if (!(error instanceof SkillrailError)) throw error
  return [`[${error.code}]`, error.message, error.hint ?? ''].join('\n').trimEnd()
}

type Entry = (place: Place, one: GateCase, questions: Questions) => Promise<string | undefined>

const options = {
  output: undefined,
  session: undefined,
  skipPrerequisites: false,
  timeout: undefined,
  raw: false,
  dryRun: false,
  model: undefined,
}

const commandLine = (
  run: (context: Context, tool: string, yes: boolean) => Promise<unknown>,
): Entry => {
  return async (place, one, questions) => {
    const yes = one.user === 'in-advance'
    try {
      return JSON.stringify(await run(contextOf(place, one, questions), place.tool, yes))
    } catch (error) {
      return textOf(error)
    }
  }
}

export const entries = {
  'tools call': commandLine((context, tool, yes) =>
    callCommand.run(context, { ...options, yes, arguments: [tool] }),
  ),
  'tools do': commandLine((context, tool, yes) =>
    doCommand.run(context, { ...options, yes, arguments: [`use ${tool}`] }),
  ),
  'tools batch': commandLine((context, tool, yes) =>
    batch.run(context, { ...options, yes, arguments: [JSON.stringify([{ tool }])] }),
  ),
  'tools chain': commandLine((context, tool, yes) =>
    chain.run(context, { ...options, yes, arguments: [JSON.stringify([{ tool }])] }),
  ),
  'mcp call_tool': mcp((tool) => ['call_tool', { tool }]),
  'mcp do_request': mcp((tool) => ['do_request', { request: `use ${tool}` }]),
  'mcp batch_tools': mcp((tool) => ['batch_tools', { tools: [{ tool }] }]),
  'mcp chain_tools': mcp((tool) => ['chain_tools', { tools: [{ tool }] }]),
  agent: agentEntry,
} satisfies Record<string, Entry>

export type EntryName = keyof typeof entries

function mcp(inputOf: (tool: string) => [name: string, input: object]): Entry {
  return async (place, one, questions) => {
    const context = contextOf(place, one, questions)
    const served = new ServedProject(context, { yes: one.user === 'in-advance' })
    const [name, input] = inputOf(place.tool)
    const isThere = one.user === 'yes' || one.user === 'no'
    try {
      const offered = serverTools(served).find((tool) => tool.name === name)
      const answer = await offered?.run(input, {
        signal: new AbortController().signal,
        connection: { session: 'gate', activated: undefined },
        progress: () => undefined,
        ask: isThere
          ? (question) => {
              if (question.name === 'skip') return Promise.resolve(undefined)
              questions.count += 1
              return Promise.resolve(one.user === 'yes')
            }
          : undefined,
      })
      return answer?.text
    } catch (error) {
      return textOf(error)
    } finally {
      await served.servers.close()
    }
  }
}

async function agentEntry(
  place: Place,
  one: GateCase,
  questions: Questions,
): Promise<string | undefined> {
  const { runtime } = contextOf(place, one, questions)
  const isThere = one.user !== 'nobody'
  const agent = new Agent({
    model: scripted([call(place.tool), says('Done.')]),
    runtime,
    mcp: 'project',
    ...(isThere
      ? {
          approver: async () => {
            questions.count += 1
            return { approved: one.user !== 'no' }
          },
        }
      : {}),
  })
  try {
    await agent.generate('Go.')
    return agent.messages.flatMap(resultTexts).join('\n')
  } catch (error) {
    return textOf(error)
  } finally {
    await agent.close()
  }
}

/** Makes the call of a case through one entry point. */
export async function verdictOf(
  name: EntryName,
  one: GateCase,
  server: ThingsServer,
): Promise<GateVerdict> {
  const place = placeOf(one, server.url)
  const questions = { count: 0 }
  server.reached.length = 0
  try {
    const text = await entries[name](place, one, questions)
    const reached = [...server.reached]
    const isMade = reached.includes(tools[one.effect].name)
    return { reached, questions: questions.count, refusal: isMade ? undefined : text }
  } finally {
    place.remove()
  }
}
