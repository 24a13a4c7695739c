import { type HookAdapter, namedRegistration, nestedAnswer } from '../adapter.ts'

/** Run with 0.15.10: the hook sees the text of a called skill, and what was typed as its last line. */
export const qwen: HookAdapter = {
  title: 'Qwen Code',
  program: 'qwen',
  home: { path: '.qwen', variable: 'QWEN_HOME' },
  files: { user: 'settings.json', project: '.qwen/settings.json' },
  looksUp: false,
  registration: namedRegistration('UserPromptSubmit'),
  sigil: 'expanded',
  windowsShell: 'cmd',
  answer: nestedAnswer('UserPromptSubmit'),
  limit: { unit: 'characters', amount: Infinity, parts: 1 },
  steps: {},
}
