import { isObject } from '../../core/json.ts'
import { messageOf, SkillrailError } from '../../core/errors.ts'
import type { JsonValue } from '../../skill/model.ts'
import { ToolCallError, ToolError } from '../errors.ts'
import type { AnswerProblem, CallFailure, JsonObject, ToolContent, ToolOutcome } from '../model.ts'
import {
  ServerNotFoundError,
  ServerNotTrustedError,
  ServerStartError,
  ToolNotAllowedError,
} from './errors.ts'

/** What one line of an answer is. The last line of every answer is `done` or `error`. */
export type ServedLine = { progress: unknown } | { done: unknown } | { error: ServedError }

export interface ServedError {
  type: 'not-found' | 'not-trusted' | 'start' | 'not-allowed' | 'call' | 'other'
  code: string
  message: string
  hint?: string | undefined
  failure?: CallFailure | undefined
  server?: string | undefined
  stderrTail?: string | undefined
}

export function encodeError(error: unknown): ServedError {
  if (!(error instanceof SkillrailError))
    return { type: 'other', code: 'internal', message: messageOf(error) }
  const { code, message, hint } = error
  const base = { code, message, hint }
  if (error instanceof ServerNotFoundError) return { type: 'not-found', ...base }
  if (error instanceof ServerStartError) {
    const type = error instanceof ServerNotTrustedError ? 'not-trusted' : 'start'
    return {
      type,
      ...base,
      failure: error.failure,
      server: error.server,
      stderrTail: error.stderrTail,
    }
  }
  if (!(error instanceof ToolCallError)) return { type: 'other', ...base }
  const type = error instanceof ToolNotAllowedError ? 'not-allowed' : 'call'
  return { type, ...base, failure: error.failure }
}

export function decodeError(error: ServedError): SkillrailError {
  const { type, code, message, hint, failure, server = '', stderrTail } = error
  if (type === 'not-trusted')
    return new ServerNotTrustedError({ server, message, stderrTail }, { hint })
  if (type === 'start')
    return new ServerStartError({ server, message, stderrTail, kind: failure?.kind }, { hint })
  if (failure === undefined) return new ToolError({ code, message, hint })
  return type === 'not-allowed'
    ? new ToolNotAllowedError(failure, { code, hint })
    : new ToolCallError(failure, { code, hint })
}

/** Bytes as text, for JSON. */
export function encodeOutcome(outcome: ToolOutcome): object {
  const content = outcome.content.map((block) =>
    'data' in block && block.data !== undefined
      ? { ...block, data: Buffer.from(block.data).toString('base64') }
      : block,
  )
  return { ...outcome, content }
}

export function decodeOutcome(value: unknown): ToolOutcome {
  const outcome: JsonObject = isObject<JsonValue>(value) ? value : {}
  const blocks = Array.isArray(outcome['content']) ? outcome['content'] : []
  const problems = Array.isArray(outcome['problems']) ? outcome['problems'].flatMap(problem) : []
  return {
    isError: outcome['isError'] === true,
    content: blocks.flatMap((block) => (isObject<JsonValue>(block) ? decodeBlock(block) : [])),
    structured: outcome['structured'],
    size: typeof outcome['size'] === 'number' ? outcome['size'] : 0,
    ...(problems.length === 0 ? {} : { problems }),
  }
}

export function problem(value: unknown): AnswerProblem[] {
  if (!isObject<JsonValue>(value) || typeof value['message'] !== 'string') return []
  const code = value['code'] === 'answer-too-deep' ? value['code'] : 'answer-invalid'
  return [{ code, message: value['message'] }]
}

export function decodeBlock(block: JsonObject): ToolContent[] {
  const text = (key: string): string | undefined => {
    const value = block[key]
    return typeof value === 'string' ? value : undefined
  }
  const type = text('type') ?? ''
  const data = text('data')
  const bytes = data === undefined ? undefined : Buffer.from(data, 'base64')
  const mimeType = text('mimeType')
  const uri = text('uri') ?? ''
  switch (type) {
    case 'text':
      return [{ type, text: text('text') ?? '' }]
    case 'image':
    case 'audio':
      return [{ type, mimeType: mimeType ?? '', data: bytes ?? Buffer.alloc(0) }]
    case 'resource':
      return [{ type, uri, mimeType, text: text('text'), data: bytes }]
    case 'link':
      return [{ type, uri, name: text('name') ?? uri, mimeType }]
    default:
      return []
  }
}
