import { type HookAdapter, timeLimitSeconds } from '../adapter.ts'

/**
 * Not run here. The field for context is undocumented for this event, and is accepted by clients
 * since about July 2026; older ones ignore it. An empty answer adds nothing; other text is an error.
 */
export const cursor: HookAdapter = {
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
}
