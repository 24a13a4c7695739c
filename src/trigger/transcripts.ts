import { isList, objectOf, parseJson } from '../core/json.ts'

/** A prompt that a user typed, and what the agent did before the next one. */
export interface TranscriptTurn {
  prompt: string
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
    const { type, payload, ...entry } = objectOf(parseJson(line))
    if (type === undefined) broken++
    if (type === 'event_msg' || type === 'response_item') readCodex(objectOf(payload), turns)
    if (entry['isSidechain'] === true || entry['isMeta'] === true) continue
    const { content } = objectOf(entry['message'])
    const parts = isList(content) ? content.map(objectOf) : []
    if (type === 'user') {
      const text = parts.find((part) => part['type'] === 'text')?.['text']
      addPrompt(turns, typeof content === 'string' ? content : text)
    }
    for (const part of type === 'assistant' ? parts : []) {
      if (part['type'] === 'tool_use') addCall(turns.at(-1), part['name'], part['input'])
    }
  }
  return { turns, broken }
}

/** Since 2026 a prompt is an item; before it was a message. */
function readCodex(payload: Readonly<Record<string, unknown>>, turns: TranscriptTurn[]): void {
  const { type } = payload
  const item = objectOf(payload['item'])
  if (type === 'user_message') addPrompt(turns, payload['message'])
  else if (type === 'item_completed' && item['type'] === 'UserMessage') {
    const parts = isList(item['content']) ? item['content'].map(objectOf) : []
    addPrompt(turns, parts.find((part) => part['type'] === 'text')?.['text'])
  } else if (type === 'function_call' || type === 'custom_tool_call') {
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
