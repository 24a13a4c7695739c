import { messageOf, systemCode } from '#core/errors'
import { isSecretKey, redactValue } from '#core/redact'
import { deepestJson, isObject, objectOf, type JsonValue, type JsonObject } from '#core/json'
import { safeLine } from '#core/text'
import { cutText, toolIdProblem } from '#tools/cache/cache-file'
import { readDefinition } from '#tools/cache/stored-tools'
import { tellsFailure } from '#tools/call/attempts'
import type { ServerTransport } from '#tools/config/model'
import { ToolCallError } from '#tools/errors'
import type {
  AnswerProblem,
  CallFailure,
  ListedTools,
  ToolContent,
  ToolDefinition,
  ToolOutcome,
} from '#tools/model'
import { isDeepJson, isDeepValue } from '#tools/workflow/gate'

/**
 * Reads the result of a call (MCP, CallToolResult). A block of a kind that the protocol does not know
 * becomes its JSON as text, so that nothing a server said is lost.
 *
 * @throws {ToolCallError} `protocol`, where nothing of it can be used
 */
export function readOutcome(result: JsonObject): ToolOutcome {
  const { structuredContent } = result
  const isError = Boolean(result['isError'])
  const content: ToolContent[] = []
  const problems: AnswerProblem[] = []
  for (const [index, block] of blocksOf(result).entries()) {
    const isTooDeep = isDeepValue(block)
    const read = isTooDeep || !isObject<JsonValue>(block) ? undefined : readBlock(block)
    const problem = isTooDeep ? deep : 'is invalid'
    if (read) content.push(read)
    else {
      const message = `block ${index + 1} of its content ${problem}`
      problems.push({ code: 'answer-invalid', message })
    }
  }
  const isDeep = isDeepValue(structuredContent)
  if (isDeep) problems.push({ code: 'answer-too-deep', message: `its structured content ${deep}` })
  // Libraries that write every field send null where there is none.
  const structured = isDeep || structuredContent === null ? undefined : structuredContent
  const [first] = problems
  if (first && content.length === 0 && structured === undefined) {
    throw unusable(first.message)
  }
  for (const block of content) {
    if (block.type !== 'text' || !isDeepJson(block.text)) continue
    problems.push({ code: 'answer-too-deep', message: `its JSON ${deep}; it stays text` })
  }
  return {
    isError,
    content,
    structured,
    size: content.reduce((sum, block) => sum + sizeOf(block), jsonSize(structured)),
    ...(problems.length === 0 ? {} : { problems }),
  }
}

function sizeOf(block: ToolContent): number {
  const data = 'data' in block ? block.data : undefined
  return data === undefined ? jsonSize(block) : Buffer.byteLength(data, 'base64')
}

function jsonSize(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
}

const deep = `is nested deeper than ${deepestJson} levels`

function unusable(message: string): ToolCallError {
  return new ToolCallError({
    kind: 'protocol',
    message: `the answer is not a result of a tool: ${message}`,
    delivered: 'yes',
  })
}

/** Servers of the first protocols may leave the content out; what stands there must be a list. */
function blocksOf({ content = [] }: JsonObject): readonly unknown[] {
  if (Array.isArray(content)) return content
  throw unusable('its `content` is not a list of blocks')
}

function readBlock(block: JsonObject): ToolContent | undefined {
  const { text, uri, name } = block
  const type = typeof block['type'] === 'string' ? block['type'] : ''
  const media = mediaOf(block)
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { type, text } : undefined
    case 'image':
    case 'audio': {
      const data = base64Of(block['data'])
      const { mimeType = 'application/octet-stream' } = media
      return data ? { type, mimeType, data } : undefined
    }
    case 'resource_link':
      if (typeof uri !== 'string') return undefined
      return { type: 'link', uri, name: typeof name === 'string' ? name : uri, ...media }
    case 'resource':
      return readResource(objectOf(block['resource']))
    default:
      return { type: 'text', text: JSON.stringify(block) }
  }
}

function readResource(resource: JsonObject): ToolContent | undefined {
  const { uri, text, blob } = resource
  const data = base64Of(blob)
  if (typeof uri !== 'string' || (blob !== undefined && data === undefined)) return undefined
  return {
    type: 'resource',
    uri,
    ...mediaOf(resource),
    ...(typeof text === 'string' && { text }),
    ...(data !== undefined && { data }),
  }
}

/** Plain base64 for what is written in either of its alphabets; undefined for anything else. */
function base64Of(data: unknown): string | undefined {
  if (typeof data !== 'string' || !/^[\w+/\s-]*(?:={1,2}\s*)?$/.test(data)) return undefined
  return Buffer.from(data, 'base64').toString('base64')
}

function mediaOf({ mimeType }: JsonObject): { mimeType?: string } {
  return typeof mimeType === 'string' ? { mimeType } : {}
}

const longestDescription = 64 * 1024
/** Characters of a whole definition as JSON. */
const largestDefinition = 1024 * 1024

/** Reads each tool; one that is malformed, unusable or huge is left out and is in `problems`. */
export function readTools(server: string, listed: readonly unknown[]): ListedTools {
  const tools: ToolDefinition[] = []
  const problems: ListedTools['problems'][number][] = []
  for (const value of listed) {
    // Some servers leave out the schema of a tool without parameters.
    const isBare = isObject(value) && !isObject(value['inputSchema'])
    const read = isBare ? { ...value, inputSchema: { type: 'object' } } : value
    const tool = readDefinition(read, server)
    const report = (code: string, problem: string): void => {
      const name = tool ? ` ${JSON.stringify(safeLine(tool.id.slice(0, 80)))}` : ''
      problems.push({ code, message: `the tool${name} ${problem}` })
    }
    if (!tool) {
      report('tool-name', 'is left out: it has no name')
      continue
    }
    const description = cutText(tool.description, longestDescription)
    const cut = { ...tool, description }
    const wrongId = toolIdProblem(tool.id) ?? toolIdProblem(tool.name)
    if (wrongId !== undefined) report('tool-name', `is left out: ${wrongId}`)
    else if (isDeepValue(value) || JSON.stringify(cut).length > largestDefinition)
      report('tool-definition', 'is left out: its definition is too large or nested too deeply')
    else {
      if (tool.description.length > longestDescription)
        report(
          'tool-description',
          `has a description of ${tool.description.length} characters; cut`,
        )
      tools.push(cut)
    }
  }
  return { tools, problems }
}

interface FailedCall {
  server: string
  tool: string
  timeoutMs: number
  sent: boolean
  cancelled: boolean
  /** What is known of the end of the server's process, as in "it ended with exit code 1". */
  ending?: string | undefined
}

/** A refusal before the tool ran is not delivered; what was sent and never answered is unknown. */
export function callFailure(error: unknown, call: FailedCall): CallFailure {
  const { server, tool, timeoutMs } = call
  const unanswered = call.sent ? 'unknown' : 'no'
  const said = messageOf(error)
  const code = codeOf(error)
  const answered = `The server ${server} answered the call of ${tool} with`
  if (call.cancelled) return failure('cancelled', `The call of ${tool} was cancelled`, unanswered)
  if (typeof code === 'number') return answeredWithError(code, said, call)
  if (code === 'CAPABILITY_NOT_SUPPORTED') return needsInput(tool, said, 'yes')
  if (code === 'REQUEST_TIMEOUT')
    return failure('timeout', `${tool} gave no answer within ${timeoutMs} ms`, unanswered)
  if (code === 'INVALID_RESULT' || code === 'UNSUPPORTED_RESULT_TYPE')
    return failure('protocol', `${answered} what is not a result: ${said}`, 'yes')
  if (code === 'CLIENT_HTTP_UNEXPECTED_CONTENT')
    return failure('protocol', `${answered} ${foreign}`, unanswered)
  const status = httpStatus(error)
  if (status === 401 || status === 403)
    return failure('server-unavailable', signInNeeded(server, status), 'no')
  if (status === 404) {
    const message = `The server ${server} no longer knows this session (HTTP 404)`
    return failure('connection-lost', message, 'no')
  }
  if (status !== undefined)
    return failure('protocol', `${answered} HTTP ${status}`, status < 500 ? 'no' : unanswered)
  const reason = neverReached(error)
  if (reason !== undefined)
    return failure('server-unavailable', `The server ${server} cannot be reached: ${reason}`, 'no')
  const message = `The connection to the server ${server} was lost during the call of ${tool}: ${call.ending ?? said}`
  return failure('connection-lost', message, unanswered)
}

/** What an address answers that is none of a server. */
export const foreign = 'something that is not a message of the protocol, such as a web page'

function failure(kind: CallFailure['kind'], message: string, delivered: CallFailure['delivered']) {
  return { kind, message, delivered }
}

function needsInput(tool: string, said: string, delivered: CallFailure['delivered']) {
  const message = `${tool} was not finished, because its server asks during the call, which Skillrail does not answer: ${said}`
  return failure('input-required', message, delivered)
}

export function isHeaderMismatch(error: unknown): boolean {
  return codeOf(error) === headerMismatch
}

function answeredWithError(
  code: number,
  text: string,
  { server, tool }: Pick<FailedCall, 'server' | 'tool'>,
): CallFailure {
  const said = text.replace(/^MCP error -?\d+: /, '')
  switch (code) {
    case methodNotFound:
      return failure('tool-not-found', `The server ${server} has no tool ${tool}: ${said}`, 'no')
    case invalidParams:
      // Servers answer a missing tool with this code, too (MCP, Tools, Error Handling).
      return /not found|unknown tool|no such tool/i.test(said)
        ? answeredWithError(methodNotFound, said, { server, tool })
        : failure('invalid-parameters', said, 'no')
    case unusableAnswer: {
      const message = `The answer of ${tool} on the server ${server} cannot be used: ${said}`
      return failure('protocol', message, 'yes')
    }
    case missingCapability:
      return needsInput(tool, said, 'no')
    default: {
      const message = `The server ${server} answered the call of ${tool} with error ${code}: ${said}`
      return failure('protocol', message, refusedUnseen.includes(code) ? 'no' : 'yes')
    }
  }
}

/** Ours, for an answer that came and is none; in the range left to implementations. */
export const unusableAnswer = -32_050
const headerMismatch = -32_020
const missingCapability = -32_021
const methodNotFound = -32_601
const invalidParams = -32_602
/** Parse error, invalid request, and the refusals of the protocol of 2026-07-28 before any work. */
const refusedUnseen: readonly number[] = [-32_700, -32_600, headerMismatch, -32_022]

export function signInNeeded(server: string, status: number): string {
  const command = `skillrail tools auth ${server}`
  return status === 401
    ? `The server ${server} wants a sign-in (HTTP 401). Run: ${command}; or correct the Authorization header in its configuration`
    : `The server ${server} refuses this to whoever is signed in (HTTP 403). To sign in with more rights: ${command}`
}

export function httpStatus(error: unknown): number | undefined {
  if (!isObject(error)) return undefined
  const { status, data, code } = error
  if (typeof status === 'number') return status
  if (isObject(data) && typeof data['status'] === 'number') return data['status']
  // The client's own error for `insufficient_scope` has no status.
  if ('requiredScope' in error) return 403
  return typeof code === 'number' && code >= 400 && code < 600 ? code : undefined
}

function codesOf(error: unknown): string[] {
  const codes: string[] = []
  for (let at = error; at instanceof Error; at = at.cause) codes.push(systemCode(at) ?? '')
  return codes
}

export function neverReached(error: unknown): string | undefined {
  return codesOf(error).find((code) => unreachable.includes(code))
}

export function hasCode(error: unknown, code: string): boolean {
  return codesOf(error).includes(code)
}

const unreachable =
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH ENETUNREACH UND_ERR_CONNECT_TIMEOUT'.split(' ')

/** A number for an error of the protocol, a name for one of the client (see its `SdkErrorCode`). */
function codeOf(error: unknown): number | string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code } = error
  return typeof code === 'string' || (typeof code === 'number' && code < 0) ? code : undefined
}

export type Mask = <T>(said: T) => T

/**
 * Takes out of what a server says whatever looks like a secret, and the secrets that its own
 * configuration hands to it, which look like nothing: values of variables and headers with the name
 * of a secret, and passwords of addresses.
 */
export function serverMask(
  transport: ServerTransport,
  more: () => readonly string[] = () => [],
): Mask {
  const [named, urls] =
    transport.kind === 'stdio'
      ? [Object.entries(transport.env), []]
      : [Object.entries(transport.headers), [transport.url]]
  const secrets = [
    ...named.flatMap(([name, value]) => (isNameOfSecret(name) ? wordsOf(value) : [])),
    ...[...named.map(([, value]) => value), ...urls].flatMap(passwordsOf),
  ]
  const known = [...new Set(secrets.flatMap(spellings))].filter(isTelling)
  // A secret that is a part of another one comes after it.
  known.sort((a, b) => b.length - a.length)
  return (said) => redactValue(said, [...more(), ...known])
}

/** The answer of a call that succeeded is what was asked for, and stays as it is. */
export function maskedError(outcome: ToolOutcome, mask: Mask): ToolOutcome {
  if (!outcome.isError && !tellsFailure(outcome)) return outcome
  const content = outcome.content.map((part) => maskedPart(part, mask))
  return { ...outcome, content, structured: mask(outcome.structured) }
}

function maskedPart(part: ToolContent, mask: Mask): ToolContent {
  switch (part.type) {
    case 'image':
    case 'audio':
      return part
    case 'resource':
      return { ...part, uri: mask(part.uri), text: mask(part.text) }
    case 'text':
    case 'link':
      return mask(part)
  }
}

function isNameOfSecret(name: string): boolean {
  return isSecretKey(name) || /(?:^|[_.-])(?:auth|dsn|key|pass|pat|pin|pwd)$/i.test(name)
}

/** Words that a server says anyway would make its sentences unreadable. */
function isTelling(secret: string): boolean {
  return secret.length > 3 && !/^(?:true|false|none|null|basic|bearer)$/i.test(secret)
}

/** With what stands behind the scheme of a header. */
function wordsOf(value: string): string[] {
  const trimmed = value.trim()
  const [, credentials] = /^(?:basic|bearer|token)\s+(\S.*)$/i.exec(trimmed) ?? []
  return credentials === undefined ? [trimmed] : [trimmed, credentials]
}

/** Of an address: its password, and what its query calls a secret. */
function passwordsOf(value: string): string[] {
  if (!value.includes('://') || !URL.canParse(value)) return []
  const { password, searchParams } = new URL(value)
  const queried = [...searchParams].flatMap(([key, text]) => (isNameOfSecret(key) ? text : []))
  return password === '' ? queried : [password, decoded(password), ...queried]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function spellings(secret: string): string[] {
  return [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]
}
