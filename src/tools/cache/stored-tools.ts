import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type * as Zod from 'zod'
import { compareText, type Diagnostic } from '#core/errors'
import { readRegularFile, realPathOf } from '#core/read-files'
import { type Runtime, userDirectories } from '#core/runtime'
import { writeFileAtomic } from '#core/write-files'
import { hexDigest, isObject, parseJson, type JsonValue } from '#core/json'
import type { ToolAnnotations, ToolDefinition } from '#tools/model'
import { zod } from '#core/zod'
import { nameInServer, serverOfId } from './cache-file.ts'

export interface ProjectPlace {
  project: string
  runtime: Runtime
}

/** Returns `.skillrail/tools.json`, or `.opencode/agent-skill-tools.json` if `.opencode/` exists. */
export function toolCachePath(project: string): string {
  const openCode = join(project, '.opencode')
  return existsSync(openCode)
    ? join(openCode, 'agent-skill-tools.json')
    : join(project, '.skillrail', 'tools.json')
}

/** Former paths of the cache: those of the format's later and earlier clients, and ours. */
const formerPlaces = [
  '.opencode/skill-tools.json',
  '.opencode/mcp-tools.json',
  '.skillrail/tools.json',
]

/** Returns the cache to read: that of {@link toolCachePath}, or else a former one. */
export function readableCachePath(project: string): string {
  const path = toolCachePath(project)
  const former = formerPlaces.map((place) => join(project, place))
  return [path, ...former].find((candidate) => existsSync(candidate)) ?? path
}

export function refreshRecordPath({ project, runtime }: ProjectPlace): string {
  return join(userDirectories(runtime).state, 'tools', `${fileName(realProject(project))}.json`)
}

/** Returns the file with the full definitions of a project's server, by the digest of its configuration. */
export function sidecarPath(serverDigest: string, { project, runtime }: ProjectPlace): string {
  const { cache } = userDirectories(runtime)
  return join(cache, 'tools', fileName(realProject(project)), `${fileName(serverDigest)}.json`)
}

export function realProject(project: string): string {
  return realPathOf(project) ?? resolve(project)
}

/**
 * Returns a readable name, different for each text. Hashes long texts only: the hash takes milliseconds to
 * load.
 */
export function fileName(text: string): string {
  const name = text.replace(
    /[^A-Za-z0-9._-]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
  return name.length <= 200 ? name : hexDigest(text)
}

/**
 * The results of the last refreshes: the servers that answered, and facts that were generated or changed.
 */
export interface RefreshRecord {
  version: 1
  project: string
  refreshedAt: string
  servers: readonly RecordedServer[]
  tools: readonly RecordedTool[]
  /** Name in the cache and digest of its generated description and keywords. */
  categories: ReadonlyMap<string, string>
}

export interface RecordedServer {
  name: string
  digest: string
  /** Whether its annotations were trusted. */
  trusted: boolean
  /** When it was last listed, as an ISO date. */
  listedAt: string
  /** How long its list may be cached, if the server sets a time. */
  ttlMs?: number | undefined
  failure?: { message: string; stderrTail: string; notTrusted?: boolean | undefined } | undefined
}

export interface RecordedTool {
  id: string
  /** Digest of its current description. */
  description: string
  /** Digest of its current schema. */
  schema: string
  /** Its generated category. */
  category?: string | undefined
  /** When it was last missing from its server's list. */
  removedAt?: string | undefined
  /** The tool when it was first seen or last accepted; absent while it is unchanged. */
  before?: FormerTool | undefined
}

interface FormerTool {
  description: string
  schema: string
  changedAt: string
  /** The accepted definition, to show changes; undefined if it was not stored. */
  definition?: ToolDefinition | undefined
}

function recordSchema(z: typeof Zod): Zod.ZodType<RefreshRecord> {
  const text = z.string()
  const definition = z
    .object({ server: text })
    .loose()
    .transform((value) => readDefinition(value, value.server))
  const server = z.object({
    name: text,
    digest: text,
    trusted: z.boolean(),
    listedAt: text,
    ttlMs: z.number().nonnegative().optional(),
    failure: z
      .object({ message: text, stderrTail: text, notTrusted: z.boolean().optional() })
      .optional(),
  })
  const before = z.object({
    description: text,
    schema: text,
    changedAt: text,
    definition: definition.optional(),
  })
  const tool = z.object({
    id: text,
    description: text,
    schema: text,
    category: text.optional(),
    removedAt: text.optional(),
    before: before.optional(),
  })
  return z.object({
    version: z.literal(1),
    project: text,
    refreshedAt: text,
    servers: z.array(server).readonly(),
    tools: z.array(tool).readonly(),
    categories: z
      .array(z.tuple([text, text]))
      .transform((pairs): ReadonlyMap<string, string> => new Map(pairs)),
  })
}

export interface RecordReading {
  record?: RefreshRecord | undefined
  /** The path of a record that is there and cannot be used. What it held back is not known. */
  damaged?: string | undefined
  diagnostics: readonly Diagnostic[]
}

export function readRefreshRecord(place: ProjectPlace): RecordReading {
  const path = refreshRecordPath(place)
  const { value, diagnostics } = readStoredFile(
    path,
    'refresh-record',
    recordSchema,
    'Look at the tools with `skillrail tools show`, then run `skillrail tools refresh --accept`.',
  )
  // Two long paths can have the same file name.
  const isOfProject = value?.project === realProject(place.project)
  const damaged = diagnostics.length > 0 ? path : undefined
  return { record: isOfProject ? value : undefined, damaged, diagnostics }
}

export function serializeRecord(record: RefreshRecord): string {
  return `${JSON.stringify({ ...record, categories: [...record.categories] })}\n`
}

export async function writeSidecar(
  serverDigest: string,
  tools: readonly ToolDefinition[],
  place: ProjectPlace,
): Promise<void> {
  const text = `${JSON.stringify({ server: serverDigest, tools })}\n`
  await writeFileAtomic(sidecarPath(serverDigest, place), text, { mode: 0o600 })
}

/** Reads the definitions of a record. Damaged ones and those of another server are left out. */
export function storedDefinitions(record: RefreshRecord | undefined, place: ProjectPlace) {
  const diagnostics: Diagnostic[] = []
  const byServer = new Map<string, ReadonlyMap<string, ToolDefinition>>()
  for (const { name: server, digest } of record?.servers ?? []) {
    const reading = readStoredFile(sidecarPath(digest, place), 'sidecar-damaged', (z) =>
      z.object({ server: z.literal(digest), tools: z.array(z.unknown()) }),
    )
    const tools = reading.value?.tools.flatMap((tool) => readDefinition(tool, server) ?? []) ?? []
    diagnostics.push(...reading.diagnostics)
    byServer.set(server, new Map(tools.map((tool) => [tool.name, tool])))
  }
  const names = [...byServer.keys()]
  return {
    diagnostics,
    definition(id: string): ToolDefinition | undefined {
      const server = serverOfId(id, names)
      return byServer.get(server)?.get(nameInServer(id, server))
    },
  }
}

function readStoredFile<Schema extends Zod.ZodType>(
  path: string,
  code: string,
  schemaOf: (z: typeof Zod) => Schema,
  hint = 'Run `skillrail tools refresh` to write it again.',
): { value?: Zod.infer<Schema>; diagnostics: readonly Diagnostic[] } {
  const file = readRegularFile(path, { maxBytes: 256 * 1024 * 1024, own: true })
  if (!file.ok && file.code === 'file-missing') return { diagnostics: [] }
  let problem = file.ok ? '' : file.message
  if (file.ok) {
    const z = zod()
    const { data, error } = schemaOf(z).safeParse(parseJson(file.text))
    if (!error) return { value: data, diagnostics: [] }
    problem = `it is damaged at "${error.issues[0]?.path.join('.')}"`
  }
  const message = `${path} cannot be used: ${problem}`
  return { diagnostics: [{ code, severity: 'warning', message, path, hint }] }
}

/** Reads a stored definition, under the current name of its server. */
export function readDefinition(value: unknown, server: string): ToolDefinition | undefined {
  if (!isObject<JsonValue>(value)) return undefined
  const { name, title, description, inputSchema, outputSchema } = value
  if (typeof name !== 'string' || !isObject(inputSchema)) return undefined
  const annotations = readAnnotations(value['annotations'])
  return {
    id: `${server}__${name}`,
    server,
    name,
    ...(typeof title === 'string' ? { title } : {}),
    description: typeof description === 'string' ? description : '',
    inputSchema,
    ...(isObject(outputSchema) ? { outputSchema } : {}),
    ...(annotations ? { annotations } : {}),
  }
}

function readAnnotations(value: unknown): ToolAnnotations | undefined {
  if (!isObject(value)) return undefined
  const types: Record<keyof ToolAnnotations, string> = {
    title: 'string',
    readOnlyHint: 'boolean',
    destructiveHint: 'boolean',
    idempotentHint: 'boolean',
    openWorldHint: 'boolean',
  }
  const fields = Object.entries(types).filter(([key, type]) => typeof value[key] === type)
  return fields.length === 0
    ? undefined
    : Object.fromEntries(fields.map(([key]) => [key, value[key]]))
}

export interface ToolDigests {
  /** Digest of the texts that a model reads. */
  description: string
  /** Digest of the schemas and annotations, whatever the order of their keys. */
  schema: string
}

export function digestTool(tool: ToolDefinition): ToolDigests {
  const { name, title, description, inputSchema, outputSchema, annotations } = tool
  return {
    description: hexDigest(JSON.stringify([name, title, description]), 32),
    schema: hexDigest(JSON.stringify(sortKeys([inputSchema, outputSchema, annotations])), 32),
  }
}

export function digestText(description: string, keywords: readonly string[]): string {
  return hexDigest(JSON.stringify([description, keywords]), 32)
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => sortKeys(item))
  if (!isObject(value)) return value
  return Object.entries(value)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([key, item]) => [key, sortKeys(item)])
}
