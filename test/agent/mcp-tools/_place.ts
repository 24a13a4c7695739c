import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Agent, type AgentOptions, type McpServer } from '../../../src/agent/index.ts'
import { type Runtime, systemRuntime } from '../../../src/base/index.ts'
import { type Reply, resultTexts, scripted } from '../mock-replies.ts'

const program = fileURLToPath(new URL('../../fixtures/programs/tool-server.ts', import.meta.url))

const agents: Agent[] = []

export async function closeAgents(): Promise<void> {
  await Promise.all(agents.splice(0).map((agent) => agent.close()))
}

/** A project with the server `things`. */
export interface Place {
  root: string
  home: string
  server: McpServer
  /** The calls that reached the server. */
  reached(): string[]
  /** The servers that were started: process ids. */
  started(): number[]
  agent(replies: readonly Reply[], options: Partial<AgentOptions>): Agent
  notices: string[]
  runtime: Runtime
  workflows(definitions: object | string): void
}

export function place(): Place {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'agent-mcp-')))
  const [root, home] = [join(directory, 'project'), join(directory, 'home')]
  const [record, starts] = [join(directory, 'calls'), join(directory, 'starts')]
  mkdirSync(join(root, '.git'), { recursive: true })
  mkdirSync(join(root, '.skillrail'))
  mkdirSync(home)
  const args = ['--disable-warning=ExperimentalWarning', program, record, starts]
  const notices: string[] = []
  const env = { PATH: process.env['PATH'], SKILLRAIL_TOOLS_RETRY_WAITS: '0,0' }
  writeFileSync(
    join(root, '.mcp.json'),
    JSON.stringify({ mcpServers: { things: { command: process.execPath, args } } }),
  )
  const runtime = systemRuntime({ cwd: root, home, env })
  return {
    root,
    notices,
    server: { name: 'own', command: process.execPath, args },
    home,
    runtime,
    workflows(definitions) {
      const text = typeof definitions === 'string' ? definitions : JSON.stringify(definitions)
      writeFileSync(join(root, '.skillrail', 'workflows.json'), text)
    },
    reached: () => linesOf(record),
    started: () => linesOf(starts).map(Number),
    agent(replies, options) {
      const agent = new Agent({
        model: scripted(replies),
        runtime,
        workspaceTrust: 'trusted',
        onEvent: (event) => {
          if (event.type === 'notice') notices.push(event.message)
        },
        ...options,
      })
      agents.push(agent)
      return agent
    },
  }
}

export function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
}

/** What the model read as results of its calls. */
export function results(agent: Agent): string[] {
  return agent.messages.flatMap(resultTexts)
}
