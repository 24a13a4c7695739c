/** What the model does next: it says something, calls tools, or does not answer as it should. */
export interface ModelTurn {
  text?: string | undefined
  calls?: readonly ModelToolCall[] | undefined
  /** What the server says that the call cost, and counts itself. Default: {@link defaultUsage}. */
  usage?: ModelUsage | undefined
  /** Before the answer begins. */
  delayMs?: number | undefined
  /** Awaited before the event of that number of a stream; before an answer in one piece, as 0. */
  before?: ((event: number) => Promise<unknown> | undefined) | undefined
  /** The connection breaks after so many events of the stream, or in the middle of the JSON. */
  cutAfter?: number | undefined
  /** The server ends the stream properly after so many events, as if the answer were complete. */
  endAfter?: number | undefined
  /** Never answers; only the client can end the call. */
  silent?: true | undefined
  error?: ModelError | undefined
}

export interface ModelToolCall {
  name: string
  /** Of the tool, as the responses protocol of OpenAI has it. */
  namespace?: string | undefined
  /** A string goes over the wire as it stands, so that it may be malformed. */
  input: object | string
}

export interface ModelUsage {
  /** With the cached ones. */
  input: number
  /** With those of reasoning. */
  output: number
  cached?: number | undefined
  reasoning?: number | undefined
}

export interface ModelError {
  status: number
  message?: string | undefined
  /** Sent as `retry-after-ms`, and as `retry-after` where it is in whole seconds. */
  retryAfterMs?: number | undefined
}

export const defaultUsage: ModelUsage = { input: 10, output: 2 }

/** A turn with everything that a protocol needs to write it. */
export interface WrittenTurn {
  /** Unique for a server, as the answers of real services have it. */
  id: string
  text: string
  calls: readonly WrittenCall[]
  usage: { input: number; output: number; cached: number; reasoning: number }
}

export interface WrittenCall {
  id: string
  name: string
  namespace?: string | undefined
  /** JSON text, unless the turn wants it malformed. */
  arguments: string
}

/** @param newId makes a new id that begins so, for the answer and for each call. */
export function writtenTurn(
  turn: ModelTurn,
  newId: (kind: 'call' | 'mock') => string,
): WrittenTurn {
  const { text = '', calls = [], usage = defaultUsage } = turn
  return {
    id: newId('mock'),
    text,
    calls: calls.map(({ name, namespace, input }) => ({
      id: newId('call'),
      name,
      ...(namespace === undefined ? {} : { namespace }),
      arguments: typeof input === 'string' ? input : JSON.stringify(input),
    })),
    usage: { ...usage, cached: usage.cached ?? 0, reasoning: usage.reasoning ?? 0 },
  }
}

/** A text as a model streams it. */
export function piecesOf(text: string): readonly string[] {
  return text === '' ? [] : (text.match(/\S+\s*|\s+/gu) ?? [text])
}
