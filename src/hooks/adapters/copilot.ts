import type { HookAdapter } from '../adapter.ts'

/** Run with 1.0.102: only a flat answer counts, under either name of the event. */
export const copilot: HookAdapter = {
  title: 'Copilot CLI',
  program: 'copilot',
  home: { path: '.copilot', variable: 'COPILOT_HOME' },
  files: { user: 'hooks/skillrail.json', project: '.github/hooks/skillrail.json' },
  looksUp: true,
  registration: { kind: 'file', text: 'copilot-hooks' },
  sigil: 'slash',
  windowsShell: 'powershell',
  answer: (context) => ({ additionalContext: context }),
  limit: { unit: 'characters', amount: Infinity, parts: 1 },
  steps: { project: 'Open the project in Copilot CLI once and trust its folder.' },
  remark: 'Of several hooks that add context Copilot CLI keeps only the last one’s.',
}
