import { isList, objectOf, parseJson } from '../core/json.ts'

/** A prompt that a user typed, and what the agent did before the next one. */
export interface TranscriptTurn {
  prompt: string
  /** Names that a tool for skills was called with. */
  skills: string[]
  /** The input of each call as JSON. */
  calls: string[]
}

const longestCall = 10_000

/**
 * Reads a transcript of Claude Code or Codex: JSON lines, of which unknown ones are skipped. Never throws.
 *
 * @returns `broken`: lines that are not JSON objects.
 */
export function readTranscript(text: string): { turns: TranscriptTurn[]; broken: number } {
  const turns: TranscriptTurn[] = []
  let broken = 0
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const entry = objectOf(parseJson(line))
    if (entry['type'] === undefined) broken++
    else readClaude(entry, turns)
    const payload = objectOf(entry['payload'])
    if (entry['type'] === 'event_msg' || entry['type'] === 'response_item')
      readCodex(payload, turns)
  }
  return { turns, broken }
}

function readClaude(entry: Fields, turns: TranscriptTurn[]): void {
  if (entry['isSidechain'] === true || entry['isMeta'] === true) return
  const { content } = objectOf(entry['message'])
  const parts = isList(content) ? content.map(objectOf) : []
  if (entry['type'] === 'user') {
    const texts = parts.flatMap(({ type, text }) => (type === 'text' ? [text] : []))
    const [prompt] = typeof content === 'string' ? [content] : texts
    addPrompt(turns, prompt)
  } else if (entry['type'] === 'assistant') {
    for (const { type, name, input } of parts) {
      if (type === 'tool_use') addCall(turns.at(-1), name, input)
    }
  }
}

/** Since 2026 a prompt is an item; before it was a message. */
function readCodex(payload: Fields, turns: TranscriptTurn[]): void {
  const item = objectOf(payload['item'])
  if (payload['type'] === 'user_message') addPrompt(turns, payload['message'])
  else if (payload['type'] === 'item_completed' && item['type'] === 'UserMessage') {
    const parts = isList(item['content']) ? item['content'].map(objectOf) : []
    addPrompt(turns, parts.find(({ type }) => type === 'text')?.['text'])
  } else if (payload['type'] === 'function_call' || payload['type'] === 'custom_tool_call') {
    addCall(turns.at(-1), payload['name'], payload['arguments'] ?? payload['input'])
  }
}

function addPrompt(turns: TranscriptTurn[], prompt: unknown): void {
  if (typeof prompt === 'string') turns.push({ prompt, skills: [], calls: [] })
}

function addCall(turn: TranscriptTurn | undefined, name: unknown, input: unknown): void {
  if (turn === undefined) return
  const { skill } = objectOf(input)
  if (typeof name === 'string' && name.toLowerCase() === 'skill' && typeof skill === 'string') {
    turn.skills.push(skill)
  }
  turn.calls.push((JSON.stringify(input) ?? '').slice(0, longestCall))
}

type Fields = Readonly<Record<string, unknown>>
