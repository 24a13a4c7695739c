import { safeLine } from '../core/text.ts'
import { adapters, type Platform } from './adapters.ts'
import type { CodexHookTrust } from './codex-trust.ts'
import type { FolderTrust } from './folder-trust.ts'
import type { HookScope } from './registration.ts'

/**
 * Whether a client, started in this folder, will run a hook that is registered. `once-trusted`: the
 * client asks when it starts, and runs the hook once the folder is trusted. `no`: it works without.
 */
export type WillRun =
  | { answer: 'yes' }
  | { answer: 'once-trusted' | 'no' | 'unknown'; reason: string; step: string }

interface WillRunFacts {
  platform: Platform
  scope: HookScope
  folder: FolderTrust
  /** Where the client would be started, and the root of its project; real paths. */
  cwd: string
  workspace: string
  launcher: 'current' | 'outdated' | 'missing'
  codex?: CodexHookTrust | undefined
}

export function willRun(facts: WillRunFacts): WillRun {
  const { platform, scope, folder, cwd, workspace, launcher, codex } = facts
  const { title, looksUp, program } = adapters[platform]
  if (launcher === 'missing') {
    const reason = 'the launcher that it calls is gone'
    return { answer: 'no', reason, step: 'Run: skillrail hooks install' }
  }
  if (scope === 'project' && !looksUp && cwd !== workspace) {
    const reason = `${title} reads the hooks of a project only where it is started, and this is a folder below`
    const step = `Start ${program} in ${safeLine(workspace)}, or run: skillrail hooks install ${platform} --user`
    return { answer: 'no', reason, step }
  }
  const { state } = folder
  const consequence =
    state === 'open' || state === 'untrusted' ? consequences[platform]?.[state] : undefined
  const answer = consequence?.[scope] ?? 'yes'
  if (consequence !== undefined && answer !== 'yes') {
    const verb = state === 'open' ? 'has not been told to trust' : 'does not trust'
    const reason = `${title} ${verb} this folder (${folder.reason})`
    return { answer, reason, step: consequence.step(program, safeLine(cwd)) }
  }
  if (codex !== undefined && codex !== 'trusted') {
    const step = `Start codex, type /hooks and ${codex === 'disabled' ? 'switch the hook of skillrail on' : 'trust the hook of skillrail'}.`
    return { answer: codex === 'unknown' ? 'unknown' : 'no', reason: codexReasons[codex], step }
  }
  if (state === 'unknown') {
    return { answer: 'unknown', reason: folder.reason, step: `Start ${program} here and see.` }
  }
  return { answer: 'yes' }
}

const codexReasons = {
  untrusted: 'Codex skips a hook in silence until it is trusted',
  modified: 'the hook has changed since it was trusted, and Codex skips it in silence',
  disabled: 'the hook is switched off in Codex',
  unknown: 'Codex could not be asked about the hook, or does not know it',
} as const

interface Consequence {
  user: 'yes' | 'once-trusted' | 'no'
  project: 'once-trusted' | 'no'
  step(program: string, folder: string): string
}

function start(then: string): Consequence['step'] {
  return (program, folder) => `Start ${program} in ${folder} and ${then}`
}

const answer = start('answer that you trust it.')
const always = start('answer that you trust it, now and in the future.')
const trustInCodex: Consequence['step'] = (_, folder) =>
  `Set trust_level to "trusted" for ${folder} in the config.toml of Codex.`

/**
 * What an untrusted folder means, as tried with the versions that the adapters name. Without a
 * terminal Claude Code and Qwen Code run an open folder's hooks, Gemini CLI does not start, and Codex
 * and Copilot CLI skip the project's in silence.
 */
const consequences: Partial<Record<Platform, Record<'open' | 'untrusted', Consequence>>> = {
  claude: {
    open: { user: 'once-trusted', project: 'once-trusted', step: answer },
    untrusted: { user: 'no', project: 'no', step: answer },
  },
  codex: {
    open: { user: 'yes', project: 'no', step: answer },
    untrusted: { user: 'yes', project: 'no', step: trustInCodex },
  },
  copilot: {
    open: { user: 'yes', project: 'no', step: always },
    untrusted: { user: 'yes', project: 'no', step: answer },
  },
  gemini: {
    open: { user: 'once-trusted', project: 'once-trusted', step: answer },
    untrusted: { user: 'no', project: 'no', step: start('type: /permissions trust') },
  },
  qwen: {
    open: { user: 'yes', project: 'once-trusted', step: answer },
    untrusted: { user: 'yes', project: 'no', step: start('type: /trust') },
  },
}
