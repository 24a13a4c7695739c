import { type HookAdapter, nestedAnswer, timeLimitSeconds } from '../adapter.ts'

/** Run with 0.15.10: the hook sees the text of a called skill, and what was typed as its last line. */
export const qwen: HookAdapter = {
  title: 'Qwen Code',
  program: 'qwen',
  home: { path: '.qwen' },
  files: { user: 'settings.json', project: '.qwen/settings.json' },
  registration: {
    kind: 'entry',
    list: ['hooks', 'UserPromptSubmit'],
    entry: (commands) => ({
      hooks: commands.map((command) => ({
        name: 'skillrail',
        type: 'command',
        command,
        timeout: timeLimitSeconds * 1000,
      })),
    }),
  },
  sigil: 'expanded',
  answer: nestedAnswer('UserPromptSubmit'),
  limit: { unit: 'characters', amount: Infinity, parts: 1 },
  steps: {},
}
