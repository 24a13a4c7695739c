import { createRequire } from 'node:module'
import type * as Zod from 'zod'
import { messageOf, SkillrailError } from '../../core/errors.ts'
import type { JsonValue } from '../../skill/model.ts'
import { ToolCallError, ToolError } from '../errors.ts'
import type { CallFailure, ToolOutcome } from '../model.ts'
import { ServerNotTrustedError, ServerStartError, ToolNotAllowedError } from './errors.ts'

/** What one line of an answer is. The last line of every answer is `done` or `error`. */
export type ServedLine = { progress: unknown } | { done: unknown } | { error: ServedError }

type Schemas = ReturnType<typeof schemasOf>
type ServedError = Zod.infer<Schemas['error']>
/** How the servers that are kept for a project are reached; in a file that only the user can read. */
export type ServedRecord = Zod.infer<Schemas['record']>

export type ServerState = Zod.infer<Schemas['status']>['servers'][number]

/** Loaded only by commands that find a process which keeps servers, and by that process. */
export function servedSchemas(): Schemas {
  const z: typeof Zod = createRequire(import.meta.url)('zod')
  return (schemas ??= schemasOf(z))
}

let schemas: Schemas | undefined

function schemasOf(z: typeof Zod) {
  const text = z.string()
  const maybe = text.optional()
  const json = z.custom<JsonValue>()
  const object = z.record(text, json)
  return {
    record: z.object({
      version: z.literal(1),
      project: text,
      process: z.object({ pid: z.number(), host: text, startedAt: maybe }),
      /** On 127.0.0.1. */
      port: z.number(),
      token: text,
      startedAt: text,
    }),
    request: z.object({
      server: text,
      tool: text.default(''),
      parameters: object.default({}),
      timeoutMs: z.number().optional(),
      inputSchema: object.optional(),
      progress: z.boolean().default(false),
    }),
    error: z.object({
      type: z.enum(['not-trusted', 'start', 'not-allowed', 'call', 'other']),
      code: text,
      message: text,
      hint: maybe,
      failure: z
        .object({
          kind: z.enum(failureKinds),
          message: text,
          delivered: z.enum(['no', 'unknown', 'yes']),
        })
        .optional(),
      server: maybe,
      stderrTail: maybe,
    }),
    started: z.object({ instance: text }),
    listed: z.object({
      instance: text,
      tools: z.array(z.unknown()),
      problems: z.array(text),
      ttlMs: z.number().optional(),
    }),
    called: z.object({
      instance: text,
      outcome: outcomeSchema(z),
    }),
    progress: z.object({ progress: z.number(), total: z.number().optional(), message: maybe }),
    status: z.object({
      /** 0: it does not end by itself. */
      idleExitMs: z.number(),
      servers: z.array(
        z.object({
          name: text,
          state: z.enum(['running', 'idle', 'failed', 'disabled', 'blocked']),
          instance: maybe,
          message: maybe,
        }),
      ),
    }),
  }
}

const failureKinds = [
  'tool-not-found',
  'invalid-parameters',
  'input-required',
  'server-unavailable',
  'timeout',
  'connection-lost',
  'protocol',
  'cancelled',
] as const satisfies readonly CallFailure['kind'][]

function outcomeSchema(z: typeof Zod) {
  const text = z.string()
  const maybe = text.optional()
  const bytes = text.transform((data): Uint8Array => Buffer.from(data, 'base64'))
  const content = z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text }),
    z.object({ type: z.enum(['image', 'audio']), mimeType: text, data: bytes }),
    z.object({
      type: z.literal('resource'),
      uri: text,
      mimeType: maybe,
      text: maybe,
      data: bytes.optional(),
    }),
    z.object({ type: z.literal('link'), uri: text, name: text, mimeType: maybe }),
  ])
  return z.object({
    isError: z.boolean(),
    content: z.array(content),
    structured: z.custom<JsonValue>().optional(),
    size: z.number(),
    problems: z
      .array(z.object({ code: z.enum(['answer-invalid', 'answer-too-deep']), message: text }))
      .optional(),
  })
}

export function encodeError(error: unknown): ServedError {
  if (!(error instanceof SkillrailError))
    return { type: 'other', code: 'internal', message: messageOf(error) }
  const { code, message, hint } = error
  const base = { code, message, hint }
  if (!(error instanceof ToolCallError)) return { type: 'other', ...base }
  const { failure } = error
  if (error instanceof ServerStartError) {
    const { server, stderrTail } = error
    const type = error instanceof ServerNotTrustedError ? 'not-trusted' : 'start'
    return { type, ...base, failure, server, stderrTail }
  }
  return { type: error instanceof ToolNotAllowedError ? 'not-allowed' : 'call', ...base, failure }
}

export function decodeError(value: unknown): SkillrailError {
  const {
    type,
    code,
    message,
    hint,
    failure,
    server = '',
    stderrTail,
  } = servedSchemas().error.parse(value)
  if (type === 'not-trusted')
    return new ServerNotTrustedError({ server, message, stderrTail }, { hint })
  if (type === 'start')
    return new ServerStartError({ server, message, stderrTail, kind: failure?.kind }, { hint })
  if (failure === undefined) return new ToolError({ code, message, hint })
  return type === 'not-allowed'
    ? new ToolNotAllowedError(failure, { code, hint })
    : new ToolCallError(failure, { code, hint })
}

/** Bytes as text, for JSON; {@link servedSchemas} reads them back. */
export function encodeOutcome(outcome: ToolOutcome): object {
  const content = outcome.content.map((block) =>
    'data' in block && block.data !== undefined
      ? { ...block, data: Buffer.from(block.data).toString('base64') }
      : block,
  )
  return { ...outcome, content }
}
