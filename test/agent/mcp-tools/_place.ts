import { Agent } from '../../../src/agent/agent.ts'
import type { AgentOptions } from '../../../src/agent/agent-options.ts'
import type { McpServer } from '../../../src/agent/agent-options.ts'
import { type Runtime, systemRuntime } from '../../../src/core/runtime.ts'
import { serverProject } from '../../fixtures/server-project.ts'
import { type Reply, resultTexts, scripted } from '../mock-replies.ts'

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
  const { root, home, things, configure, workflows, calls, started } = serverProject()
  configure({ things })
  const notices: string[] = []
  const env = { PATH: process.env['PATH'], SKILLRAIL_TOOLS_RETRY_WAITS: '0,0' }
  const runtime = systemRuntime({ cwd: root, home, env })
  return {
    root,
    notices,
    server: { name: 'own', ...things },
    home,
    runtime,
    workflows,
    reached: calls,
    started,
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

/** What the model read as results of its calls. */
export function results(agent: Agent): string[] {
  return agent.messages.flatMap(resultTexts)
}
