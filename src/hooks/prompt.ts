import { isObject } from '../core/json.ts'
import { fingerprint } from './trigger-cache.ts'

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

type PayloadReading = { ok: true; payload: HookPayload } | { ok: false; message: string }

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

/**
 * How a client's user calls a skill: `/saw`, Codex's `$saw`, pi's `/skill:saw`. `expanded`: the hook
 * sees the text of the skill, and after it what was typed.
 */
export type Sigil = 'slash' | 'dollar' | 'skill-colon' | 'expanded'

/** What the hook needs to know of the installed skills to recognise a call of one. */
interface InstalledSkills {
  has(name: string): boolean
  /** The text of the skill's `SKILL.md`, or undefined. */
  textOf(name: string): string | undefined
}

/**
 * The prompt as triggers are written for it: a call of an installed skill is `/skill arguments`,
 * everything else stays as it is.
 */
export function canonicalPrompt(prompt: string, sigil: Sigil, skills: InstalledSkills): string {
  if (sigil === 'slash') return prompt
  if (sigil === 'expanded') return typedInvocation(prompt, skills)
  const call = callForms[sigil].exec(prompt)
  const name = call?.[1]
  if (call === null || name === undefined || !skills.has(name)) return prompt
  return `/${name}${prompt.slice(call[0].length)}`
}

const callForms = {
  dollar: /^[ \t]*\$([\p{L}\p{N}_-]+)(?![\p{L}\p{N}_:.-])/u,
  'skill-colon': /^[ \t]*\/skill:([\p{L}\p{N}_-]+)(?![\p{L}\p{N}_:.-])/u,
} as const

/** The last line, where everything before it is text of the skill that the line calls. */
function typedInvocation(prompt: string, skills: InstalledSkills): string {
  const at = prompt.lastIndexOf('\n\n/')
  if (at < 0) return prompt
  const typed = prompt.slice(at + 2)
  const name = /^\/([\p{L}\p{N}_-]+)/u.exec(typed)?.[1]
  if (name === undefined) return prompt
  const body = prompt.slice(0, at).trim()
  return skills.textOf(name)?.includes(body) === true ? typed : prompt
}
