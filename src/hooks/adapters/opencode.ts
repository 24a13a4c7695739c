import type { HookAdapter } from '../adapter.ts'

/** Run with 1.18.33: a plugin, because there is no hook that is a command. */
export const opencode: HookAdapter = {
  title: 'OpenCode',
  program: 'opencode',
  home: { path: '.config/opencode', variable: 'OPENCODE_CONFIG_DIR' },
  files: { user: 'plugin/skillrail.js', project: '.opencode/plugin/skillrail.js' },
  looksUp: true,
  registration: { kind: 'file', text: 'opencode-plugin' },
  sigil: 'slash',
  windowsShell: 'cmd',
  answer: (context) => ({ additionalContext: context }),
  limit: { unit: 'characters', amount: Infinity, parts: 1 },
  steps: {},
}
