import { join, parse } from 'node:path'
import { messageOf } from '../core/errors.ts'
import { objectOf } from '../core/json.ts'
import type { Runtime } from '../core/runtime.ts'
import { safeLine } from '../core/text.ts'
import { upTo } from '../trust/project-files.ts'
import { adapters, type Platform } from './adapters.ts'
import { readClientJson } from './edit-entries.ts'
import { readConfiguration } from './install.ts'
import { clientHome, type HookScope } from './registration.ts'

/** Whether a client trusts a folder, as its own file says. `open`: it says nothing about it. */
export interface FolderTrust {
  state: 'trusted' | 'untrusted' | 'open' | 'not-asked' | 'unknown'
  reason: string
}

/** Whether a client that is started in this folder runs a registered hook. */
export type WillRun =
  | { answer: 'yes' }
  | { answer: 'once-trusted' | 'no' | 'unknown'; reason: string; step: string }

type ClientJson = Readonly<Record<string, unknown>>

/** What a client's file says about one folder. */
type Reader = (file: ClientJson, folder: string) => unknown

const readers: Partial<Record<Platform, { file: string; says: Reader }>> = {
  claude: {
    file: '.claude.json',
    says: ({ projects }, folder) => objectOf(objectOf(projects)[folder])['hasTrustDialogAccepted'],
  },
  copilot: {
    file: 'config.json',
    says: ({ trustedFolders: list }, folder) => Array.isArray(list) && list.includes(folder),
  },
  gemini: { file: 'trustedFolders.json', says: (file, folder) => file[folder] },
}

const verdicts = new Map<unknown, 'trusted' | 'untrusted'>([
  [true, 'trusted'],
  ['TRUST_FOLDER', 'trusted'],
  ['TRUST_PARENT', 'trusted'],
  ['DO_NOT_TRUST', 'untrusted'],
])

export function folderTrust(platform: Platform, folder: string, runtime: Runtime): FolderTrust {
  const reason = `${adapters[platform].title} does not ask, or only where its settings say so`
  if (platform === 'opencode' || platform === 'qwen') return { state: 'not-asked', reason }
  const reader = readers[platform]
  if (reader === undefined) return { state: 'unknown', reason: 'the client alone can tell' }
  const isBeside = platform === 'claude' && !runtime.env['CLAUDE_CONFIG_DIR']
  const home = isBeside ? runtime.home : clientHome(adapters[platform], runtime)
  const path = join(home, reader.file)
  try {
    const file = objectOf(readClientJson(readConfiguration(path) ?? '{}', path))
    for (const place of upTo(folder, parse(folder).root)) {
      const state = verdicts.get(reader.says(file, place))
      if (state !== undefined) return { state, reason: `${path} has ${place} as ${state}` }
    }
    return { state: 'open', reason: `${path} says nothing about it` }
  } catch (error) {
    return { state: 'unknown', reason: messageOf(error) }
  }
}

/** Where the client's program would be started, and the root of its project; real paths. */
interface Facts {
  launcher: 'current' | 'outdated' | 'missing'
  cwd: string
  workspace: string
  folder: FolderTrust
}

export function willRun(platform: Platform, scope: HookScope, facts: Facts): WillRun {
  const { title, program, looksUp, steps } = adapters[platform]
  const { launcher, cwd, workspace, folder } = facts
  if (launcher === 'missing') {
    const reason = 'the launcher that it calls is gone'
    return { answer: 'no', reason, step: 'Run: skillrail hooks install' }
  }
  if (scope === 'project' && !looksUp && cwd !== workspace) {
    const reason = `${title} reads the hooks of a project only where it is started, and this is a folder below`
    const step = `Start ${program} in ${safeLine(workspace)}, or run: skillrail hooks install ${platform} --user`
    return { answer: 'no', reason, step }
  }
  const { state, reason } = folder
  const step = steps[scope]
  if (step === undefined || state === 'trusted' || state === 'not-asked') return { answer: 'yes' }
  const answers = { open: 'once-trusted', untrusted: 'no', unknown: 'unknown' } as const
  return { answer: answers[state], reason, step }
}
