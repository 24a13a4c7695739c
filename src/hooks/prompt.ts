import { isObject, parseJson } from '../core/json.ts'
import { fingerprint } from './trigger-cache.ts'

export interface HookPayload {
  prompt: string
  cwd: string | undefined
  session: string | undefined
  /** The client's own name for this turn, else one made of the session and the moment. */
  turn: string | undefined
  fromCursor: boolean
}

/** Reads standard input. All clients send one JSON object; their names for the fields differ. */
export function readPayload(
  input: string,
): { ok: true; payload: HookPayload } | { ok: false; message: string } {
  const value = parseJson(input)
  if (value === undefined) return { ok: false, message: 'standard input holds no JSON' }
  if (!isObject(value)) return { ok: false, message: 'standard input holds no JSON object' }
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => value[name]).find(isText)
  const command = first('command_name')
  const called = `/${command} ${first('command_args') ?? ''}`.trimEnd()
  const prompt = command === undefined ? value['prompt'] : called
  if (typeof prompt !== 'string') return { ok: false, message: 'standard input holds no prompt' }
  const session = first('session_id', 'sessionId', 'conversation_id')
  const { timestamp, workspace_roots: roots } = value
  // Gemini CLI, Qwen Code and Copilot CLI name no turn. They read the clock once for a prompt and tell
  // every hook the same millisecond; the same prompt typed again has another one.
  const hasMoment = session !== undefined && (typeof timestamp === 'number' || isText(timestamp))
  const moment = `${session} ${String(timestamp)} ${prompt.slice(0, 4096)}`
  return {
    ok: true,
    payload: {
      prompt,
      cwd: first('cwd') ?? (Array.isArray(roots) ? roots.slice(0, 1).find(isText) : undefined),
      session,
      turn:
        first('prompt_id', 'turn_id', 'generation_id') ??
        (hasMoment ? fingerprint(moment) : undefined),
      fromCursor: value['cursor_version'] !== undefined,
    },
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/**
 * How a client's user calls a skill: `/saw`, Codex's `$saw`, pi's `/skill:saw`. `expanded`: the hook
 * sees the text of the skill, and after it what was typed.
 */
export type Sigil = 'slash' | 'dollar' | 'skill-colon' | 'expanded'

interface InstalledSkills {
  has(name: string): boolean
  textOf(name: string): string | undefined
}

/** The prompt as triggers are written for it: a call of an installed skill is `/skill arguments`. */
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
