import type { Diagnostic } from '../../core/diagnostic.ts'
import { isObject } from '../../core/json.ts'
import { readRegularFile } from '../../core/read-files.ts'
import { writeFileAtomic } from '../../core/write-files.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { ToolAnnotations, ToolDefinition } from '../model.ts'
import { type ProjectPlace, sidecarPath } from './places.ts'

/** The full definitions of one server, by the names that it has for its tools. */
export type Sidecar = ReadonlyMap<string, ToolDefinition>

export interface SidecarReading {
  sidecar?: Sidecar | undefined
  diagnostics: readonly Diagnostic[]
}

const maxBytes = 256 * 1024 * 1024

export async function writeSidecar(
  serverDigest: string,
  tools: readonly ToolDefinition[],
  place: ProjectPlace,
): Promise<void> {
  const text = `${JSON.stringify({ server: serverDigest, tools })}\n`
  await writeFileAtomic(sidecarPath(serverDigest, place), text, { mode: 0o600 })
}

/**
 * Reads a server's sidecar; one that is damaged, or of another server, counts as none and is
 * reported.
 *
 * @param server the name that the definitions get.
 */
export function readSidecar(
  serverDigest: string,
  server: string,
  place: ProjectPlace,
): SidecarReading {
  const path = sidecarPath(serverDigest, place)
  const file = readRegularFile(path, { maxBytes })
  if (!file.ok) {
    return file.code === 'file-missing' ? { diagnostics: [] } : damaged(path, file.message)
  }
  const value = parse(file.text)
  if (!isObject<JsonValue>(value)) return damaged(path, 'it is not JSON')
  if (value['server'] !== serverDigest) return damaged(path, 'it is of another server')
  const tools = Array.isArray(value['tools']) ? value['tools'] : []
  const definitions = tools.flatMap((tool) => readDefinition(tool, server) ?? [])
  return { sidecar: new Map(definitions.map((tool) => [tool.name, tool])), diagnostics: [] }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A definition as it was written, under the server's name of now. */
export function readDefinition(value: unknown, server: string): ToolDefinition | undefined {
  if (!isObject<JsonValue>(value)) return undefined
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

/** The annotations that have the type that MCP gives them. */
export function readAnnotations(value: unknown): ToolAnnotations | undefined {
  if (!isObject<JsonValue>(value)) return undefined
  const { title } = value
  const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const
  const read: ToolAnnotations = {
    ...(typeof title === 'string' ? { title } : {}),
    ...Object.fromEntries(
      hints.flatMap((hint) => (typeof value[hint] === 'boolean' ? [[hint, value[hint]]] : [])),
    ),
  }
  return Object.keys(read).length === 0 ? undefined : read
}

function damaged(path: string, problem: string): SidecarReading {
  const message = `the tool definitions at ${path} cannot be used: ${problem}`
  const hint = 'Run `skillrail tools refresh` to write them again.'
  return { diagnostics: [{ code: 'sidecar-damaged', severity: 'warning', message, path, hint }] }
}

export function parameterNames({ inputSchema }: Pick<ToolDefinition, 'inputSchema'>): string[] {
  const { properties } = inputSchema
  return isObject(properties) ? Object.keys(properties) : []
}

export function requiredNames({ inputSchema }: Pick<ToolDefinition, 'inputSchema'>): string[] {
  const { required } = inputSchema
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}
