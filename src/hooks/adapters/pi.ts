import type { HookAdapter } from '../adapter.ts'

/** Run with 0.73.1: an extension, because there is no hook that is a command. */
export const pi: HookAdapter = {
  title: 'pi',
  program: 'pi',
  home: { path: '.pi/agent', variable: 'PI_CODING_AGENT_DIR' },
  files: { user: 'extensions/skillrail.ts', project: '.pi/extensions/skillrail.ts' },
  looksUp: false,
  registration: { kind: 'file', text: 'pi-extension' },
  sigil: 'skill-colon',
  windowsShell: 'cmd',
  answer: (context) => ({ additionalContext: context }),
  limit: { unit: 'characters', amount: Infinity, parts: 1 },
  steps: {},
}
