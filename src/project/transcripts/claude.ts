import { join } from 'node:path'
import type * as Zod from 'zod'
import { clientFolder } from '#core/client-folders'
import { zod } from '#core/zod'
import { readCall } from '#hooks/prompt'
import { filesBelow } from './files.ts'
import type { JsonLine } from './json-lines.ts'
import type { FileEvent, TokenEvent, TranscriptEvent, TranscriptFormat } from './transcript.ts'

/** Read with files of 2.1.332. Subagents have files of their own, below the session's name. */
export const claudeTranscripts: TranscriptFormat = {
  client: 'claude',
  files: (runtime) => filesBelow(join(clientFolder('claude', runtime), 'projects'), ['.jsonl']),
  read: readSession,
}

/** The kinds of rows that count. Any other kind is for the client itself. */
const kinds: ReadonlySet<unknown> = new Set(['assistant', 'user'])

async function* readSession(lines: AsyncIterable<JsonLine>): AsyncGenerator<TranscriptEvent> {
  const schema = rowSchema()
  const calls = new Map<string, FileEvent>()
  let isKnown = false
  for await (const line of lines) {
    const hasSession = typeof line?.['sessionId'] === 'string'
    if (hasSession && !isKnown) yield { kind: 'session' }
    isKnown ||= hasSession
    if (line !== undefined && !kinds.has(line['type'])) continue
    const row = schema.safeParse(line).data
    if (!row) yield { kind: 'unreadable' }
    else if (row.type === 'user') yield* resultsOf(row, calls)
    else {
      for (const call of callsOf(row)) calls.set(call.id, call)
      yield* costOf(row)
    }
  }
}

type Row = Zod.infer<ReturnType<typeof rowSchema>>

function rowSchema() {
  const z = zod()
  const text = z.string()
  const count = z.number().min(0)
  const place = { uuid: text, sessionId: text, cwd: text, timestamp: z.iso.datetime() }
  const part = z.object({
    type: text,
    text: text.optional(),
    /** Of a call. */
    id: text.optional(),
    name: text.optional(),
    input: z.unknown().optional(),
    /** Of the result of a call. */
    tool_use_id: text.optional(),
    is_error: z.boolean().nullish(),
  })
  const asPart = (plain: string): Zod.infer<typeof part>[] => [{ type: 'text', text: plain }]
  const content = z.union([text.transform(asPart), z.array(part)])
  const usage = z.object({
    input_tokens: count,
    cache_creation_input_tokens: count.nullish(),
    cache_read_input_tokens: count.nullish(),
    output_tokens: count,
  })
  const answer = z.object({
    id: text.optional(),
    model: text,
    content,
    usage: usage.optional(),
  })
  return z.discriminatedUnion('type', [
    z.object({ type: z.literal('assistant'), ...place, message: answer }),
    z.object({
      type: z.literal('user'),
      ...place,
      isMeta: z.boolean().optional(),
      message: z.object({ content }),
    }),
  ])
}

function placeOf({ uuid, sessionId, cwd, timestamp }: Row) {
  return { id: uuid, at: Date.parse(timestamp), session: sessionId, cwd }
}

/** The client writes a row for each part of an answer, and each has the cost of the whole answer. */
function* costOf(row: Row & { type: 'assistant' }): Generator<TokenEvent> {
  const { id = row.uuid, model, usage } = row.message
  if (!usage) return
  const tokens = {
    input: usage.input_tokens,
    cacheRead: usage.cache_read_input_tokens ?? 0,
    cacheWrite: usage.cache_creation_input_tokens ?? 0,
    output: usage.output_tokens,
  }
  yield { kind: 'tokens', ...placeOf(row), id, model, tokens }
}

function* callsOf(row: Row & { type: 'assistant' }): Generator<FileEvent> {
  for (const { type, id, name, input } of row.message.content) {
    const call = type === 'tool_use' && name !== undefined ? readCall(name, input) : undefined
    if (!call || id === undefined) continue
    const about: FileEvent = { kind: 'file', ...placeOf(row), id }
    if (call.kind === 'read') yield { ...about, path: call.paths[0] }
    if (call.kind === 'shell') yield { ...about, command: call.command }
  }
}

/** A call counts once it has a result that is not an error, so a denied one does not. */
function* resultsOf(
  row: Row & { type: 'user' },
  calls: Map<string, FileEvent>,
): Generator<FileEvent> {
  for (const { type, tool_use_id: id = '', is_error: isError, text } of row.message.content) {
    const call = type === 'tool_result' && isError !== true ? calls.get(id) : undefined
    if (call) yield call
    const skill = row.isMeta === true ? skillIn(text) : undefined
    if (skill !== undefined) yield { kind: 'file', ...placeOf(row), path: skill }
  }
}

/** The text with which the client gives a skill, to an agent or to a user that calls it. */
function skillIn(text = ''): string | undefined {
  const [, directory] = /^Base directory for this skill: (.+)/.exec(text) ?? []
  return directory === undefined ? undefined : join(directory.trim(), 'SKILL.md')
}
