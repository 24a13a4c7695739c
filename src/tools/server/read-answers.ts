import { messageOf, systemCode } from '#core/errors'
import { isSecretKey, redactValue } from '#core/redact'
import { deepestJson, isObject, objectOf, type JsonValue, type JsonObject } from '#core/json'
import { safeLine } from '#core/text'
import { cutText } from '#core/text'
import { toolIdProblem } from '#tools/cache/cache-file'
import { readDefinition } from '#tools/cache/stored-tools'
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
 * Reads the result of a call (MCP, CallToolResult). A block of an unknown kind becomes text with its JSON, so
 * that no content is lost.
 *
 * @throws {ToolCallError} `protocol`, if no part of the result is usable
 */
export function readOutcome(result: JsonObject): ToolOutcome {
  const { structuredContent } = result
  const isError = Boolean(result['isError'])
  const content: ToolContent[] = []
  const problems: AnswerProblem[] = []
  for (const [index, block] of blocksOf(result).entries()) {
    const isTooDeep = isDeepValue(block)
    const contentBlock = isTooDeep || !isObject<JsonValue>(block) ? undefined : readBlock(block)
    const problem = isTooDeep ? deep : 'is invalid'
    if (contentBlock) content.push(contentBlock)
    else {
      const message = `block ${index + 1} of its content ${problem}`
      problems.push({ code: 'answer-invalid', message })
    }
  }
  const isDeep = isDeepValue(structuredContent)
  if (isDeep) problems.push({ code: 'answer-too-deep', message: `its structured content ${deep}` })
  // Libraries that write every field send null for a missing one.
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

/** Returns the content blocks. Servers with the first protocols may omit the content, else it must be a list. */
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

/** Converts both alphabets of base64 to plain base64; undefined for any other text. */
function base64Of(data: unknown): string | undefined {
  if (typeof data !== 'string' || !/^[\w+/\s-]*(?:={1,2}\s*)?$/.test(data)) return undefined
  return Buffer.from(data, 'base64').toString('base64')
}

function mediaOf({ mimeType }: JsonObject): { mimeType?: string } {
  return typeof mimeType === 'string' ? { mimeType } : {}
}

const longestDescription = 64 * 1024
/** Maximum characters of a whole definition as JSON. */
const largestDefinition = 1024 * 1024

/** Reads each tool. Malformed, unusable and huge tools are left out and listed in `problems`. */
export function readTools(server: string, values: readonly unknown[]): ListedTools {
  const tools: ToolDefinition[] = []
  const problems: ListedTools['problems'][number][] = []
  for (const value of values) {
    // Some servers leave out the schema of a tool without parameters.
    const isBare = isObject(value) && !isObject(value['inputSchema'])
    const candidate = isBare ? { ...value, inputSchema: { type: 'object' } } : value
    const tool = readDefinition(candidate, server)
    const report = (code: string, problem: string): void => {
      const name = tool ? ` ${JSON.stringify(safeLine(tool.id.slice(0, 80)))}` : ''
      problems.push({ code, message: `the tool${name} ${problem}` })
    }
    if (!tool) {
      report('tool-name', 'is left out: it has no name')
      continue
    }
    const description = cutText(tool.description, longestDescription)
    const definition = { ...tool, description }
    const wrongId = toolIdProblem(tool.id) ?? toolIdProblem(tool.name)
    if (wrongId !== undefined) report('tool-name', `is left out: ${wrongId}`)
    else if (isDeepValue(value) || JSON.stringify(definition).length > largestDefinition)
      report('tool-definition', 'is left out: its definition is too large or nested too deeply')
    else {
      if (tool.description.length > longestDescription)
        report(
          'tool-description',
          `has a description of ${tool.description.length} characters; cut`,
        )
      tools.push(definition)
    }
  }
  return { tools, problems }
}

interface FailedCall {
  server: string
  tool: string
  timeoutMs: number
  isSent: boolean
  isCancelled: boolean
  /** How the server's process ended, as in "it ended with exit code 1". */
  ending?: string | undefined
}

/** A call that was refused before the tool ran is not delivered; for a call without an answer that is unknown. */
export function callFailure(error: unknown, call: FailedCall): CallFailure {
  const { server, tool, timeoutMs } = call
  const delivery = call.isSent ? 'unknown' : 'no'
  const detail = messageOf(error)
  const code = codeOf(error)
  const prefix = `The server ${server} answered the call of ${tool} with`
  if (call.isCancelled) return failure('cancelled', `The call of ${tool} was cancelled`, delivery)
  if (code === streamBroken) return lostConnection(call, detail, delivery)
  if (typeof code === 'number') return answeredWithError(code, detail, call)
  if (code === 'CAPABILITY_NOT_SUPPORTED') return needsInput(tool, detail, 'yes')
  if (code === 'REQUEST_TIMEOUT')
    return failure('timeout', `${tool} gave no answer within ${timeoutMs} ms`, delivery)
  if (code === 'INVALID_RESULT' || code === 'UNSUPPORTED_RESULT_TYPE')
    return failure('protocol', `${prefix} something that is not a result: ${detail}`, 'yes')
  if (code === 'CLIENT_HTTP_UNEXPECTED_CONTENT')
    return failure('protocol', `${prefix} ${foreign}`, delivery)
  const status = httpStatus(error)
  if (status === 401 || status === 403)
    return failure('server-unavailable', signInNeeded(server, status), 'no')
  if (status === 404) {
    const message = `The server ${server} no longer knows this session (HTTP 404)`
    return failure('connection-lost', message, 'no')
  }
  if (status === 429) return failure('rate-limited', `${prefix} HTTP ${status}`, 'no')
  if (status !== undefined)
    return failure('protocol', `${prefix} HTTP ${status}`, status < 500 ? 'no' : delivery)
  const reason = neverReached(error)
  if (reason !== undefined)
    return failure('server-unavailable', `The server ${server} cannot be reached: ${reason}`, 'no')
  return lostConnection(call, detail, delivery)
}

function lostConnection(
  { server, tool, ending }: FailedCall,
  detail: string,
  delivered: CallFailure['delivered'],
): CallFailure {
  const message = `The connection to the server ${server} was lost during the call of ${tool}: ${ending ?? detail}`
  return failure('connection-lost', message, delivered)
}

/** The description of an answer that does not come from an MCP server. */
export const foreign = 'something that is not a message of the protocol, such as a web page'

function failure(kind: CallFailure['kind'], message: string, delivered: CallFailure['delivered']) {
  return { kind, message, delivered }
}

function needsInput(tool: string, detail: string, delivered: CallFailure['delivered']) {
  const message = `${tool} was not finished, because its server asks during the call, which Skillrail does not answer: ${detail}`
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
  const detail = text.replace(/^MCP error -?\d+: /, '')
  switch (code) {
    case methodNotFound:
      return failure('tool-not-found', `The server ${server} has no tool ${tool}: ${detail}`, 'no')
    case invalidParams:
      return failure('invalid-parameters', detail, 'no')
    case answerTooLarge: {
      const message = `The answer of ${tool} on the server ${server} cannot be used: ${detail}`
      return failure('too-large', message, 'yes')
    }
    case unusableAnswer: {
      const message = `The answer of ${tool} on the server ${server} cannot be used: ${detail}`
      return failure('protocol', message, 'yes')
    }
    case missingCapability:
      return needsInput(tool, detail, 'no')
    default: {
      const message = `The server ${server} answered the call of ${tool} with error ${code}: ${detail}`
      return failure('protocol', message, refusedUnseen.includes(code) ? 'no' : 'yes')
    }
  }
}

/** Our code for an invalid answer, in the range for implementations. */
export const unusableAnswer = -32_050
/** Our code for an answer above the size limit. */
export const answerTooLarge = -32_051
/** Our code for a request whose stream ended without an answer. */
export const streamBroken = -32_052
const headerMismatch = -32_020
const missingCapability = -32_021
const methodNotFound = -32_601
const invalidParams = -32_602
/** Parse error, invalid request, and refusals before any work in the protocol of 2026-07-28. */
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
  // The client's error for `insufficient_scope` has no status.
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

/** Returns a number for a protocol error, a name for a client error (see its `SdkErrorCode`). */
function codeOf(error: unknown): number | string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code } = error
  return typeof code === 'string' || (typeof code === 'number' && code < 0) ? code : undefined
}

export type Mask = <T>(value: T) => T

/**
 * Returns a mask for a server's texts. The mask removes everything that looks like a secret, and the secrets
 * in the server's configuration, which have no typical form: values of variables and headers with the name
 * of a secret, and passwords in addresses.
 */
export function serverMask(
  transport: ServerTransport,
  more: () => readonly string[] = () => [],
): Mask {
  const [variables, urls] =
    transport.kind === 'stdio'
      ? [Object.entries(transport.env), []]
      : [Object.entries(transport.headers), [transport.url]]
  const secrets = [
    ...variables.flatMap(([name, value]) => (isNameOfSecret(name) ? wordsOf(value) : [])),
    ...[...variables.map(([, value]) => value), ...urls].flatMap(passwordsOf),
  ]
  const allSpellings = [...new Set(secrets.flatMap(spellings))].filter(isMaskable)
  // A secret that is a part of another one must come later.
  allSpellings.sort((a, b) => b.length - a.length)
  return (value) => redactValue(value, [...more(), ...allSpellings])
}

/** Masks an error's content. The answer of a successful call stays unchanged, because the caller needs it. */
export function maskedError(outcome: ToolOutcome, mask: Mask): ToolOutcome {
  if (!outcome.isError) return outcome
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

/** Whether a secret can be masked. Common words must stay, because texts would be unreadable without them. */
function isMaskable(secret: string): boolean {
  return secret.length > 3 && !/^(?:true|false|none|null|basic|bearer)$/i.test(secret)
}

/** Returns a value and, without the scheme, the credentials in a header. */
function wordsOf(value: string): string[] {
  const text = value.trim()
  const [, credentials] = /^(?:basic|bearer|token)\s+(\S.*)$/i.exec(text) ?? []
  return credentials === undefined ? [text] : [text, credentials]
}

/** Returns the password of an address, and values in its query with the name of a secret. */
function passwordsOf(value: string): string[] {
  if (!value.includes('://') || !URL.canParse(value)) return []
  const { password, searchParams } = new URL(value)
  const querySecrets = [...searchParams].flatMap(([key, text]) => (isNameOfSecret(key) ? text : []))
  return password === '' ? querySecrets : [password, decodeText(password), ...querySecrets]
}

function decodeText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function spellings(secret: string): string[] {
  return [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]
}
