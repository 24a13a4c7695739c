import { type HookAdapter, namedRegistration, nestedAnswer } from '../adapter.ts'

/** Run with 0.15.10: the hook sees the text of a called skill, and what was typed as its last line. */
export const qwen: HookAdapter = {
  title: 'Qwen Code',
  program: 'qwen',
  home: { path: '.qwen' },
  files: { user: 'settings.json', project: '.qwen/settings.json' },
  registration: namedRegistration('UserPromptSubmit'),
  sigil: 'expanded',
  answer: nestedAnswer('UserPromptSubmit'),
  limit: { unit: 'characters', amount: Infinity, parts: 1 },
  steps: {},
}
