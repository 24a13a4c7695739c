import { existsSync } from 'node:fs'
import { messageOf } from '../core/errors.ts'
import type { Runtime } from '../core/runtime.ts'
import { realPathOf } from '../core/read-files.ts'
import { capturedText, type ProcessEnd, runProcess } from '../exec/process.ts'
import { findWorkspace } from '../trust/decide.ts'
import { adapters, type Platform, platforms } from './adapters.ts'
import { fileTexts } from './client-files.ts'
import { type CodexTrust, codexTrust } from './codex-trust.ts'
import { partsNeeded } from './context.ts'
import { ownCommands } from './edit-entries.ts'
import { type FolderTrust, folderTrust } from './folder-trust.ts'
import { readConfiguration } from './install.ts'
import { launcherName, launcherPath, launcherState } from './launcher.ts'
import {
  clientHome,
  configurationPath,
  hookCommands,
  type HookScope,
  largestInjection,
} from './registration.ts'
import { willRun, type WillRun } from './will-run.ts'

/** What one configuration file says about our hook. */
export type Registered =
  | { state: 'absent'; path: string }
  | { state: 'installed'; path: string; parts: number }
  /** It is there, in another form than would be installed now. */
  | { state: 'outdated'; path: string; parts: number; reason: string }
  | { state: 'broken'; path: string; reason: string }

export interface PlatformStatus {
  platform: Platform
  title: string
  /** The client's program, or undefined where it is not on the search path. */
  program: string | undefined
  user: Registered
  project: Registered
  /** What the client's own files say of the folder. */
  folder: FolderTrust
  /** What Codex says of the hook itself; undefined for other clients, and where it was not asked. */
  trust?: CodexTrust | undefined
  /** Whether it will run in this folder, for each place where it is registered. */
  runs: { user?: WillRun | undefined; project?: WillRun | undefined }
  /** What is left for the user to do before the hook runs. */
  steps: readonly string[]
  remark?: string | undefined
}

export interface HooksStatus {
  launcher: { path: string; state: 'current' | 'outdated' | 'missing' }
  /** Undefined where there is no launcher. */
  probe: ProbeResult | undefined
  platforms: readonly PlatformStatus[]
}

export interface StatusOptions {
  /** Where a program lies on the search path. */
  findProgram(name: string): string | undefined
  /** How long a client that is asked itself may take to answer; default: 8000. */
  patienceMs?: number | undefined
}

/** Looks at every client: whether the hook is there, whether it will run, and how long it takes. */
export async function hooksStatus(runtime: Runtime, options: StatusOptions): Promise<HooksStatus> {
  const path = launcherPath(runtime)
  const state = launcherState(runtime)
  const largest = largestInjection(runtime)
  const statuses: PlatformStatus[] = []
  for (const platform of platforms) {
    statuses.push(await platformStatus(runtime, platform, { largest, launcher: state }, options))
  }
  return {
    launcher: { path, state },
    probe: state === 'missing' ? undefined : await probeHook(runtime, 'claude'),
    platforms: statuses,
  }
}

/** The best that one of its registrations comes to; undefined for a client without any. */
export function bestRun({ runs }: PlatformStatus): WillRun | undefined {
  const known = [runs.user, runs.project].filter((run) => run !== undefined)
  const order: readonly WillRun['answer'][] = ['yes', 'once-trusted', 'unknown', 'no']
  return known.toSorted((a, b) => order.indexOf(a.answer) - order.indexOf(b.answer))[0]
}

/** Clients that seem to be used here: their program or their directory is there. */
export function installedPlatforms(runtime: Runtime, options: StatusOptions): Platform[] {
  return platforms.filter((platform) => {
    const adapter = adapters[platform]
    return (
      options.findProgram(adapter.program) !== undefined || existsSync(clientHome(adapter, runtime))
    )
  })
}

async function platformStatus(
  runtime: Runtime,
  platform: Platform,
  { largest, launcher }: { largest: number; launcher: HooksStatus['launcher']['state'] },
  options: StatusOptions,
): Promise<PlatformStatus> {
  const adapter = adapters[platform]
  const program = options.findProgram(adapter.program)
  const user = registered(runtime, platform, 'user', largest)
  const shared = registered(runtime, platform, 'project', largest)
  // In the home directory the project's file is the user's own.
  const project = shared.path === user.path ? { state: 'absent' as const, path: user.path } : shared
  const isThere = user.state !== 'absent' || project.state !== 'absent'
  const cwd = realPathOf(runtime.cwd) ?? runtime.cwd
  const folder = await folderTrust(platform, cwd, runtime)
  const isAsked = platform === 'codex' && isThere && program !== undefined
  const trust = isAsked
    ? await codexTrust(program, {
        cwd: runtime.cwd,
        env: { ...runtime.env },
        timeoutMs: options.patienceMs,
      })
    : undefined
  const judge = ({ state }: Registered, scope: HookScope): WillRun | undefined =>
    state === 'absent' || state === 'broken'
      ? undefined
      : willRun({
          platform,
          scope,
          folder,
          cwd,
          workspace: findWorkspace(runtime.cwd, runtime),
          launcher,
          codex: platform === 'codex' ? (trust?.[scope] ?? 'unknown') : undefined,
        })
  const runs = { user: judge(user, 'user'), project: judge(project, 'project') }
  const steps = Object.values(runs).flatMap((run) =>
    run === undefined || run.answer === 'yes' ? [] : [run.step],
  )
  return {
    platform,
    title: adapter.title,
    program,
    user,
    project,
    folder,
    trust,
    runs,
    steps: [...new Set(steps)],
    remark: adapter.remark,
  }
}

function registered(
  runtime: Runtime,
  platform: Platform,
  scope: HookScope,
  largest: number,
): Registered {
  const adapter = adapters[platform]
  const { registration, limit } = adapter
  const workspace = findWorkspace(runtime.cwd, runtime)
  const path = configurationPath(adapter, runtime, scope, workspace)
  try {
    const text = readConfiguration(path)
    if (text === undefined || !text.includes(launcherName)) {
      if (registration.kind === 'entry' && text !== undefined && text.trim() !== '') {
        ownCommands(text, registration, path)
      }
      return { state: 'absent', path }
    }
    const parts = partsNeeded(largest, limit)
    const wanted = hookCommands(runtime, platform, scope, parts)
    if (registration.kind === 'file') {
      return text === fileTexts[registration.text](wanted[0] ?? '')
        ? { state: 'installed', path, parts: 1 }
        : { state: 'outdated', path, parts: 1, reason: 'it was written by another version' }
    }
    const found = ownCommands(text, registration, path)
    if (found.join('\n') === wanted.join('\n')) return { state: 'installed', path, parts }
    const reason =
      found.length < parts
        ? `${parts} parts are needed for the largest skill, and ${found.length} are registered`
        : 'its command is another one than is installed now'
    // More parts than are needed now do no harm.
    const isEnough = found.length > parts
    return isEnough
      ? { state: 'installed', path, parts: found.length }
      : { state: 'outdated', path, parts: found.length, reason }
  } catch (error) {
    return { state: 'broken', path, reason: messageOf(error) }
  }
}

/** What happened when the installed hook was called as a client calls it. */
export interface ProbeResult {
  ok: boolean
  durationMs: number
  /** What was wrong, as a sentence; undefined where nothing was. */
  problem?: string | undefined
}

/** A prompt that no trigger is written for, so that nothing is logged and nothing injected. */
const quietPrompt = 'skillrail probe of the hook'

/** Calls the launcher with a prompt as the client would, and looks at what comes back. */
export async function probeHook(runtime: Runtime, platform: Platform): Promise<ProbeResult> {
  const input = JSON.stringify({
    session_id: 'skillrail-probe',
    cwd: runtime.cwd,
    hook_event_name: 'UserPromptSubmit',
    prompt: quietPrompt,
  })
  const started = runtime.elapsed()
  const { end, stderr } = await runProcess({
    file: launcherPath(runtime),
    args: [platform],
    cwd: runtime.cwd,
    env: childEnvironment(runtime),
    stdin: input,
    timeoutMs: 15_000,
    outputLimit: 65_536,
  })
  const durationMs = Math.round(runtime.elapsed() - started)
  const problem = problemOf(end, capturedText(stderr).trim())
  return { ok: problem === undefined, durationMs, problem }
}

function problemOf(end: ProcessEnd, said: string): string | undefined {
  if (end.kind === 'not-started') return `it could not be started: ${end.message}`
  if (end.kind === 'timeout') return 'it did not end in time'
  if (end.kind !== 'exit') return 'it was ended by a signal'
  if (end.code !== 0) return `it ended with ${end.code}: ${said}`
  return said === '' ? undefined : said
}

/** The environment as a client passes it on, without the mark of a run that the probe may be in. */
function childEnvironment({ env }: Runtime): Record<string, string> {
  const entries = Object.entries(env).filter(([name]) => name !== 'SKILLRAIL_RUN_ID')
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
