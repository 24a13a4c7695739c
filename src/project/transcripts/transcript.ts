import type { ClientName } from '#core/client-folders'
import type { Runtime } from '#core/runtime'
import type { JsonLine } from './json-lines.ts'

/** How one client writes what happens in its sessions. */
export interface TranscriptFormat {
  client: ClientName
  /** Every file in which the client may keep a session. */
  files(runtime: Runtime): string[]
  /**
   * Reads the lines of one file. A file without a `session` event is not a transcript of this client, or
   * has a format of a later version. `files` are all of them: a session can repeat another one.
   */
  read(lines: AsyncIterable<JsonLine>, files: readonly string[]): AsyncIterable<TranscriptEvent>
}

export type TranscriptEvent =
  /** The line identifies the file as a transcript. */
  | { kind: 'session' }
  | TokenEvent
  | FileEvent
  /** A line that no program can read, or whose form differs from what this client is known to write. */
  | { kind: 'unreadable' }

/** What one call of the model cost. Events with the same ID are about the same call. */
export interface TokenEvent extends EventPlace {
  kind: 'tokens'
  model: string
  tokens: Tokens
}

/** The agent got a file, or called a command. Events with the same ID are about the same call of a tool. */
export interface FileEvent extends EventPlace {
  kind: 'file'
  /** As the agent wrote it, relative to `cwd`. */
  path?: string | undefined
  /** A line of a shell. */
  command?: string | undefined
}

interface EventPlace {
  /** Unique for the client. */
  id: string
  /** Milliseconds since the epoch. */
  at: number
  session: string
  /** The working directory. */
  cwd: string
}

/** Numbers that the client got from its model. `input` excludes what the model read from its cache. */
export interface Tokens {
  input: number
  cacheRead: number
  cacheWrite: number
  output: number
}

export function addTokens(sum: Tokens, more: Tokens): Tokens {
  return {
    input: sum.input + more.input,
    cacheRead: sum.cacheRead + more.cacheRead,
    cacheWrite: sum.cacheWrite + more.cacheWrite,
    output: sum.output + more.output,
  }
}

export const noTokens: Tokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 }
