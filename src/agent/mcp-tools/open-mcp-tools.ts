import type { Runtime } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { CallContext, CallGate } from '../../tools/call/context.ts'
import { callFailureText } from '../../tools/call/failure-text.ts'
import { callTool } from '../../tools/call/call-tool.ts'
import { createSchemaChecker } from '../../tools/call/schema-checker.ts'
import { indexDefinitions, type ToolIndex } from '../../tools/cache/tool-index.ts'
import type { JsonObject, ToolDefinition } from '../../tools/model.ts'
import { loadToolIndex } from '../../tools/cache/load.ts'
import { outcomeValue } from '../../tools/call/content.ts'
import { readsOnly } from '../../tools/cache/reads-only.ts'
import type { ServerListFailure, ServerPool } from '../../tools/server/pool.ts'
import type { SessionStore } from '../../tools/workflow/session.ts'
import type { AgentTool, ToolContext } from '../types.ts'

interface McpToolsOptions {
  pool: ServerPool
  /** What every call of these tools passes. */
  gate: CallGate
  /** Where every call leaves its trace. */
  session: Pick<SessionStore, 'log'>
  /** The root of the project. */
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'tools'>
  /** What the user asked for last; keywords of workflows see nothing else. */
  requestText: () => string | undefined
  /** Notes for the user: repeated attempts, servers that do not answer. */
  note: (line: string) => void
  /** Servers that were already reported as unusable. */
  told: Set<string>
  /** Ends the start of servers. */
  signal: AbortSignal
}

/** Tools of MCP servers that run. */
export interface McpTools {
  readonly tools: readonly AgentTool[]
  /** Everything that a call needs besides the call. */
  readonly calls: CallContext
  /** Servers that could not be listed; what they have is not known. */
  readonly failures: readonly ServerListFailure[]
}

/**
 * Starts the servers and lists their tools, as `server.tool`. Every call goes through the tools room:
 * allow and deny lists, the check of its parameters, the gate of workflows, the session's log. A
 * server that cannot be listed is a note, and its tools are missing.
 */
export async function openMcpTools(options: McpToolsOptions): Promise<McpTools> {
  const { pool, project, runtime, note, told, signal } = options
  const { tools, failures } = await pool.list({ signal })
  for (const { server, message } of failures) {
    if (told.has(server)) continue
    told.add(server)
    const hint = pool.definitions.find(({ name }) => name === server)?.blocked?.hint
    const next = hint === undefined ? '' : `. ${hint}`
    note(`The MCP server ${server} cannot be used: ${message}${next}`)
  }
  const trusted = new Set(pool.definitions.flatMap((one) => (one.trusted ? [one.name] : [])))
  const known = loadToolIndex({ project, runtime }).index
  const calls = callContext(indexDefinitions(tools, { trusted, known }), options)
  return {
    tools: tools.map((tool) => agentTool(tool, trusted.has(tool.server), calls, options)),
    calls,
    failures,
  }
}

function callContext(
  index: ToolIndex,
  { pool, gate, session, runtime, settings, note, signal }: McpToolsOptions,
): CallContext {
  const { retryWaits, replaySafe, neverReplay } = settings.tools
  return {
    index,
    servers: pool,
    rules(name) {
      const server = pool.definitions.find((one) => one.name === name)
      if (server === undefined) return { trusted: false }
      const { trusted, allow, deny, callTimeoutMs } = server
      return { trusted, allow, deny, callTimeoutMs }
    },
    hold({ id }) {
      const caution = index.caution(id)
      if (caution?.kind !== 'changed') return undefined
      return {
        message: `${id} is held back: its description or schema changed on ${caution.since}.`,
        hint: 'Review the change, then run: skillrail tools refresh --accept',
      }
    },
    gate,
    log: (record) => session.log(record),
    retry: { waitsMs: retryWaits.map((seconds) => seconds * 1000), replaySafe, neverReplay },
    schemas: createSchemaChecker(),
    runtime,
    signal,
    note,
  }
}

function agentTool(
  { id, server, name, description, inputSchema, annotations }: ToolDefinition,
  trusted: boolean,
  calls: CallContext,
  { requestText }: McpToolsOptions,
): AgentTool {
  return {
    name: `${server}.${name}`,
    description,
    inputSchema: { ...inputSchema, type: 'object' },
    aliases: [id, `mcp__${id}`],
    readOnly: readsOnly({ name, annotations }, trusted),
    origin: { kind: 'mcp', server },
    execute: (params, context) => execute(id, params, context, calls, requestText()),
  }
}

/** An answer that is an error is thrown, as every failure of a tool is. */
async function execute(
  tool: string,
  params: JsonObject,
  { signal }: ToolContext,
  calls: CallContext,
  requestText: string | undefined,
): Promise<JsonValue> {
  const report = await callTool({ tool, params, requestText }, { ...calls, signal })
  if (report.status === 'error') throw new Error(callFailureText(report).replace(/^Error: /, ''))
  return outcomeValue(report.outcome)
}
