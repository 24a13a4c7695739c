import { join } from 'node:path'
import type * as Zod from 'zod'
import { clientFolder } from '#core/client-folders'
import { objectOf, parseJson } from '#core/json'
import { shellWord } from '#core/text'
import { zod } from '#core/zod'
import { filesBelow } from './files.ts'
import { type JsonLine, jsonLines } from './json-lines.ts'
import type { FileEvent, TranscriptEvent, TranscriptFormat } from './transcript.ts'

/** Read with files of 0.171.0. A subagent has a file of its own, and counts as a session. */
export const codexTranscripts: TranscriptFormat = {
  client: 'codex',
  files(runtime) {
    const places = ['sessions', 'archived_sessions']
    const all = places.flatMap((name) =>
      filesBelow(join(clientFolder('codex', runtime), name), ['.jsonl', '.jsonl.zst']),
    )
    // The client compresses old files, and both forms exist for a moment.
    const plain = new Set(all.filter((path) => path.endsWith('.jsonl')))
    return all.filter((path) => plain.has(path) || !plain.has(withoutCompression(path)))
  },
  read: readSession,
}

function withoutCompression(path: string): string {
  return path.replace(/\.zst$/, '')
}

async function* readSession(
  lines: AsyncIterable<JsonLine>,
  files: readonly string[],
): AsyncGenerator<TranscriptEvent> {
  let session: CodexSession | undefined
  for await (const row of rowsOf(lines)) {
    if (row === undefined) yield { kind: 'unreadable' }
    else if (session) yield* session.read(row)
    else if (row.type === 'session_meta') {
      yield { kind: 'session' }
      const { id, cwd = '', forked_from_id: origin } = row.payload
      const inherited = origin == null ? [] : await countsOf(origin, files)
      session = new CodexSession(id, cwd, inherited)
    }
  }
  if (session) yield* session.end()
}

/** One session, from its first line on. */
class CodexSession {
  readonly #id: string
  #cwd: string
  #model = 'unknown'
  readonly #calls = new Map<string, FileEvent>()
  #lastCount = ''
  /** The counts of the session of which this one is a copy, as far as it has not repeated them. */
  readonly #inherited: string[]
  /** Events that may be copies; undefined after the last copy. */
  #held: FileEvent[] | undefined

  constructor(id: string, cwd: string, inherited: readonly string[]) {
    this.#id = id
    this.#cwd = cwd
    this.#inherited = inherited.toReversed()
    this.#held = inherited.length > 0 ? [] : undefined
  }

  *read(row: Row): Generator<TranscriptEvent> {
    if (row.type === 'turn_context') {
      this.#cwd = row.payload.cwd ?? this.#cwd
      this.#model = row.payload.model ?? this.#model
    } else if (row.type === 'event_msg') yield* this.#count(row)
    else if (row.type === 'response_item') {
      for (const event of this.#filesOf(row)) {
        if (this.#held) this.#held.push(event)
        else yield event
      }
    }
  }

  *end(): Generator<TranscriptEvent> {
    yield* this.#held ?? []
  }

  *#count(row: Row & { type: 'event_msg' }): Generator<TranscriptEvent> {
    const { info } = row.payload
    const count = info ? countText(info) : this.#lastCount
    // The client repeats a count if only the limits of the account have changed.
    if (!info || count === this.#lastCount) return
    this.#lastCount = count
    if (this.#held && this.#inherited.at(-1) === count) {
      this.#inherited.pop()
      this.#held = []
      return
    }
    yield* this.#held ?? []
    this.#held = undefined
    const {
      input_tokens: all,
      cached_input_tokens: cached,
      output_tokens: output,
    } = info.last_token_usage
    const cacheWrite = info.last_token_usage.cache_write_input_tokens ?? 0
    const tokens = {
      input: Math.max(0, all - cached - cacheWrite),
      cacheRead: cached,
      cacheWrite,
      output,
    }
    const place = this.#place(row, `${this.#id} ${count}`)
    yield { kind: 'tokens', ...place, model: this.#model, tokens }
  }

  *#filesOf(row: Row & { type: 'response_item' }): Generator<FileEvent> {
    const { payload } = row
    switch (payload.type) {
      case 'function_call':
      case 'local_shell_call': {
        const call = commandOf(payload)
        const { call_id: id } = payload
        if (!call || id == null) return
        const { command, workdir } = call
        const place = this.#place(row, id)
        this.#calls.set(id, { kind: 'file', ...place, cwd: workdir ?? place.cwd, command })
        return
      }
      // Its text does not say in a fixed form whether the call failed.
      case 'function_call_output': {
        const call = this.#calls.get(payload.call_id ?? '')
        if (call) yield call
        return
      }
      case 'message': {
        for (const [index, { text }] of payload.content.entries()) {
          const path = skillIn(text)
          const id = `${payload.id ?? row.timestamp} ${index}`
          if (path !== undefined) yield { kind: 'file', ...this.#place(row, id), path }
        }
        return
      }
      case 'other':
    }
  }

  #place({ timestamp }: Row, id: string) {
    return { id, at: Date.parse(timestamp), session: this.#id, cwd: this.#cwd }
  }
}

/** The text with which the client gives a skill that a user has called. */
function skillIn(text = ''): string | undefined {
  return /^<skill>\n<name>.*<\/name>\n<path>(.+)<\/path>\n/.exec(text)?.[1]
}

type Item = (Row & { type: 'response_item' })['payload']
type CallItem = Extract<Item, { type: 'function_call' | 'local_shell_call' }>

/** The line of a shell that a call runs; its tools differ by model and version. */
function commandOf(call: CallItem): { command: string; workdir: string | undefined } | undefined {
  const fields = objectOf(call.type === 'function_call' ? parseJson(call.arguments) : call.action)
  const command = [fields['cmd'], fields['command']].map(lineOf).find((line) => line !== undefined)
  const workdir = [fields['workdir'], fields['working_directory']].find(
    (value) => typeof value === 'string',
  )
  return command === undefined ? undefined : { command, workdir }
}

function lineOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  const words = Array.isArray(value) ? value.filter((word) => typeof word === 'string') : []
  return words.length === 0 ? undefined : words.map(shellWord).join(' ')
}

/**
 * The counts of a session, in order. A session that was made from another one can begin with a copy of its
 * lines, with new times.
 */
async function countsOf(session: string, files: readonly string[]): Promise<string[]> {
  const path = files.find((file) => withoutCompression(file).endsWith(`-${session}.jsonl`))
  const counts: string[] = []
  if (path === undefined) return counts
  for await (const row of rowsOf(jsonLines(path))) {
    const info = row?.type === 'event_msg' ? row.payload.info : undefined
    const count = info ? countText(info) : counts.at(-1)
    if (count !== undefined && count !== counts.at(-1)) counts.push(count)
  }
  return counts
}

type Count = NonNullable<(Row & { type: 'event_msg' })['payload']['info']>

function countText({ total_token_usage: total, last_token_usage: last }: Count): string {
  return JSON.stringify([total, last])
}

/** The kinds of rows that count. Any other kind is for the client itself. */
const kinds: ReadonlySet<unknown> = new Set([
  'session_meta',
  'turn_context',
  'event_msg',
  'response_item',
])

/** The rows that count; undefined for an unreadable one. */
async function* rowsOf(lines: AsyncIterable<JsonLine>): AsyncGenerator<Row | undefined> {
  const schema = rowSchema()
  for await (const line of lines) {
    if (line === undefined || kinds.has(line['type'])) yield schema.safeParse(line).data
  }
}

type Row = Zod.infer<ReturnType<typeof rowSchema>>

function rowSchema() {
  const z = zod()
  const text = z.string()
  const count = z.number().min(0)
  const usage = z.object({
    input_tokens: count,
    cached_input_tokens: count,
    cache_write_input_tokens: count.optional(),
    output_tokens: count,
  })
  const info = z.object({ total_token_usage: usage, last_token_usage: usage })
  /** Everything else, so that a known type in an unknown form is not accepted. */
  const other = (...types: readonly string[]) =>
    z
      .object({ type: text.refine((type) => !types.includes(type)) })
      .transform(() => ({ type: 'other' as const, info: null }))
  const call = { call_id: text.nullish(), id: text.nullish() }
  const row = { timestamp: z.iso.datetime() }
  return z.discriminatedUnion('type', [
    z.object({
      type: z.literal('session_meta'),
      ...row,
      payload: z.object({ id: text, cwd: text.optional(), forked_from_id: text.nullish() }),
    }),
    z.object({
      type: z.literal('turn_context'),
      ...row,
      payload: z.object({ cwd: text.optional(), model: text.optional() }),
    }),
    z.object({
      type: z.literal('event_msg'),
      ...row,
      payload: z.union([
        z.object({ type: z.literal('token_count'), info: info.nullable() }),
        other('token_count'),
      ]),
    }),
    z.object({
      type: z.literal('response_item'),
      ...row,
      payload: z.union([
        z.object({ type: z.literal('function_call'), ...call, arguments: text }),
        z.object({ type: z.literal('local_shell_call'), ...call, action: z.looseObject({}) }),
        z.object({ type: z.literal('function_call_output'), ...call }),
        z.object({
          type: z.literal('message'),
          ...call,
          content: z.array(z.object({ text: text.optional() })),
        }),
        other('function_call', 'local_shell_call', 'function_call_output', 'message'),
      ]),
    }),
  ])
}
