import { createRequire } from 'node:module'
import type * as Zod from 'zod'
import { exitCode, type ExitCode, messageOf, SkillrailError } from '../../core/errors.ts'
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
import { ServerStartError } from './errors.ts'

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
      code: text,
      message: text,
      hint: maybe,
      exitCode: z.custom<ExitCode>((value) => typeof value === 'number'),
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
    return { code: 'internal', message: messageOf(error), exitCode: exitCode.badAnswer }
  const { code, message, hint, exitCode: status } = error
  const facts = { code, message, hint, exitCode: status }
  if (!(error instanceof ToolCallError)) return facts
  const { failure } = error
  if (!(error instanceof ServerStartError)) return { ...facts, failure }
  const { server, stderrTail } = error
  return { ...facts, failure, server, stderrTail }
}

export function decodeError(value: unknown): SkillrailError {
  const { failure, server, stderrTail, ...facts } = servedSchemas().error.parse(value)
  if (failure === undefined) return new ToolError(facts)
  if (server === undefined) return new ToolCallError(failure, facts)
  return new ServerStartError({ ...failure, server, stderrTail }, facts)
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
