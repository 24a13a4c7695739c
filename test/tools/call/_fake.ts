import type { JsonObject } from '../../../src/core/json.ts'
import { createSchemaChecker } from '../../../src/tools/call/schema-checker.ts'
import { indexDefinitions } from '../../../src/tools/cache/tool-index.ts'
import type { CallContext, CallRecord } from '../../../src/tools/call/context.ts'
import type {
  ToolCallOptions,
  ToolDefinition,
  ToolOutcome,
  ToolServer,
} from '../../../src/tools/model.ts'

export type Behaviour = (
  parameters: JsonObject,
  options: ToolCallOptions,
  attempt: number,
) => ToolOutcome | Promise<ToolOutcome>

/** One tool of a fake server and how it answers. */
export interface FakeTool {
  name: string
  server?: string
  description?: string
  inputSchema?: JsonObject
  outputSchema?: JsonObject | undefined
  annotations?: ToolDefinition['annotations']
  answer?: Behaviour
}

export interface ToolFixture {
  context: CallContext
  /** `SERVER__TOOL {"parameters"}` of every call that reached a server. */
  calls: string[]
  notes: string[]
  records: CallRecord[]
  /** Starts the server anew: it gets another instance. */
  restart(server: string): void
}

const schemas = createSchemaChecker()

/** A context whose servers return scripted answers, and record their calls. */
export function toolFixture(
  tools: readonly FakeTool[],
  overrides: Partial<CallContext> = {},
): ToolFixture {
  const definitions = tools.map(definitionOf)
  const calls: string[] = []
  const notes: string[] = []
  const records: CallRecord[] = []
  const instances = new Map<string, number>()
  const servers = new Map(
    definitions.map(({ server }): [string, ToolServer] => [server, serverOf(server)]),
  )
  const attempts = new Map<string, number>()

  function serverOf(name: string): ToolServer {
    return {
      name,
      instance: () => `${name}-${instances.get(name) ?? 1}`,
      list: async () => ({
        tools: definitions.filter(({ server }) => server === name),
        problems: [],
      }),
      async call(tool, parameters, options = {}) {
        const id = `${name}__${tool}`
        calls.push(`${id} ${JSON.stringify(parameters)}`)
        const attempt = (attempts.get(id) ?? 0) + 1
        attempts.set(id, attempt)
        const match = tools.find((one) => one.name === tool && (one.server ?? 'fake') === name)
        return (await match?.answer?.(parameters, options, attempt)) ?? text(`${tool} done`)
      },
    }
  }

  const context: CallContext = {
    index: indexDefinitions(definitions),
    servers: {
      async get(name) {
        const server = servers.get(name)
        if (server === undefined) throw new Error(`no fake server ${name}`)
        return server
      },
    },
    rules: () => ({ trusted: true }),
    retry: { waitsMs: [0, 0], replaySafe: [], neverReplay: [] },
    schemas,
    runtime: { elapsed: () => performance.now() },
    signal: new AbortController().signal,
    note: (line) => notes.push(line),
    log: async (record) => {
      records.push(record)
    },
    ...overrides,
  }
  return {
    context,
    calls,
    notes,
    records,
    restart: (server) => instances.set(server, (instances.get(server) ?? 1) + 1),
  }
}

export function definitionOf(tool: FakeTool): ToolDefinition {
  const { name, server = 'fake', description = `The tool ${name}.`, annotations } = tool
  return {
    id: `${server}__${name}`,
    server,
    name,
    description,
    inputSchema: tool.inputSchema ?? { type: 'object' },
    outputSchema: tool.outputSchema,
    annotations,
  }
}

export function text(content: string): ToolOutcome {
  return { isError: false, content: [{ type: 'text', text: content }], size: content.length }
}

export function failed(content: string): ToolOutcome {
  return { ...text(content), isError: true }
}

export function structured(value: JsonObject): ToolOutcome {
  return { isError: false, content: [], structured: value, size: JSON.stringify(value).length }
}
