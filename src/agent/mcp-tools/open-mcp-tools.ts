import type { Runtime, Settings } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import {
  type CallContext,
  callFailureText,
  callTool,
  canonicalCategory,
  createSchemaChecker,
  indexDefinitions,
  type JsonObject,
  loadToolIndex,
  openProjectServers,
  outcomeValue,
  readsOnly,
  type ServerPool,
  type ToolDefinition,
  type ToolIndex,
  projectGate,
} from '../../tools/index.ts'
import { findWorkspace } from '../../trust/index.ts'
import { loadWorkflows, openSession } from '../../workflow/index.ts'
import type { AgentTool, ToolContext } from '../model.ts'
import { chooseServers, type McpChoice } from './server-choice.ts'

export interface McpToolsOptions {
  choice: McpChoice
  /** A directory of the project. */
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'tools' | 'workspaceTrust'>
  /** What the user asked for last; keywords of workflows see nothing else. */
  requestText: () => string | undefined
  /** Remarks for a person: workflows, repeated attempts, servers that do not answer. */
  note: (line: string) => void
  /** Asks a person whether the steps of a `warn` workflow run; without it they do. */
  ask?: ((warning: string) => Promise<'run' | 'skip'>) | undefined
  signal?: AbortSignal | undefined
}

/** Tools of MCP servers that run. */
export interface McpTools {
  readonly tools: readonly AgentTool[]
  /** Everything that a call needs besides the call, for what else has to pass the same gate. */
  readonly calls: CallContext
  close(): Promise<void>
}

/**
 * Starts the servers and lists their tools, as `server.tool`. Every call goes through the tools room:
 * allow and deny lists, the check of its parameters, the gate of workflows, the session's log. A
 * server that cannot be listed is a note, and its tools are missing.
 *
 * @throws {ServerNotFoundError} for a name that no configuration has; {ServerNotTrustedError} and
 *   {ServerStartError} for a named server that is held back.
 */
export async function openMcpTools(options: McpToolsOptions): Promise<McpTools> {
  const { runtime, settings, note } = options
  const project = findWorkspace(options.project, runtime)
  const openProject = (): ReturnType<typeof openProjectServers> =>
    openProjectServers({ project, runtime, settings })
  const pool = chooseServers(options.choice, openProject, { runtime, project })
  try {
    const { tools, failures } = await pool.list({ signal: options.signal })
    for (const { server, message } of failures) {
      const hint = pool.definitions.find(({ name }) => name === server)?.blocked?.hint
      const next = hint === undefined ? '' : `. ${hint}`
      note(`The MCP server ${server} cannot be used: ${message}${next}`)
    }
    const trusted = new Set(pool.definitions.flatMap((one) => (one.trusted ? [one.name] : [])))
    const known = loadToolIndex({ project, runtime }).index
    const index = indexDefinitions(tools, { trusted, known })
    const calls = callContext(pool, index, project, options)
    return {
      tools: tools.map((tool) => agentTool(tool, trusted.has(tool.server), calls, options)),
      calls,
      close: () => pool.close(),
    }
  } catch (error) {
    await pool.close()
    throw error
  }
}

function callContext(
  pool: ServerPool,
  index: ToolIndex,
  project: string,
  { runtime, settings, note, ask }: McpToolsOptions,
): CallContext {
  const { retryWaits, replaySafe, neverReplay, sessionHours } = settings.tools
  const { workflows, diagnostics } = loadWorkflows(project, { canonicalCategory })
  for (const { path, message } of diagnostics) note(`${path}: ${message}`)
  const session = openSession({ project, runtime, lifetimeMs: sessionHours * 3_600_000, note })
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
        hint: 'A person must look at it and run `skillrail tools refresh --accept`.',
      }
    },
    gate: projectGate({
      project,
      workspaceTrust: settings.workspaceTrust,
      workflows,
      diagnostics,
      session,
      index: () => index,
      ask,
      note,
      runtime,
    }),
    log: (record) => session.log(record),
    retry: { waitsMs: retryWaits.map((seconds) => seconds * 1000), replaySafe, neverReplay },
    schemas: createSchemaChecker(),
    runtime,
    signal: new AbortController().signal,
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
