import { join } from 'node:path'
import type * as Zod from 'zod'
import { isAlive } from '#core/file-lock'
import { exitCode, messageOf, SkillrailError } from '#core/errors'
import { hexDigest, parseJson, type JsonValue } from '#core/json'
import { findWorkspace, readRegularFile } from '#core/read-files'
import { type Runtime, userDirectories } from '#core/runtime'
import { ToolCallError, ToolError } from '#tools/errors'
import type { CallFailure } from '#tools/model'
import { zod } from '#core/zod'
import type { ServerState } from './pool.ts'

/**
 * The protocol between the process that keeps servers and the commands that use them: MCP over HTTP. The
 * path `/mcp` has the process's tools, and `/mcp/NAME` has the tools of the server NAME. Additional data is
 * in the `_meta` of requests and results, and in the data of errors.
 */
export const controlPath = '/mcp'

export function serverPath(name: string): string {
  return `${controlPath}/${encodeURIComponent(name)}`
}

export const controlTools = {
  status: 'status',
  start: 'start',
  stop: 'stop',
} as const

/** The member of `_meta` for additional data. */
export const metaKey = 'skillrail/kept'

type Directories = Pick<Runtime, 'cwd' | 'env' | 'home'>

export interface Place {
  project: string
  runtime: Runtime
}

/** The address of the process that keeps a project's servers, in a file that only the user can read. */
export interface KeptRecord {
  /** 1: the process has an earlier protocol, so that a command can only end it. */
  version: 1 | 2
  project: string
  process: {
    pid: number
    host: string
    startedAt?: string | undefined
    place?: string | undefined
  }
  /** On 127.0.0.1. */
  port: number
  token: string
  startedAt: string
}

export function keptRecordPath(project: string, runtime: Directories): string {
  return join(userDirectories(runtime).state, 'servers', `${hexDigest(project, 24)}.json`)
}

/** Returns the process that keeps a project's servers, of any version. */
export function runningKeeper({ project, runtime }: Place): KeptRecord | undefined {
  const workspace = findWorkspace(project, runtime)
  const file = readRegularFile(keptRecordPath(workspace, runtime), { maxBytes: 65_536, own: true })
  if (!file.ok) return undefined
  const { data: record } = keptSchemas().record.safeParse(parseJson(file.text))
  // Another program may have the port of a dead process and must not get our parameters.
  return record?.project === workspace && isAlive(record.process) ? record : undefined
}

export function readKeptRecord(place: Place): KeptRecord | undefined {
  const record = runningKeeper(place)
  return record?.version === 2 ? record : undefined
}

export function encodeError(error: unknown): ErrorData {
  if (!(error instanceof SkillrailError))
    return { code: 'internal', message: messageOf(error), exitCode: exitCode.failed }
  const { code, message, hint, exitCode: status } = error
  const failure = error instanceof ToolCallError ? error.failure : undefined
  return { code, message, hint, exitCode: status, failure }
}

/** Returns undefined for the error data of another program. */
export function decodeError(data: unknown): SkillrailError | undefined {
  const reading = keptSchemas().error.safeParse(data)
  if (!reading.success) return undefined
  const { failure, ...facts } = reading.data
  return failure ? new ToolCallError(failure, facts) : new ToolError(facts)
}

type Schemas = ReturnType<typeof schemasOf>
type ErrorData = Zod.infer<Schemas['error']>

/** Loaded only by the process that keeps servers, and by commands that find it. */
export function keptSchemas(): Schemas {
  const z = zod()
  return (schemas ??= schemasOf(z))
}

let schemas: Schemas | undefined

function schemasOf(z: typeof Zod) {
  const text = z.string()
  const maybe = text.optional()
  const failure: Zod.ZodType<CallFailure> = z.object({
    kind: z.enum([
      'tool-not-found',
      'invalid-parameters',
      'input-required',
      'server-unavailable',
      'rate-limited',
      'too-large',
      'timeout',
      'connection-lost',
      'protocol',
      'cancelled',
    ]),
    message: text,
    delivered: z.enum(['no', 'unknown', 'yes']),
    stderrTail: maybe,
  })
  const record: Zod.ZodType<KeptRecord> = z.object({
    version: z.literal([1, 2]),
    project: text,
    process: z.object({ pid: z.number(), host: text, startedAt: maybe, place: maybe }),
    port: z.number(),
    token: text,
    startedAt: text,
  })
  const state: Zod.ZodType<ServerState> = z.object({
    name: text,
    state: z.enum(['running', 'idle', 'failed', 'disabled', 'blocked']),
    instance: maybe,
    message: maybe,
  })
  return {
    record,
    error: z.object({
      code: text,
      message: text,
      hint: maybe,
      exitCode: z.literal(Object.values(exitCode)),
      failure: failure.optional(),
    }),
    started: z.object({ instance: text }),
    status: z.object({ idleExitMs: z.number(), servers: z.array(state) }),
    /** The parameters of `start`. */
    server: z.object({ server: text }),
    call: z.object({
      name: text,
      arguments: z.record(text, z.custom<JsonValue>()).default({}),
    }),
    /** In the `_meta` of a call. */
    limits: z.object({
      timeoutMs: z.number().optional(),
      /** Servers over HTTP may also require parameters in headers. */
      inputSchema: z.record(text, z.custom<JsonValue>()).optional(),
    }),
    /** In the `_meta` of a list of tools. */
    listed: z.object({
      instance: text,
      ttlMs: z.number().optional(),
      problems: z.array(z.object({ code: text, message: text })),
    }),
    /** In the `_meta` of the result of a call. */
    called: z.object({
      instance: text,
      /** The answer's size before secrets were masked. */
      size: z.number(),
      problems: z
        .array(z.object({ code: z.enum(['answer-invalid', 'answer-too-deep']), message: text }))
        .optional(),
    }),
  }
}
