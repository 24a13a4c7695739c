import type { ContextLimit } from './context.ts'
import type { Sigil } from './prompt.ts'

/** The agent clients whose prompts Skillrail can reach, in alphabetical order. */
export const platforms = [
  'claude',
  'codex',
  'copilot',
  'cursor',
  'gemini',
  'opencode',
  'pi',
  'qwen',
] as const

export type Platform = (typeof platforms)[number]

export function isPlatform(name: string): name is Platform {
  return platforms.some((platform) => platform === name)
}

/** How an agent client asks for context before its model runs. */
export interface HookAdapter {
  title: string
  program: string
  /** The client's directory, and the variable that moves it, or the home above it with `moves: 'home'`. */
  home: { path: string; variable?: string | undefined; moves?: 'home' | undefined }
  files: { user: string; project: string }
  /** Whether the client also finds a project's file when it is started in a folder below. */
  looksUp: boolean
  registration: Registration
  /** The client's names for what happens; a missing one it cannot report, or takes nothing for. */
  events: ClientEvents
  /** How a user of this client writes `/skill arguments`. */
  sigil: Sigil
  /** What the client starts the command with on Windows, as its own code or documents say. */
  windowsShell: 'bash' | 'cmd' | 'powershell'
  answer(context: string, event: string): object
  /** Keeps a tool from running, with what the model is told. */
  deny(reason: string): object
  limit: ContextLimit
  /** A tool may end without a report: what belongs to its result is given before it starts. */
  givesBefore?: true | undefined
  /** Reports no compaction: what was given counts as lost after so many tool calls. */
  callsRemembered?: number | undefined
  /** What the user must do, besides installing, before the hook runs; a sentence each. */
  steps: { user?: string | undefined; project?: string | undefined }
  remark?: string | undefined
}

export interface ClientEvents {
  prompt: string
  before?: string | undefined
  after?: string | undefined
  /** The context was compacted; `SessionStart` takes the references that were lost. */
  compact?: string | undefined
  subagent?: string | undefined
}

export type HookEvent = keyof ClientEvents

/** Besides the prompt. */
export const eventKinds = ['before', 'after', 'compact', 'subagent'] as const

export type Registration =
  /** Items in the lists of `hooks` of a JSON file that others write to as well, by event. */
  | {
      kind: 'entry'
      entries(commands: readonly string[]): Readonly<Record<string, object>>
      /** What the file must hold besides, where it is new or lacks it. */
      frame?: Readonly<Record<string, number>> | undefined
    }
  /** A file that belongs to us; its text is in a table that the hook itself does not load. */
  | { kind: 'file'; text: FileText }

export type FileText = 'copilot-hooks' | 'opencode-plugin' | 'pi-extension'

/** In every command that we register: by this an entry is known to be ours. */
export const launcherName = 'skillrail-hook'

/** Seconds a client waits for the hook; our own deadline is earlier. */
export const timeLimitSeconds = 10

/** The answer of Claude Code, understood by the clients that took over its hooks. */
function nestedAnswer(context: string, event: string): object {
  return { hookSpecificOutput: { hookEventName: event, additionalContext: context } }
}

function nestedDenial(reason: string): object {
  const decision = { permissionDecision: 'deny', permissionDecisionReason: reason }
  return { hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } }
}

/** Answers without the layer of Claude Code. */
const flat = {
  answer: (context: string) => ({ additionalContext: context }),
  deny: (reason: string) => ({ permissionDecision: 'deny', permissionDecisionReason: reason }),
}

/** Of a client that keeps its file in a folder of one name, at home and in a project. */
function inFolder(
  path: string,
  file: string,
  variable?: string,
): Pick<HookAdapter, 'home' | 'files'> {
  return { home: { path, variable }, files: { user: file, project: `${path}/${file}` } }
}

/** The command for an event that is answered in one piece. */
export function wholeCommand([command = '']: readonly string[]): string {
  return command.replace(/ 1\/\d+/, '')
}

/** Groups of commands, as Claude Code has them and the clients that took over its hooks. */
function groups(
  events: ClientEvents,
  { tools, ...handler }: { tools: string; name?: string; timeout?: number },
  more: object = {},
): Pick<HookAdapter, 'events' | 'registration'> {
  const group = (matcher: string | undefined, commands: readonly string[]): object => ({
    matcher,
    hooks: commands.map((command) => ({
      ...handler,
      type: 'command',
      command,
      timeout: handler.timeout ?? timeLimitSeconds,
      ...more,
    })),
  })
  const matchers = [
    [events.before, tools],
    [events.after, tools],
    [events.compact, events.compact === 'SessionStart' ? 'compact|clear' : undefined],
    [events.subagent, undefined],
  ] as const
  const entries = (commands: readonly string[]): Record<string, object> => {
    const whole = [wholeCommand(commands)]
    const others = matchers.flatMap(([event, matcher]) =>
      event === undefined ? [] : [[event, group(matcher, whole)] as const],
    )
    return { [events.prompt]: group(undefined, commands), ...Object.fromEntries(others) }
  }
  return { events, registration: { kind: 'entry', entries } }
}

const claudeEvents = {
  prompt: 'UserPromptSubmit',
  before: 'PreToolUse',
  after: 'PostToolUse',
  compact: 'SessionStart',
  subagent: 'SubagentStart',
} as const

/** What our plugins tell the hook. */
const pluginEvents = { ...claudeEvents, compact: 'PostCompact' } as const

const milliseconds = { name: 'skillrail', timeout: timeLimitSeconds * 1000 }

/** Tokens that one hook may add; Codex counts four bytes as one. Its own default is 2,500. */
const contextTokens = 10_000

const usual = {
  looksUp: false,
  sigil: 'slash',
  windowsShell: 'cmd',
  answer: nestedAnswer,
  deny: nestedDenial,
  limit: { unit: 'characters', amount: Infinity, parts: 1 },
  steps: {},
} as const

export const adapters: Readonly<Record<Platform, HookAdapter>> = {
  /** Run with 2.1.330: the hook sees the prompt as typed, also for `/skill arguments`. */
  claude: {
    ...usual,
    title: 'Claude Code',
    program: 'claude',
    ...inFolder('.claude', 'settings.json', 'CLAUDE_CONFIG_DIR'),
    ...groups(claudeEvents, { tools: 'Edit|Write|NotebookEdit|Read|Bash|Skill' }),
    windowsShell: 'bash',
    // Of every hook on its own; a longer one becomes a file and a preview.
    limit: { unit: 'characters', amount: 10_000, parts: 4 },
    steps: { project: 'Open the project in Claude Code once and trust its folder.' },
  },
  /** Run with 0.169.0: skills are `$skill arguments`, and an unknown key in the answer fails the hook. */
  codex: {
    ...usual,
    title: 'Codex',
    program: 'codex',
    ...inFolder('.codex', 'hooks.json', 'CODEX_HOME'),
    looksUp: true,
    ...groups(
      claudeEvents,
      { tools: 'apply_patch|Bash' },
      { additionalContextLimit: contextTokens },
    ),
    sigil: 'dollar',
    givesBefore: true,
    limit: { unit: 'bytes', amount: 4 * contextTokens, parts: 1 },
    steps: {
      user: 'Type /hooks in Codex and trust the hook of skillrail.',
      project: 'Trust the project in Codex, then type /hooks and trust the hook of skillrail.',
    },
  },
  /** Run with 1.0.102: only a flat answer counts, under either name of the event. */
  copilot: {
    ...usual,
    title: 'Copilot CLI',
    program: 'copilot',
    home: { path: '.copilot', variable: 'COPILOT_HOME' },
    files: { user: 'hooks/skillrail.json', project: '.github/hooks/skillrail.json' },
    looksUp: true,
    registration: { kind: 'file', text: 'copilot-hooks' },
    events: {
      prompt: 'userPromptSubmitted',
      before: 'preToolUse',
      after: 'postToolUse',
      compact: 'preCompact',
      subagent: 'subagentStart',
    },
    windowsShell: 'powershell',
    ...flat,
    steps: { project: 'Open the project in Copilot CLI once and trust its folder.' },
    remark: 'Of several hooks that add context Copilot CLI keeps only the last one’s.',
  },
  /** Not run here. Context for this event is undocumented, and taken since about July 2026. */
  cursor: {
    ...usual,
    title: 'Cursor',
    program: 'cursor-agent',
    ...inFolder('.cursor', 'hooks.json'),
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
    remark: 'Adding context to a prompt is undocumented, and needs Cursor of 2026-07 or later.',
  },
  /** Run with 0.61.0: `<` and `>` of the context reach the model as `&lt;` and `&gt;`. */
  gemini: {
    ...usual,
    title: 'Gemini CLI',
    program: 'gemini',
    ...inFolder('.gemini', 'settings.json'),
    home: { path: '.gemini', variable: 'GEMINI_CLI_HOME', moves: 'home' },
    ...groups(
      { prompt: 'BeforeAgent', before: 'BeforeTool', after: 'AfterTool' },
      { ...milliseconds, tools: 'replace|write_file|read_file|run_shell_command|activate_skill' },
    ),
    windowsShell: 'powershell',
    deny: (reason) => ({ decision: 'deny', reason }),
    callsRemembered: 50,
    steps: {
      user: 'Gemini CLI runs hooks only in folders that you trust.',
      project: 'Trust the folder in Gemini CLI; --skip-trust does not run a project’s hooks.',
    },
    remark: 'In its terminal Gemini CLI drops the name of a skill that is called by /name.',
  },
  /** Run with 1.18.33: a plugin, because it has no hooks that are commands. */
  opencode: {
    ...usual,
    title: 'OpenCode',
    program: 'opencode',
    home: { path: '.config/opencode', variable: 'OPENCODE_CONFIG_DIR' },
    files: { user: 'plugin/skillrail.js', project: '.opencode/plugin/skillrail.js' },
    looksUp: true,
    registration: { kind: 'file', text: 'opencode-plugin' },
    events: pluginEvents,
    ...flat,
  },
  /** Run with 0.87.1: an extension, because it has no hooks that are commands. */
  pi: {
    ...usual,
    title: 'pi',
    program: 'pi',
    home: { path: '.pi/agent', variable: 'PI_CODING_AGENT_DIR' },
    files: { user: 'extensions/skillrail.ts', project: '.pi/extensions/skillrail.ts' },
    registration: { kind: 'file', text: 'pi-extension' },
    events: { ...pluginEvents, subagent: undefined },
    sigil: 'skill-colon',
    ...flat,
    steps: { project: 'Approve the project in pi once, or start it with: pi --approve' },
  },
  /** Run with 0.24.4: the hook sees the text of a called skill, and what was typed as its last line. */
  qwen: {
    ...usual,
    title: 'Qwen Code',
    program: 'qwen',
    ...inFolder('.qwen', 'settings.json', 'QWEN_HOME'),
    ...groups(
      { ...claudeEvents, compact: 'PostCompact', subagent: undefined },
      { ...milliseconds, tools: 'edit|write_file|read_file|run_shell_command|skill' },
    ),
    sigil: 'expanded',
  },
}
