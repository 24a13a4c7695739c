import { type HookAdapter, nestedAnswer, timeLimitSeconds } from '../adapter.ts'

/** Tokens that one hook may add; Codex counts four bytes as one. Its own default is 2,500. */
const contextTokens = 10_000

/** Run with 0.169.0: skills are `$skill arguments`, and an unknown key in the answer fails the hook. */
export const codex: HookAdapter = {
  title: 'Codex',
  program: 'codex',
  home: { path: '.codex', variable: 'CODEX_HOME' },
  files: { user: 'hooks.json', project: '.codex/hooks.json' },
  looksUp: true,
  registration: {
    kind: 'entry',
    list: ['hooks', 'UserPromptSubmit'],
    entry: (commands) => ({
      hooks: commands.map((command) => ({
        type: 'command',
        command,
        timeout: timeLimitSeconds,
        additionalContextLimit: contextTokens,
      })),
    }),
  },
  sigil: 'dollar',
  windowsShell: 'cmd',
  answer: nestedAnswer('UserPromptSubmit'),
  limit: { unit: 'bytes', amount: 4 * contextTokens, parts: 1 },
  steps: {
    user: 'Type /hooks in Codex and trust the hook of skillrail; until then Codex skips it silently.',
    project:
      'Trust the project in Codex, then type /hooks and trust the hook of skillrail; until then Codex skips it silently.',
  },
}
