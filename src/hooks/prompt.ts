import { isObject, objectOf, parseJson } from '#core/json'
import type { ToolCall } from '#trigger/tool-call'
import { adapters, eventKinds, type HookEvent } from './adapters.ts'
import { fingerprint } from './trigger-cache.ts'

export type HookPayload = (ReturnType<typeof readPayload> & { ok: true })['payload']

/** What any client calls so, in any case; all other names are a prompt. */
function eventCalled(name: string): HookEvent {
  const isCalledSo = (kind: HookEvent) =>
    Object.values(adapters).some(({ events }) => events[kind]?.toLowerCase() === name.toLowerCase())
  return eventKinds.find(isCalledSo) ?? 'prompt'
}

/** Reads standard input. All clients send one JSON object; their names for the fields differ. */
export function readPayload(input: string, name?: string) {
  const refused = (message: string) => ({ ok: false as const, message })
  const value = parseJson(input)
  if (!isObject(value)) return refused('standard input holds no JSON object')
  const first = (...names: readonly string[]): string | undefined =>
    names.map((key) => value[key]).find(isText)
  const eventName = first('hook_event_name') ?? name ?? ''
  const event = eventCalled(eventName)
  const given = value['tool_input'] ?? value['toolArgs']
  const toolInput = typeof given === 'string' ? given : JSON.stringify(given ?? '')
  const tool = first('tool_name', 'toolName') ?? ''
  const call = readCall(tool, parseJson(toolInput) ?? given)
  const { paths = [], command = '' } = call ?? {}
  const prompt = event === 'prompt' ? readPrompt(value) : [tool, ...paths, command].join(' ').trim()
  if (prompt === undefined) return refused('standard input holds no prompt')
  const session = first('session_id', 'sessionId', 'conversation_id')
  const { timestamp, workspace_roots: roots } = value
  // Gemini CLI, Qwen Code and Copilot CLI name no turn. They read the clock once for a prompt and tell
  // every hook the same millisecond; the same prompt typed again has another one.
  const isMoment = typeof timestamp === 'number' || isText(timestamp)
  const moment =
    session !== undefined && isMoment
      ? fingerprint(`${session} ${timestamp} ${prompt.slice(0, 4096)}`)
      : undefined
  const named = event === 'prompt' ? first('prompt_id', 'turn_id', 'generation_id') : undefined
  return {
    ok: true as const,
    payload: {
      event,
      /** The client's own name for the event. */
      eventName,
      /** What was typed; of a tool call what it does, for the log. */
      prompt,
      /** Undefined for a tool that touches no file and runs no command. */
      call,
      /** The input of the tool, to tell calls from one another. */
      toolInput,
      cwd: first('cwd') ?? (Array.isArray(roots) ? roots.slice(0, 1).find(isText) : undefined),
      session,
      /** The subagent; empty for the agent that the user talks to. */
      agent: first('agent_id', 'agentId') ?? '',
      /** The client's own name for this turn or call, else one made of the session and the moment. */
      turn: first('tool_use_id', 'toolCallId') ?? named ?? moment,
      fromCursor: value['cursor_version'] !== undefined,
      fromCopilot: timestamp !== undefined,
    },
  }
}

function readPrompt(value: Readonly<Record<string, unknown>>): string | undefined {
  const { prompt, command_name: command, command_args: words } = value
  if (isText(command)) return `/${command} ${isText(words) ? words : ''}`.trimEnd()
  return typeof prompt === 'string' ? prompt : undefined
}

/** What the tools of all clients do, by their names in lower case. */
const toolKinds: Readonly<Record<string, ToolCall['kind'] | undefined>> = {
  edit: 'edit',
  write: 'edit',
  create: 'edit',
  replace: 'edit',
  write_file: 'edit',
  notebookedit: 'edit',
  apply_patch: 'edit',
  read: 'read',
  view: 'read',
  read_file: 'read',
  view_image: 'read',
  bash: 'shell',
  shell: 'shell',
  run_shell_command: 'shell',
  skill: 'skill',
  activate_skill: 'skill',
}

const pathKeys = ['file_path', 'filePath', 'path', 'notebook_path', 'skill', 'name']
const patchKeys = ['command', 'patchText', 'input', 'patch']

function readCall(tool: string, input: unknown): ToolCall | undefined {
  const kind = toolKinds[tool.toLowerCase()]
  if (!kind) return undefined
  const fields = typeof input === 'string' ? { input } : objectOf(input)
  const texts = (keys: readonly string[]): string[] => keys.map((key) => fields[key]).filter(isText)
  // Codex passes a patch to its shell, too.
  const patch = texts(patchKeys).find((text) => text.includes('*** Begin Patch'))
  if (patch !== undefined) {
    const lines = patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\r?$/gm)
    return { kind: 'edit', paths: Array.from(lines, ([, path = '']) => path), command: '' }
  }
  const [command = ''] = kind === 'shell' ? texts(['command']) : []
  return { kind, paths: kind === 'shell' ? [] : texts(pathKeys).slice(0, 1), command }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** How a client's user calls a skill: `/saw`, Codex's `$saw`, pi's `/skill:saw`. */
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
