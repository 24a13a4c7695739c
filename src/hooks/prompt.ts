import { isObject, objectOf, parseJson } from '#core/json'
import type { ToolCall } from '#trigger/tool-call'
import { adapters, eventKinds, type HookEvent } from './adapters.ts'
import { fingerprint } from '#core/fingerprint'

/** One event of a client, whatever the client calls its fields. */
export interface HookPayload {
  event: HookEvent
  /** The client's own name for the event. */
  eventName: string
  /** The typed text; for a tool call what it does, for the log. */
  prompt: string
  /** The client's own name for the tool; empty for other events. */
  tool: string
  /** Undefined for a tool that touches no file and runs no command. */
  call: ToolCall | undefined
  /** The input of the tool, to tell calls from one another. */
  toolInput: string
  /** The MCP server of the tool, and perhaps the tool itself, if the client also gives them by themselves. */
  mcpTool: { server: string; tool?: string | undefined } | undefined
  /** What the tool returned, in the client's own form. */
  toolResult: unknown
  cwd: string | undefined
  session: string | undefined
  /** The subagent; empty for the agent that the user talks to. */
  agent: string
  /** The client's ID of this turn or call, or an ID made of the session and the time. */
  turn: string | undefined
  /** The client's ID of the prompt of this turn, which its transcript has too. */
  promptId: string | undefined
  transcript: string | undefined
  /** Why a session started (`startup`, `resume`, `compact`, `clear`); in pi who wrote a prompt. */
  source: string | undefined
  /** Whether the client passes the typed text in a field of its own, as Qwen Code does. */
  hasTypedText: boolean
  /** The client's name for what the agent may do without a question: `plan`, `default` and others. */
  permissionMode: string | undefined
  /** The last message of the agent, if the client passes it at the end of a turn. */
  lastMessage: string
  /** Whether subagents or commands of the session still run in the background. */
  hasBackgroundTasks: boolean
  /** What the agent passes to a skill that it loads. */
  skillArguments: string
  fromCursor: boolean
  fromCopilot: boolean
}

type PayloadReading = { ok: true; payload: HookPayload } | { ok: false; message: string }

/**
 * The event by the names of all clients, in lower case. Any other name is a prompt, or a call of a tool if the
 * event is only about a tool: guards must see it.
 */
function eventCalled(name: string, isOnlyAboutTool: boolean): HookEvent {
  const isCalledSo = (kind: HookEvent) =>
    Object.values(adapters).some(({ events }) => events[kind]?.toLowerCase() === name.toLowerCase())
  return eventKinds.find(isCalledSo) ?? (isOnlyAboutTool ? 'before' : 'prompt')
}

/** Reads stdin. All clients send one JSON object, but name the fields differently. */
export function readPayload(input: string, name?: string): PayloadReading {
  const refused = (message: string): PayloadReading => ({ ok: false, message })
  const value = parseJson(input)
  if (!isObject(value)) return refused('standard input holds no JSON object')
  const first = (...names: readonly string[]): string | undefined =>
    names.map((key) => value[key]).find(isText)
  const eventName = first('hook_event_name') ?? name ?? ''
  const tool = first('tool_name', 'toolName') ?? ''
  const rawInput = value['tool_input'] ?? value['toolArgs']
  const isAboutTool = tool !== '' || rawInput !== undefined
  const event = eventCalled(eventName, isAboutTool && readPrompt(value) === undefined)
  const isJson = typeof rawInput === 'string'
  const toolInput = isJson ? rawInput : jsonText(rawInput ?? '', input)
  const toolFields = isJson ? (parseJson(rawInput) ?? rawInput) : rawInput
  const call = readCall(tool, toolFields)
  const { paths = [], command = '' } = call ?? {}
  const prompt = event === 'prompt' ? readPrompt(value) : [tool, ...paths, command].join(' ').trim()
  if (prompt === undefined) return refused('standard input holds no prompt')
  const session = first('session_id', 'sessionId', 'conversation_id')
  const { timestamp, workspace_roots: roots } = value
  // Gemini CLI, Qwen Code and Copilot CLI send no ID of the turn. They read the clock once for each prompt
  // and send every hook the same millisecond, so the same prompt typed again has another time.
  const isMoment = typeof timestamp === 'number' || isText(timestamp)
  const moment =
    session !== undefined && isMoment
      ? fingerprint(`${session} ${timestamp} ${prompt.slice(0, 4096)}`)
      : undefined
  const named = event === 'prompt' ? first('prompt_id', 'turn_id', 'generation_id') : undefined
  return {
    ok: true,
    payload: {
      event,
      eventName,
      prompt,
      tool,
      call,
      toolInput,
      mcpTool: readMcpTool(value),
      toolResult: value['tool_response'] ?? value['toolResult'],
      cwd: first('cwd') ?? (Array.isArray(roots) ? roots.slice(0, 1).find(isText) : undefined),
      session,
      agent: first('agent_id', 'agentId') ?? '',
      turn: first('tool_use_id', 'toolCallId') ?? named ?? moment,
      promptId: first('prompt_id'),
      transcript: first('transcript_path'),
      source: first('source'),
      hasTypedText: isText(value['submitted_prompt']),
      permissionMode: first('permission_mode', 'permissionMode'),
      lastMessage: first('last_assistant_message', 'prompt_response') ?? '',
      hasBackgroundTasks: [value['background_tasks'], value['tasks']].some(
        (tasks) => Array.isArray(tasks) && tasks.length > 0,
      ),
      skillArguments: argumentsOf(toolFields),
      fromCursor: value['cursor_version'] !== undefined,
      fromCopilot: timestamp !== undefined,
    },
  }
}

/** Returns the JSON of a value; `input` if the value is too deep for that. */
function jsonText(value: unknown, input: string): string {
  try {
    return JSON.stringify(value)
  } catch {
    return input
  }
}

/** Claude Code names the server of a tool, and Gemini CLI the server and the tool. */
function readMcpTool(value: Readonly<Record<string, unknown>>): HookPayload['mcpTool'] {
  const { name } = objectOf(value['mcp_server'])
  const { server_name: server = name, tool_name: tool } = objectOf(value['mcp_context'])
  return isText(server) ? { server, tool: isText(tool) ? tool : undefined } : undefined
}

function readPrompt(value: Readonly<Record<string, unknown>>): string | undefined {
  const { prompt, submitted_prompt: typedText, command_name: command, command_args: words } = value
  // Qwen Code sends the text of a called skill as `prompt`, and the typed text in another field.
  if (isText(typedText)) return typedText
  if (isText(command)) return `/${command} ${isText(words) ? words : ''}`.trimEnd()
  return typeof prompt === 'string' ? prompt : undefined
}

function argumentsOf(input: unknown): string {
  const { args, arguments: words } = objectOf(input)
  return [args, words].find(isText) ?? ''
}

/** The kind of each client's tools, by their names in lower case. */
const toolKinds: Readonly<Record<string, ToolCall['kind'] | undefined>> = {
  edit: 'edit',
  multiedit: 'edit',
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

/** A field with paths: `file_path`, `filePath`, `notebook_path`, `paths`. */
const pathKey = /paths?$/i
const skillKeys = ['skill', 'name', 'path']
const patchKeys = ['command', 'patchText', 'input', 'patch']

/** The files and the command of a tool call; undefined if it concerns no file and no command. */
export function readCall(tool: string, input: unknown): ToolCall | undefined {
  const kind = toolKinds[tool.toLowerCase()]
  if (!kind) return undefined
  const fields = typeof input === 'string' ? { input } : objectOf(input)
  const texts = (keys: readonly string[]): string[] => keys.map((key) => fields[key]).filter(isText)
  if (kind === 'skill') return { kind, paths: texts(skillKeys).slice(0, 1), command: '' }
  const command = kind === 'shell' ? commandOf(fields) : ''
  const paths = kind === 'shell' ? [] : pathsOf(fields)
  // Codex passes a patch to its shell, too; the same line can run other commands.
  const patches = [...texts(patchKeys), command].filter((text) => text.includes('*** Begin Patch'))
  if (patches.length === 0) return { kind, paths, command }
  const patched = new Set([...paths, ...patches.flatMap(patchedFiles)])
  return { kind: 'edit', paths: [...patched], command }
}

/** Clients that apply a patch ignore blanks around its lines. */
function patchedFiles(patch: string): string[] {
  const lines = patch.matchAll(
    /^[^\S\r\n\u2028\u2029]*\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm,
  )
  return Array.from(lines, ([, path = '']) => path.trim())
}

function pathsOf(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(fields).flatMap(([key, value]) => {
    if (!pathKey.test(key)) return []
    return (Array.isArray(value) ? value : [value]).filter(isText)
  })
}

/** What a tool of no common kind may execute, by the names of its fields: Claude Code's `Monitor` has `command`. */
export function otherLineIn(input: unknown): string | undefined {
  const lines = Object.entries(objectOf(input))
    .filter(([key]) => /^(?:commands?|cmd|code|script)$/i.test(key))
    .map(([, value]) => lineOf(value))
  return lines.length === 0 ? undefined : lines.join('\n')
}

/** The line of a shell call. */
function commandOf(fields: Readonly<Record<string, unknown>>): string {
  return lineOf(fields['command'] ?? fields)
}

/** A text as it is. Texts in any other form are read as arguments, joined, and each as a line. */
function lineOf(value: unknown): string {
  if (typeof value === 'string') return value
  const texts = textsIn(value)
  const words = texts.map((text) => `'${text.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  const isFlat = Array.isArray(value) && value.every(isText)
  return [words, texts.join(' '), ...(isFlat ? [] : texts)].join('\n').trim()
}

/** Returns all texts in a value, however deep, in their order. */
function textsIn(value: unknown): string[] {
  const texts: string[] = []
  const rest = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    if (isText(next)) texts.push(next)
    else if (Array.isArray(next)) rest.push(...next.toReversed())
    else if (isObject(next)) rest.push(...Object.values(next).toReversed())
  }
  return texts
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

/** The prompt in the form that triggers match: a call of an installed skill is `/skill arguments`. */
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

/** The last line, if the text before it is the skill that this line calls. */
function typedInvocation(prompt: string, skills: InstalledSkills): string {
  const at = prompt.lastIndexOf('\n\n/')
  if (at < 0) return prompt
  const lastLine = prompt.slice(at + 2)
  const name = /^\/([\p{L}\p{N}_-]+)/u.exec(lastLine)?.[1]
  if (name === undefined) return prompt
  const body = prompt.slice(0, at).trim()
  return skills.textOf(name)?.includes(body) === true ? lastLine : prompt
}
