import { createRequire } from 'node:module'
import type * as Zod from 'zod'
import { messageOf, SkillrailError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { JsonValue } from '../../skill/model.ts'
import { ToolCallError, ToolError } from '../errors.ts'
import type {
  CallFailure,
  ToolContent,
  ToolDefinition,
  ToolOutcome,
  ToolProgress,
} from '../model.ts'
import { ServerNotTrustedError, ServerStartError, ToolNotAllowedError } from './errors.ts'

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

/** What was checked when it was read from a server is not checked again on its way between our processes. */
function schemasOf(z: typeof Zod) {
  const text = z.string()
  const maybe = text.optional()
  const object = z.record(text, z.custom<JsonValue>())
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
      failure: z.custom<CallFailure>(isObject).optional(),
      server: maybe,
      stderrTail: maybe,
    }),
    started: z.object({ instance: text }),
    listed: z.object({
      instance: text,
      tools: z.array(z.custom<ToolDefinition>(isObject)),
      problems: z.array(z.object({ code: text, message: text })),
      ttlMs: z.number().optional(),
    }),
    called: z.object({
      instance: text,
      outcome: z.custom<ToolOutcome>(isObject).transform(decodeOutcome),
    }),
    progress: z.custom<ToolProgress>(isObject),
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
  const { type, failure, server = '', stderrTail, ...facts } = servedSchemas().error.parse(value)
  const { code, message, hint } = facts
  if (type === 'start' || type === 'not-trusted') {
    const StartError = type === 'start' ? ServerStartError : ServerNotTrustedError
    return new StartError({ server, message, stderrTail, kind: failure?.kind }, { hint })
  }
  if (failure === undefined) return new ToolError(facts)
  const CallError = type === 'not-allowed' ? ToolNotAllowedError : ToolCallError
  return new CallError(failure, { code, hint })
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

function decodeOutcome(outcome: ToolOutcome): ToolOutcome {
  const content = outcome.content.map((block): ToolContent => {
    if (!('data' in block)) return block
    const data: unknown = block.data
    return typeof data === 'string' ? { ...block, data: Buffer.from(data, 'base64') } : block
  })
  return { ...outcome, content }
}
