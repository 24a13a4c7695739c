import { clientFolders, type ClientName, clientNames } from '#core/client-folders'
import type { ContextLimit } from './context.ts'
import type { Sigil } from './prompt.ts'

/** The agent clients whose prompts Skillrail can reach, in alphabetical order. */
export const platforms = clientNames

export type Platform = ClientName

/** Syntax that plain JSON does not have. */
export type JsonForm = 'a byte-order mark' | 'a comment' | 'a trailing comma'

export function isPlatform(name: string): name is Platform {
  return platforms.some((platform) => platform === name)
}

/** How an agent client asks for context before its model runs. */
export interface HookAdapter {
  title: string
  program: string
  /** Files with the hook: below the client's folder, and below a project. */
  files: { user: string; project: string }
  /** Names that earlier versions gave to files that belong to us alone. An installation removes them. */
  formerFiles?: { user: string; project: string } | undefined
  /** JSON syntax that its files cannot have, although files of other clients can. */
  cannotRead?: readonly JsonForm[] | undefined
  /** Whether the client also finds a project's file when it is started in a folder below. */
  looksUp: boolean
  registration: Registration
  /** The client's names for the events. A missing event is one that it does not report or takes no answer for. */
  events: ClientEvents
  /** How a user of this client writes `/skill arguments`. */
  sigil: Sigil
  /** The shell that starts the command on Windows, as the client's code or documents say. */
  windowsShell: 'bash' | 'cmd' | 'powershell'
  answer(context: string, event: string): object
  /** Denies a tool call, with the reason for the model. */
  deny(reason: string): object
  /** Lets the client ask the user about a tool call. Missing where it does not ask, or runs the call anyway. */
  ask?(question: string): object
  /** Shows the user a message at a prompt; missing if the client documents no way to do it. */
  tell?(message: string): object
  limit: ContextLimit
  /** Its plugin continues the agent, so it must know whether a rail is open. */
  marksRail?: true | undefined
  /** A tool may end without an event, so the context for its result is added before it starts. */
  givesBefore?: true | undefined
  /** The client reports no compaction: references count as lost after this number of tool calls. */
  callsRemembered?: number | undefined
  /** What the user must do after the installation before the hook runs, one sentence per scope. */
  steps: { user?: string | undefined; project?: string | undefined }
  /** A sentence that a user of this client should know. */
  note?: string | undefined
}

export interface ClientEvents {
  prompt: string
  before?: string | undefined
  after?: string | undefined
  /** The context was compacted; `SessionStart` takes the references that were lost. */
  compact?: string | undefined
  subagent?: string | undefined
  /** The agent ends its turn. */
  stop?: string | undefined
}

export type HookEvent = keyof ClientEvents

/** All events except the prompt. */
export const eventKinds = ['before', 'after', 'compact', 'subagent', 'stop'] as const

export type Registration =
  /** Items in the `hooks` lists of a JSON file that other programs write too, by event. */
  | {
      kind: 'entry'
      entries(commands: readonly string[]): Readonly<Record<string, object>>
      /** Fields that the file must also have; added if they are missing. */
      frame?: Readonly<Record<string, number>> | undefined
    }
  /** A file that belongs to us. Its text is in a table that the hook does not load. */
  | { kind: 'file'; text: FileText }

export type FileText = 'copilot-hooks' | 'opencode-plugin' | 'pi-extension'

/** Part of every command that we register; it identifies our entries. */
export const launcherName = 'skillrail-hook'

/** A file of Skillrail's own package for a client, whose hook serves all skills and not only those beside it. */
export const allSkillsMark = 'serves-all-skills'

/** Seconds that a client waits for the hook; our deadline is earlier. */
export const timeLimitSeconds = 10

/** Seconds that a client waits at the end of a turn, because a check may run. */
export const turnEndSeconds = 40

/** The answer in the form of Claude Code, which clients with the same hooks understand. */
function nestedAnswer(context: string, event: string): object {
  return { hookSpecificOutput: { hookEventName: event, additionalContext: context } }
}

function nestedDecision(permissionDecision: 'deny' | 'ask', reason: string): object {
  const decision = { permissionDecision, permissionDecisionReason: reason }
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } }
}

const nestedQuestion = { ask: (question: string) => nestedDecision('ask', question) }

/** Answers without the outer object of Claude Code. */
const flat = {
  answer: (context: string) => ({ additionalContext: context }),
  deny: (reason: string) => ({ permissionDecision: 'deny', permissionDecisionReason: reason }),
}

const flatQuestion = {
  ask: (question: string) => ({ permissionDecision: 'ask', permissionDecisionReason: question }),
}

/** One file below the client's folder, which has the same name in a project. */
function inFolder(client: Platform, file: string): Pick<HookAdapter, 'files'> {
  return { files: { user: file, project: `${clientFolders[client].path}/${file}` } }
}

/** The command for an event that is answered in one piece. */
export function wholeCommand([command = '']: readonly string[]): string {
  return command.replace(/ 1\/\d+/, '')
}

/** Groups of commands in the form of Claude Code and of clients with the same hooks. */
function groups(
  events: ClientEvents,
  handler: { name?: string; timeout?: number } = {},
  more: object = {},
): Pick<HookAdapter, 'events' | 'registration'> {
  const { timeout: usualTimeout = timeLimitSeconds } = handler
  const group = (
    matcher: string | undefined,
    commands: readonly string[],
    timeout = usualTimeout,
  ): object => ({
    matcher,
    hooks: commands.map((command) => ({ ...handler, type: 'command', command, timeout, ...more })),
  })
  const matchers = [
    // Guards apply to every tool, including MCP tools.
    [events.before, undefined],
    [events.after, undefined],
    [events.compact, events.compact === 'SessionStart' ? 'compact|clear|resume' : undefined],
    [events.subagent, undefined],
  ] as const
  const entries = (commands: readonly string[]): Record<string, object> => {
    const whole = [wholeCommand(commands)]
    const others = matchers.flatMap(([event, matcher]) =>
      event === undefined ? [] : [[event, group(matcher, whole)] as const],
    )
    // Clients differ in the unit; the limit at the end of a turn is a multiple of the usual one.
    const turnEnd = (usualTimeout * turnEndSeconds) / timeLimitSeconds
    const stop =
      events.stop === undefined ? {} : { [events.stop]: group(undefined, whole, turnEnd) }
    return { [events.prompt]: group(undefined, commands), ...Object.fromEntries(others), ...stop }
  }
  return { events, registration: { kind: 'entry', entries } }
}

const claudeEvents = {
  prompt: 'UserPromptSubmit',
  before: 'PreToolUse',
  after: 'PostToolUse',
  compact: 'SessionStart',
  subagent: 'SubagentStart',
  stop: 'Stop',
} as const

/** Fields that our plugins add to the input of the hook. */
const pluginEvents = { ...claudeEvents, compact: 'PostCompact' } as const

/** Claude Code's field for a message to the user; clients with the same hooks have it too. */
const systemMessage = { tell: (message: string) => ({ systemMessage: message }) }

const milliseconds = { name: 'skillrail', timeout: timeLimitSeconds * 1000 }

/** Tokens that one hook may add; Codex counts four bytes as one. Its own default is 2,500. */
const contextTokens = 10_000

const usual = {
  looksUp: false,
  sigil: 'slash',
  windowsShell: 'cmd',
  answer: nestedAnswer,
  deny: (reason: string) => nestedDecision('deny', reason),
  limit: { unit: 'characters', amount: Infinity, parts: 1 },
  steps: {},
} as const

export const adapters: Readonly<Record<Platform, HookAdapter>> = {
  /** Run with 2.1.332: the hook sees the prompt as typed, also for `/skill arguments`. */
  claude: {
    ...usual,
    ...systemMessage,
    ...nestedQuestion,
    title: 'Claude Code',
    program: 'claude',
    ...inFolder('claude', 'settings.json'),
    cannotRead: ['a comment', 'a trailing comma'],
    ...groups(claudeEvents),
    windowsShell: 'bash',
    // The limit applies to each hook. A longer context becomes a file and a preview.
    limit: { unit: 'characters', amount: 10_000, parts: 4 },
    steps: { project: 'Open the project in Claude Code once and trust its folder.' },
  },
  /** Run with 0.171.0: skills are `$skill arguments`, and an unknown key in the answer fails the hook. */
  codex: {
    ...usual,
    ...systemMessage,
    title: 'Codex',
    program: 'codex',
    ...inFolder('codex', 'hooks.json'),
    cannotRead: ['a byte-order mark', 'a comment', 'a trailing comma'],
    looksUp: true,
    ...groups(claudeEvents, {}, { additionalContextLimit: contextTokens }),
    sigil: 'dollar',
    givesBefore: true,
    limit: { unit: 'bytes', amount: 4 * contextTokens, parts: 1 },
    steps: {
      user: 'At its next start Codex asks about new hooks: choose "Trust all and continue", or trust them in /hooks.',
      project:
        'Trust the project in Codex, then its new hooks, when Codex asks about them or in /hooks.',
    },
  },
  /** Run with 1.0.102: only a flat answer counts, under either name of the event. */
  copilot: {
    ...usual,
    title: 'Copilot CLI',
    program: 'copilot',
    // Copilot CLI keeps the context of the first file by name.
    files: { user: 'hooks/0-skillrail.json', project: '.github/hooks/0-skillrail.json' },
    formerFiles: { user: 'hooks/skillrail.json', project: '.github/hooks/skillrail.json' },
    looksUp: true,
    registration: { kind: 'file', text: 'copilot-hooks' },
    events: {
      prompt: 'userPromptSubmitted',
      before: 'preToolUse',
      after: 'postToolUse',
      compact: 'preCompact',
      subagent: 'subagentStart',
      stop: 'agentStop',
    },
    windowsShell: 'powershell',
    ...flat,
    ...flatQuestion,
    steps: { project: 'Open the project in Copilot CLI once and trust its folder.' },
    note: 'If several hooks add context to a prompt, Copilot CLI keeps one: the project’s before yours, and in a folder the first file by name.',
  },
  /** Not tested here. The client does not document context for this event; it accepts it since about July 2026. */
  cursor: {
    ...usual,
    title: 'Cursor',
    program: 'cursor-agent',
    ...inFolder('cursor', 'hooks.json'),
    looksUp: true,
    registration: {
      kind: 'entry',
      entries: ([command = '']) => {
        const handler = { command, timeout: timeLimitSeconds }
        const onTools = { ...handler, matcher: 'Read|Write|Shell' }
        return { beforeSubmitPrompt: handler, preToolUse: onTools, postToolUse: onTools }
      },
      frame: { version: 1 },
    },
    events: { prompt: 'beforeSubmitPrompt', before: 'preToolUse', after: 'postToolUse' },
    answer: (context, event) => ({
      continue: event === 'beforeSubmitPrompt' || undefined,
      additional_context: context,
    }),
    deny: (reason) => ({ permission: 'deny', agent_message: reason }),
    limit: { unit: 'characters', amount: 10_000, parts: 1 },
    note: 'Adding context to a prompt is undocumented, and needs Cursor of 2026-07 or later.',
  },
  /** Run with 0.61.0: `<` and `>` of the context reach the model as `&lt;` and `&gt;`. */
  gemini: {
    ...usual,
    ...systemMessage,
    title: 'Gemini CLI',
    program: 'gemini',
    ...inFolder('gemini', 'settings.json'),
    cannotRead: ['a byte-order mark', 'a trailing comma'],
    ...groups(
      { prompt: 'BeforeAgent', before: 'BeforeTool', after: 'AfterTool', stop: 'AfterAgent' },
      milliseconds,
    ),
    windowsShell: 'powershell',
    deny: (reason) => ({ decision: 'deny', reason }),
    // Its dialog shows the message alone.
    ask: (question) => ({ decision: 'ask', reason: question, systemMessage: question }),
    callsRemembered: 50,
    steps: {
      user: 'Trust the folder in Gemini CLI: it runs hooks only in folders that you trust.',
      project: 'Trust the folder in Gemini CLI; --skip-trust does not run a project’s hooks.',
    },
    note: 'In its terminal Gemini CLI drops the name of a skill that is called by /name.',
  },
  /** Run with 1.18.33: a plugin, because it has no hooks that are commands. */
  opencode: {
    ...usual,
    title: 'OpenCode',
    program: 'opencode',
    files: { user: 'plugin/skillrail.js', project: '.opencode/plugin/skillrail.js' },
    looksUp: true,
    registration: { kind: 'file', text: 'opencode-plugin' },
    events: pluginEvents,
    marksRail: true,
    ...flat,
  },
  /** Run with 1.6.0: an extension, because it has no hooks that are commands. */
  pi: {
    ...usual,
    title: 'pi',
    program: 'pi',
    files: { user: 'extensions/skillrail.ts', project: '.pi/extensions/skillrail.ts' },
    registration: { kind: 'file', text: 'pi-extension' },
    events: { ...pluginEvents, subagent: undefined },
    sigil: 'skill-colon',
    ...flat,
    ...flatQuestion,
    steps: { project: 'Approve the project in pi once, or start it with: pi --approve' },
  },
  /** Run with 0.24.4: the hook sees the text of a called skill, and what was typed as its last line. */
  qwen: {
    ...usual,
    ...systemMessage,
    ...nestedQuestion,
    title: 'Qwen Code',
    program: 'qwen',
    ...inFolder('qwen', 'settings.json'),
    cannotRead: ['a trailing comma'],
    ...groups({ ...claudeEvents, compact: 'PostCompact', subagent: undefined }, milliseconds),
    sigil: 'expanded',
  },
}
