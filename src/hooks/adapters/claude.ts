import { type HookAdapter, nestedAnswer, timeLimitSeconds } from '../adapter.ts'

/** Run with 2.1.197: the hook sees the prompt as typed, also for `/skill arguments`. */
export const claude: HookAdapter = {
  title: 'Claude Code',
  program: 'claude',
  home: { path: '.claude', variable: 'CLAUDE_CONFIG_DIR' },
  files: { user: 'settings.json', project: '.claude/settings.json' },
  looksUp: false,
  registration: {
    kind: 'entry',
    list: ['hooks', 'UserPromptSubmit'],
    entry: (commands) => ({
      hooks: commands.map((command) => ({ type: 'command', command, timeout: timeLimitSeconds })),
    }),
  },
  sigil: 'slash',
  windowsShell: 'bash',
  answer: nestedAnswer('UserPromptSubmit'),
  // Of every hook on its own; a longer one becomes a file and a preview.
  limit: { unit: 'characters', amount: 10_000, parts: 4 },
  steps: { project: 'Open the project in Claude Code once and trust its folder.' },
}
