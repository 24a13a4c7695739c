import { exitCode, type ExitCode, messageOf, SkillrailError } from '../core/errors.ts'
import { safeText } from '../core/text.ts'
import type { JsonValue } from '../skill/model.ts'
import type { JsonObject } from '../tools/model.ts'

/** A tool that Skillrail offers to the client of an MCP connection. */
export interface OfferedTool {
  name: string
  title: string
  /** For the model that chooses. */
  description: string
  inputSchema: JsonObject
  /** Only where the shape is stable. */
  outputSchema?: JsonObject | undefined
  annotations: OfferedAnnotations
  /** @throws {SkillrailError} what the model gets as an answer that is an error */
  run(input: JsonObject, call: ClientCall): Promise<ToolAnswer>
}

/** Said of our own tools; every hint is given, since the defaults assume the worst. */
export interface OfferedAnnotations {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

export interface ToolAnswer {
  text: string
  /** What ran besides, as workflows and attempts say it; before the text, and apart from it. */
  notes?: readonly string[] | undefined
  /** The same as data, for a tool with an output schema. */
  value?: JsonObject | undefined
  isError?: boolean | undefined
}

/** One request of a client while it is carried out. */
export interface ClientCall {
  /**
   * Aborted when the client cancels, and when its connection or the server ends. Over HTTP with
   * `initialize` a session outlives a lost connection, and so does the call.
   */
  signal: AbortSignal
  connection: Connection
  progress(step: ClientProgress): void
  /** Asks the user behind the client; undefined where the client has no way to ask one. */
  ask?: AskPerson | undefined
}

export interface ClientProgress {
  progress: number
  total?: number | undefined
  message?: string | undefined
}

/** A question as a form. */
export interface Question {
  message: string
  /** By name; what MCP allows in a form. */
  properties: Readonly<Record<string, FormField>>
  required: readonly string[]
}

export type FormField =
  | { type: 'boolean'; title: string; description?: string }
  | { type: 'string'; title: string; description?: string; enum?: string[] }

/** What the user filled in; undefined for a refusal, for no answer, and for a form sent away. */
export type AskPerson = (
  question: Question,
) => Promise<Readonly<Record<string, JsonValue>> | undefined>

/** What belongs to one client: its connection over pipes, or its session over HTTP. */
export interface Connection {
  /** The session in which prerequisites count as done; undefined: what the environment says. */
  session: string | undefined
  /**
   * Directories of the skills that a user of this client activated; their files may be read then.
   * Undefined where clients cannot be told apart, and nothing is granted.
   */
  activated: Set<string> | undefined
}

export function failureText(error: unknown): string {
  if (!(error instanceof SkillrailError)) return safeText(`Error: ${messageOf(error)}`)
  const { code, message, hint, diagnostics } = error
  const lines = [
    message.startsWith('Error: ') ? message : `Error: ${message}`,
    ...diagnostics.slice(0, 20).map((one) => `${one.path}: ${one.message}`),
    ...(hint === undefined ? [] : [hint]),
    `[${code}]`,
  ]
  return safeText(lines.join('\n'))
}

/** A request of a client that cannot be carried out as it stands; nothing was done. */
export class McpRequestError extends SkillrailError {
  override get exitCode(): ExitCode {
    return exitCode.usage
  }
}
