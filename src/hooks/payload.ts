import { isObject } from '../base/index.ts'
import { fingerprint } from './index-place.ts'

/** What a client tells its hook about a prompt. */
export interface HookPayload {
  prompt: string
  /** Where the client works; undefined where it did not say. */
  cwd: string | undefined
  session: string | undefined
  /**
   * The client's own name for this turn, else one made of the session and the moment; the same for
   * every event, every part and every registration of the hook.
   */
  turn: string | undefined
  /** Whether Cursor sent it, which also runs the hooks of Claude Code. */
  fromCursor: boolean
}

export type PayloadReading = { ok: true; payload: HookPayload } | { ok: false; message: string }

/** Reads standard input. All clients send one JSON object; their names for the fields differ. */
export function readPayload(input: string): PayloadReading {
  let value: unknown
  try {
    value = JSON.parse(input)
  } catch {
    return { ok: false, message: 'standard input holds no JSON' }
  }
  if (!isObject(value)) return { ok: false, message: 'standard input holds no JSON object' }
  const prompt = promptOf(value)
  if (prompt === undefined) return { ok: false, message: 'standard input holds no prompt' }
  const session =
    text(value['session_id']) ?? text(value['sessionId']) ?? text(value['conversation_id'])
  const [workspace] = Array.isArray(value['workspace_roots']) ? value['workspace_roots'] : []
  return {
    ok: true,
    payload: {
      prompt,
      cwd: text(value['cwd']) ?? text(workspace),
      session,
      turn:
        text(value['prompt_id']) ??
        text(value['turn_id']) ??
        text(value['generation_id']) ??
        momentOf(value['timestamp'], session, prompt),
      fromCursor: value['cursor_version'] !== undefined,
    },
  }
}

/**
 * Gemini CLI, Qwen Code and Copilot CLI name no turn. They read the clock once for a prompt and tell
 * every hook the same millisecond; the same prompt typed again has another one.
 */
function momentOf(time: unknown, session: string | undefined, prompt: string): string | undefined {
  if (session === undefined || (typeof time !== 'number' && text(time) === undefined))
    return undefined
  return fingerprint(`${session} ${String(time)} ${prompt.slice(0, 4096)}`)
}

function promptOf(value: Readonly<Record<string, unknown>>): string | undefined {
  const name = text(value['command_name'])
  if (name !== undefined) return `/${name} ${text(value['command_args']) ?? ''}`.trimEnd()
  return typeof value['prompt'] === 'string' ? value['prompt'] : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
