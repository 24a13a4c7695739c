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
  /** Where the hook is registered: below the client's directory, and below a project. */
  files: { user: string; project: string }
  /** Whether the client also finds a project's file when it is started in a folder below. */
  looksUp: boolean
  registration: Registration
  /** How a user of this client writes `/skill arguments`. */
  sigil: Sigil
  /** What the client starts the command with on Windows, as its own code or documents say. */
  windowsShell: 'bash' | 'cmd' | 'powershell'
  answer(context: string): object
  limit: ContextLimit
  /** What the user must do, besides installing, before the hook runs; a sentence each. */
  steps: { user?: string | undefined; project?: string | undefined }
  remark?: string | undefined
}

/** How the hook is written into the client's configuration. */
export type Registration =
  /** One item of a list inside a JSON file that others write to as well. */
  | {
      kind: 'entry'
      list: readonly string[]
      entry(commands: readonly string[]): object
      /** What the file must hold besides, where it is new or lacks it. */
      frame?: Readonly<Record<string, number>> | undefined
    }
  /** A file that belongs to us; its text is in a table that the hook itself does not load. */
  | { kind: 'file'; text: FileText }

export type FileText = 'copilot-hooks' | 'opencode-plugin' | 'pi-extension'

/** Seconds a client waits for the hook; our own deadline is earlier. */
export const timeLimitSeconds = 10

/** The answer of Claude Code, understood by the clients that took over its hooks. */
function nestedAnswer(event: string): HookAdapter['answer'] {
  return (context) => ({
    hookSpecificOutput: { hookEventName: event, additionalContext: context },
  })
}

/** A group of commands, as Claude Code has them and the clients that took over its hooks. */
function group(
  event: string,
  { before = {}, timeout = timeLimitSeconds, after = {} },
): HookAdapter['registration'] {
  return {
    kind: 'entry',
    list: ['hooks', event],
    entry: (commands) => ({
      hooks: commands.map((command) => ({
        ...before,
        type: 'command',
        command,
        timeout,
        ...after,
      })),
    }),
  }
}

/** The registration of the clients that took over Gemini CLI's: a named command, in milliseconds. */
function namedGroup(event: string): HookAdapter['registration'] {
  return group(event, { before: { name: 'skillrail' }, timeout: timeLimitSeconds * 1000 })
}

function flatAnswer(context: string): object {
  return { additionalContext: context }
}

const unlimited: ContextLimit = { unit: 'characters', amount: Infinity, parts: 1 }

/** Tokens that one hook may add; Codex counts four bytes as one. Its own default is 2,500. */
const contextTokens = 10_000

/** Every client. */
export const adapters: Readonly<Record<Platform, HookAdapter>> = {
  /** Run with 2.1.197: the hook sees the prompt as typed, also for `/skill arguments`. */
  claude: {
    title: 'Claude Code',
    program: 'claude',
    home: { path: '.claude', variable: 'CLAUDE_CONFIG_DIR' },
    files: { user: 'settings.json', project: '.claude/settings.json' },
    looksUp: false,
    registration: group('UserPromptSubmit', {}),
    sigil: 'slash',
    windowsShell: 'bash',
    answer: nestedAnswer('UserPromptSubmit'),
    // Of every hook on its own; a longer one becomes a file and a preview.
    limit: { unit: 'characters', amount: 10_000, parts: 4 },
    steps: { project: 'Open the project in Claude Code once and trust its folder.' },
  },
  /** Run with 0.169.0: skills are `$skill arguments`, and an unknown key in the answer fails the hook. */
  codex: {
    title: 'Codex',
    program: 'codex',
    home: { path: '.codex', variable: 'CODEX_HOME' },
    files: { user: 'hooks.json', project: '.codex/hooks.json' },
    looksUp: true,
    registration: group('UserPromptSubmit', { after: { additionalContextLimit: contextTokens } }),
    sigil: 'dollar',
    windowsShell: 'cmd',
    answer: nestedAnswer('UserPromptSubmit'),
    limit: { unit: 'bytes', amount: 4 * contextTokens, parts: 1 },
    steps: {
      user: 'Type /hooks in Codex and trust the hook of skillrail; until then Codex skips it silently.',
      project:
        'Trust the project in Codex, then type /hooks and trust the hook of skillrail; until then Codex skips it silently.',
    },
  },
  /** Run with 1.0.102: only a flat answer counts, under either name of the event. */
  copilot: {
    title: 'Copilot CLI',
    program: 'copilot',
    home: { path: '.copilot', variable: 'COPILOT_HOME' },
    files: { user: 'hooks/skillrail.json', project: '.github/hooks/skillrail.json' },
    looksUp: true,
    registration: { kind: 'file', text: 'copilot-hooks' },
    sigil: 'slash',
    windowsShell: 'powershell',
    answer: flatAnswer,
    limit: unlimited,
    steps: { project: 'Open the project in Copilot CLI once and trust its folder.' },
    remark: 'Of several hooks that add context Copilot CLI keeps only the last one’s.',
  },
  /**
   * Not run here. The field for context is undocumented for this event, and is accepted by clients
   * since about July 2026; older ones ignore it. An empty answer adds nothing; other text is an error.
   */
  cursor: {
    title: 'Cursor',
    program: 'cursor-agent',
    home: { path: '.cursor' },
    files: { user: 'hooks.json', project: '.cursor/hooks.json' },
    looksUp: true,
    registration: {
      kind: 'entry',
      list: ['hooks', 'beforeSubmitPrompt'],
      entry: ([command = '']) => ({ command, timeout: timeLimitSeconds }),
      frame: { version: 1 },
    },
    sigil: 'slash',
    windowsShell: 'cmd',
    answer: (context) => ({ continue: true, additional_context: context }),
    limit: { unit: 'characters', amount: 10_000, parts: 1 },
    steps: {},
    remark:
      'Adding context to a prompt is undocumented in Cursor and needs a client of 2026-07 or later.',
  },
  /** Run with 0.61.0: `<` and `>` of the context reach the model as `&lt;` and `&gt;`. */
  gemini: {
    title: 'Gemini CLI',
    program: 'gemini',
    home: { path: '.gemini', variable: 'GEMINI_CLI_HOME', moves: 'home' },
    files: { user: 'settings.json', project: '.gemini/settings.json' },
    looksUp: false,
    registration: namedGroup('BeforeAgent'),
    sigil: 'slash',
    windowsShell: 'powershell',
    answer: nestedAnswer('BeforeAgent'),
    limit: unlimited,
    steps: {
      project: 'Trust the folder in Gemini CLI; --skip-trust does not run a project’s hooks.',
    },
    remark: 'In its terminal Gemini CLI drops the name of a skill that is called by /name.',
  },
  /** Run with 1.18.33: a plugin, because it has no hooks that are commands. */
  opencode: {
    title: 'OpenCode',
    program: 'opencode',
    home: { path: '.config/opencode', variable: 'OPENCODE_CONFIG_DIR' },
    files: { user: 'plugin/skillrail.js', project: '.opencode/plugin/skillrail.js' },
    looksUp: true,
    registration: { kind: 'file', text: 'opencode-plugin' },
    sigil: 'slash',
    windowsShell: 'cmd',
    answer: flatAnswer,
    limit: unlimited,
    steps: {},
  },
  /** Run with 0.73.1: an extension, because it has no hooks that are commands. */
  pi: {
    title: 'pi',
    program: 'pi',
    home: { path: '.pi/agent', variable: 'PI_CODING_AGENT_DIR' },
    files: { user: 'extensions/skillrail.ts', project: '.pi/extensions/skillrail.ts' },
    looksUp: false,
    registration: { kind: 'file', text: 'pi-extension' },
    sigil: 'skill-colon',
    windowsShell: 'cmd',
    answer: flatAnswer,
    limit: unlimited,
    steps: {},
  },
  /** Run with 0.15.10: the hook sees the text of a called skill, and what was typed as its last line. */
  qwen: {
    title: 'Qwen Code',
    program: 'qwen',
    home: { path: '.qwen', variable: 'QWEN_HOME' },
    files: { user: 'settings.json', project: '.qwen/settings.json' },
    looksUp: false,
    registration: namedGroup('UserPromptSubmit'),
    sigil: 'expanded',
    windowsShell: 'cmd',
    answer: nestedAnswer('UserPromptSubmit'),
    limit: unlimited,
    steps: {},
  },
  /** Every client; a forgotten one is a type error. */
}
