import { safeLine } from '../core/text.ts'
import { adapters, type Platform } from './adapters.ts'
import type { CodexHookTrust } from './codex-trust.ts'
import type { FolderTrust } from './folder-trust.ts'
import type { HookScope } from './registration.ts'

/** Whether a client, started in this folder, will run a hook that is registered. */
export type WillRun =
  | { answer: 'yes' }
  | {
      answer: /** The client asks when it starts, and runs the hook once the folder is trusted. */
        | 'once-trusted'
        /** The client works here, without the hook. */
        | 'no'
        | 'unknown'
      reason: string
      /** The exact thing to do. */
      step: string
    }

interface WillRunFacts {
  platform: Platform
  scope: HookScope
  folder: FolderTrust
  /** Where the client would be started, and the root of its project; real paths. */
  cwd: string
  workspace: string
  launcher: 'current' | 'outdated' | 'missing'
  /** What Codex said of this registration; undefined for other clients. */
  codex?: CodexHookTrust | undefined
}

/** Judges one registration from what is known of the folder. */
export function willRun(facts: WillRunFacts): WillRun {
  const { platform, scope, folder, cwd, workspace, launcher, codex } = facts
  const { title, looksUp, program } = adapters[platform]
  if (launcher === 'missing') {
    return no('the launcher that it calls is gone', 'Run: skillrail hooks install')
  }
  if (scope === 'project' && !looksUp && cwd !== workspace) {
    return no(
      `${title} reads the hooks of a project only where it is started, and this is a folder below`,
      `Start ${program} in ${safeLine(workspace)}, or run: skillrail hooks install ${platform} --user`,
    )
  }
  const refusal = folderRefusal(facts)
  if (refusal !== undefined) return refusal
  if (codex !== undefined && codex !== 'trusted') return codexRefusal(codex)
  if (folder.state === 'unknown') {
    return { answer: 'unknown', reason: folder.reason, step: `Start ${program} here and see.` }
  }
  return { answer: 'yes' }
}

/** What becomes of the hook, and what the user does about it. */
interface Consequence {
  user: 'yes' | 'once-trusted' | 'no'
  project: 'yes' | 'once-trusted' | 'no'
  step(folder: string): string
}

/**
 * What an untrusted folder means, as tried with the versions that the adapters name. Without a
 * terminal Claude Code and Qwen Code run an open folder's hooks, Gemini CLI does not start, and Codex
 * and Copilot CLI skip the project's in silence.
 */
const consequences: Partial<
  Readonly<Record<Platform, Readonly<Record<'open' | 'untrusted', Consequence>>>>
> = {
  claude: {
    open: { user: 'once-trusted', project: 'once-trusted', step: answering('claude') },
    untrusted: { user: 'no', project: 'no', step: answering('claude') },
  },
  codex: {
    open: { user: 'yes', project: 'no', step: answering('codex') },
    untrusted: {
      user: 'yes',
      project: 'no',
      step: (folder) => `Set trust_level to "trusted" for ${folder} in the config.toml of Codex.`,
    },
  },
  copilot: {
    open: {
      user: 'yes',
      project: 'no',
      step: (folder) =>
        `Start copilot in ${folder} and answer that you trust it, now and in the future.`,
    },
    untrusted: { user: 'yes', project: 'no', step: answering('copilot') },
  },
  gemini: {
    open: { user: 'once-trusted', project: 'once-trusted', step: answering('gemini') },
    untrusted: { user: 'no', project: 'no', step: typing('gemini', '/permissions trust') },
  },
  qwen: {
    open: { user: 'yes', project: 'once-trusted', step: answering('qwen') },
    untrusted: { user: 'yes', project: 'no', step: typing('qwen', '/trust') },
  },
}

function answering(program: string) {
  return (folder: string): string => `Start ${program} in ${folder} and answer that you trust it.`
}

function typing(program: string, command: string) {
  return (folder: string): string => `Start ${program} in ${folder} and type: ${command}`
}

function folderRefusal({ platform, scope, folder, cwd }: WillRunFacts): WillRun | undefined {
  if (folder.state !== 'open' && folder.state !== 'untrusted') return undefined
  const consequence = consequences[platform]?.[folder.state]
  const answer = consequence?.[scope]
  if (consequence === undefined || answer === undefined || answer === 'yes') return undefined
  const { title } = adapters[platform]
  const verb = folder.state === 'open' ? 'has not been told to trust' : 'does not trust'
  return {
    answer,
    reason: `${title} ${verb} this folder (${folder.reason})`,
    step: consequence.step(safeLine(cwd)),
  }
}

function codexRefusal(trust: Exclude<CodexHookTrust, 'trusted'>): WillRun {
  const reasons = {
    untrusted: 'Codex skips a hook in silence until it is trusted',
    modified: 'the hook has changed since it was trusted, and Codex skips it in silence',
    disabled: 'the hook is switched off in Codex',
    unknown: 'Codex could not be asked about the hook, or does not know it',
  }
  const step =
    trust === 'disabled'
      ? 'Start codex, type /hooks and switch the hook of skillrail on.'
      : 'Start codex, type /hooks and trust the hook of skillrail.'
  return { answer: trust === 'unknown' ? 'unknown' : 'no', reason: reasons[trust], step }
}

function no(reason: string, step: string): WillRun {
  return { answer: 'no', reason, step }
}
