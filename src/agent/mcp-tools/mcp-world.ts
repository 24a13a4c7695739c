import type { Runtime, Settings } from '../../base/index.ts'
import type { CallGate, ServerPool } from '../../tools/index.ts'
import { findWorkspace } from '../../trust/index.ts'
import { openSession } from '../../workflow/index.ts'
import {
  type ConversationGate,
  conversationGate,
  type ConversationGateOptions,
} from './conversation-gate.ts'
import { type McpTools, openMcpTools } from './open-mcp-tools.ts'
import { createServerSet, type ServerSet } from './server-set.ts'

export interface McpWorldOptions {
  /** A directory of the project. */
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'tools' | 'workspaceTrust'>
  requestText: () => string | undefined
  note: (line: string) => void
  offered: ConversationGateOptions['offered']
  tools: ConversationGateOptions['tools']
  everyServer: ConversationGateOptions['servers']
  /** The end of the conversation. */
  signal: AbortSignal
}

/** The servers and the workflows of a conversation, loaded when the first of them is needed. */
export interface McpWorld {
  readonly servers: ServerSet
  readonly gate: ConversationGate
  /** Starts servers and lists their tools. */
  list(pool: ServerPool): Promise<McpTools>
}

export function createMcpWorld(options: McpWorldOptions): McpWorld {
  const { runtime, settings, offered, tools, signal, requestText, note } = options
  const project = findWorkspace(options.project, runtime)
  const lifetimeMs = settings.tools.sessionHours * 3_600_000
  const session = openSession({ project, runtime, lifetimeMs, note })
  const place = { project, runtime, settings, session, note }
  const gate = conversationGate({
    ...place,
    offered,
    tools,
    servers: options.everyServer,
  })
  /** A server that is listed twice is spoken of once. */
  const told = new Set<string>()
  const ofCalls: CallGate = {
    pass: (call) => gate.pass([call]),
    after: (call, text) => gate.after([call], text === undefined ? undefined : { text }),
  }
  return {
    servers: createServerSet(place),
    gate,
    list: (pool) => openMcpTools({ ...place, pool, gate: ofCalls, requestText, signal, told }),
  }
}
