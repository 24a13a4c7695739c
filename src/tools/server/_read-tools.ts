import { isObject } from '../../base/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { JsonObject, ToolAnnotations, ToolDefinition } from '../model.ts'

/**
 * Reads what a server lists, tool by tool: one that is malformed or has a name that came before is
 * left out and named in `problems`.
 */
export function readTools(
  server: string,
  listed: readonly unknown[],
): { tools: readonly ToolDefinition[]; problems: readonly string[] } {
  const tools = new Map<string, ToolDefinition>()
  const problems: string[] = []
  for (const value of listed) {
    const tool = isObject<JsonValue>(value) ? readTool(server, value) : undefined
    if (tool === undefined) problems.push('a tool without a name is left out')
    else if (tools.has(tool.name))
      problems.push(`the tool ${tool.name} is listed twice; the first one counts`)
    else tools.set(tool.name, tool)
  }
  return { tools: [...tools.values()], problems }
}

function readTool(server: string, value: JsonObject): ToolDefinition | undefined {
  const name = text(value['name'])
  if (name === undefined || name === '') return undefined
  const input = value['inputSchema']
  const output = value['outputSchema']
  return {
    id: `${server}__${name}`,
    server,
    name,
    title: text(value['title']),
    description: text(value['description']) ?? '',
    inputSchema: isObject<JsonValue>(input) ? input : { type: 'object' },
    outputSchema: isObject<JsonValue>(output) ? output : undefined,
    annotations: isObject<JsonValue>(value['annotations'])
      ? readAnnotations(value['annotations'])
      : undefined,
  }
}

function readAnnotations(value: JsonObject): ToolAnnotations {
  const flag = (key: string): boolean | undefined => {
    const found = value[key]
    return typeof found === 'boolean' ? found : undefined
  }
  return {
    title: text(value['title']),
    readOnlyHint: flag('readOnlyHint'),
    destructiveHint: flag('destructiveHint'),
    idempotentHint: flag('idempotentHint'),
    openWorldHint: flag('openWorldHint'),
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
