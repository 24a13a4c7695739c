import { type HookAdapter, namedRegistration, nestedAnswer } from '../adapter.ts'

/** Run with 0.61.0: `<` and `>` of the context reach the model as `&lt;` and `&gt;`. */
export const gemini: HookAdapter = {
  title: 'Gemini CLI',
  program: 'gemini',
  home: { path: '.gemini', variable: 'GEMINI_CLI_HOME', moves: 'home' },
  files: { user: 'settings.json', project: '.gemini/settings.json' },
  looksUp: false,
  registration: namedRegistration('BeforeAgent'),
  sigil: 'slash',
  windowsShell: 'powershell',
  answer: nestedAnswer('BeforeAgent'),
  limit: { unit: 'characters', amount: Infinity, parts: 1 },
  steps: {
    project: 'Trust the folder in Gemini CLI; --skip-trust does not run a project’s hooks.',
  },
  remark: 'In its terminal Gemini CLI drops the name of a skill that is called by /name.',
}
