import type { Diagnostic } from '../../core/diagnostic.ts'
import { isObject } from '../../core/json.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { writeFileAtomic } from '../../core/write-files.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { JsonObject, ToolAnnotations, ToolDefinition } from '../model.ts'
import { readStrings } from './cache-file.ts'
import { type ProjectPlace, sidecarPath } from './places.ts'

/** The definitions of one server; its tools are read when they are asked for. */
export interface Sidecar {
  tools: readonly SidecarTool[]
  definition(name: string): ToolDefinition | undefined
}

/** What the router needs of a tool, without its schemas. */
export interface SidecarTool {
  name: string
  parameters: readonly string[]
  required: readonly string[]
  annotations?: ToolAnnotations | undefined
}

export interface SidecarReading {
  sidecar?: Sidecar | undefined
  diagnostics: readonly Diagnostic[]
}

/** A list of 2,000 tools has about 2 MB. */
const maxBytes = 256 * 1024 * 1024
const formatName = 'skillrail-tools-1'

/**
 * Line 1 names the format and the check sum of the rest; line 2 is what the router needs; every
 * further line is one definition. A start thus parses one line for each server.
 */
export async function writeSidecar(
  serverDigest: string,
  tools: readonly ToolDefinition[],
  place: ProjectPlace,
): Promise<void> {
  const summary = {
    server: serverDigest,
    tools: tools.map((tool) => ({
      name: tool.name,
      parameters: parameterNames(tool),
      required: requiredNames(tool),
      annotations: tool.annotations,
    })),
  }
  const rest = [summary, ...tools].map((line) => JSON.stringify(line)).join('\n')
  const text = `${formatName} ${checkSum(Buffer.from(rest, 'utf8'))}\n${rest}`
  await writeFileAtomic(sidecarPath(serverDigest, place), text, { mode: 0o600 })
}

/**
 * Reads a server's sidecar; one that is damaged, or of another server, counts as none and is
 * reported. `server` is the name that the definitions get; `isChecked` says that the file has not
 * changed since its check sum was compared.
 */
export function readSidecar(
  serverDigest: string,
  server: string,
  place: ProjectPlace,
  { isChecked = false }: { isChecked?: boolean | undefined } = {},
): SidecarReading {
  const path = sidecarPath(serverDigest, place)
  const file = readRegularFile(path, { maxBytes })
  if (!file.ok) {
    return file.code === 'file-missing' ? { diagnostics: [] } : damaged(path, file.message)
  }
  const { bytes } = file
  const headEnd = bytes.indexOf(10)
  const [format, sum] = bytes.toString('utf8', 0, Math.max(0, headEnd)).split(' ')
  if (format !== formatName) return damaged(path, 'it is of another format')
  const rest = bytes.subarray(headEnd + 1)
  if (!isChecked && sum !== checkSum(rest)) return damaged(path, 'its check sum is wrong')
  const summaryEnd = rest.indexOf(10) < 0 ? rest.length : rest.indexOf(10)
  const summary = parseLine(rest.toString('utf8', 0, summaryEnd))
  if (summary?.['server'] !== serverDigest) return damaged(path, 'it is of another server')
  const tools = parseTools(summary['tools'])
  return {
    sidecar: { tools, definition: lazyDefinitions(rest, summaryEnd + 1, tools, server) },
    diagnostics: [],
  }
}

function lazyDefinitions(
  bytes: Buffer,
  start: number,
  tools: readonly SidecarTool[],
  server: string,
): Sidecar['definition'] {
  let lines: ReadonlyMap<string, string> | undefined
  return (name) => {
    if (lines === undefined) {
      const texts = bytes.toString('utf8', start).split('\n')
      lines = new Map(tools.map((tool, index) => [tool.name, texts[index] ?? '']))
    }
    const value = parseLine(lines.get(name) ?? '')
    return value === undefined ? undefined : readDefinition(value, server)
  }
}

/** A definition as it was written, under the server's name of now. */
export function readDefinition(value: JsonObject, server: string): ToolDefinition | undefined {
  const { name, title, description, inputSchema, outputSchema } = value
  if (typeof name !== 'string' || !isObject<JsonValue>(inputSchema)) return undefined
  const annotations = readAnnotations(value['annotations'])
  return {
    id: `${server}__${name}`,
    server,
    name,
    ...(typeof title === 'string' ? { title } : {}),
    description: typeof description === 'string' ? description : '',
    inputSchema,
    ...(isObject<JsonValue>(outputSchema) ? { outputSchema } : {}),
    ...(annotations === undefined ? {} : { annotations }),
  }
}

function parseTools(value: unknown): SidecarTool[] {
  if (!Array.isArray(value)) return []
  return value.flatMap((item: unknown) => {
    if (!isObject<JsonValue>(item) || typeof item['name'] !== 'string') return []
    return [
      {
        name: item['name'],
        parameters: readStrings(item['parameters']),
        required: readStrings(item['required']),
        annotations: readAnnotations(item['annotations']),
      },
    ]
  })
}

/** The annotations that there are names for, each of the type it must have. */
export function readAnnotations(value: unknown): ToolAnnotations | undefined {
  if (!isObject<JsonValue>(value)) return undefined
  const { title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = value
  const read: ToolAnnotations = {
    ...(typeof title === 'string' ? { title } : {}),
    ...(typeof readOnlyHint === 'boolean' ? { readOnlyHint } : {}),
    ...(typeof destructiveHint === 'boolean' ? { destructiveHint } : {}),
    ...(typeof idempotentHint === 'boolean' ? { idempotentHint } : {}),
    ...(typeof openWorldHint === 'boolean' ? { openWorldHint } : {}),
  }
  return Object.keys(read).length === 0 ? undefined : read
}

function parseLine(line: string): JsonObject | undefined {
  if (line === '') return undefined
  try {
    const value: unknown = JSON.parse(line)
    return isObject<JsonValue>(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** CRC-32: against damage, not against the user, whose own directory it lies in. */
function checkSum(bytes: Uint8Array): string {
  // `zlib` loads in a fraction of the time that `crypto` takes.
  return process.getBuiltinModule('node:zlib').crc32(bytes).toString(16)
}

function damaged(path: string, problem: string): SidecarReading {
  const message = `the tool definitions at ${path} cannot be used: ${problem}`
  const hint = 'Run `skillrail tools refresh` to write them anew.'
  return { diagnostics: [{ code: 'sidecar-damaged', severity: 'warning', message, path, hint }] }
}

export function parameterNames(tool: Pick<ToolDefinition, 'inputSchema'>): string[] {
  const properties = tool.inputSchema['properties']
  const isMap = typeof properties === 'object' && properties !== null && !Array.isArray(properties)
  return isMap ? Object.keys(properties) : []
}

export function requiredNames(tool: Pick<ToolDefinition, 'inputSchema'>): string[] {
  const required = tool.inputSchema['required']
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}
