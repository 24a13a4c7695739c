import { existsSync } from 'node:fs'
import { messageOf, type Runtime } from '../base/index.ts'
import { findWorkspace } from '../trust/index.ts'
import { adapters } from './adapters.ts'
import { fileTexts } from './file-texts.ts'
import { codexTrust } from './codex-trust.ts'
import { ownCommands } from './edit-entries.ts'
import { hookCommands, type HookScope } from './hook-command.ts'
import { readConfiguration } from './install.ts'
import { launcherState } from './install-launcher.ts'
import { launcherName, launcherPath } from './launcher-place.ts'
import { largestInjection, partsFor } from './parts.ts'
import { clientHome, configurationPath } from './places.ts'
import { type Platform, platforms } from './platform.ts'
import { probeHook, type ProbeResult } from './probe.ts'

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
  /** Undefined where the client asks nobody, or could not be asked. */
  trust?: 'trusted' | 'untrusted' | 'modified' | 'unknown' | undefined
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
}

/** Looks at every client: whether the hook is there, whether it will run, and how long it takes. */
export async function hooksStatus(runtime: Runtime, options: StatusOptions): Promise<HooksStatus> {
  const path = launcherPath(runtime)
  const state = launcherState(runtime)
  const largest = largestInjection(runtime)
  const statuses: PlatformStatus[] = []
  for (const platform of platforms) {
    statuses.push(await platformStatus(runtime, platform, largest, options))
  }
  return {
    launcher: { path, state },
    probe: state === 'missing' ? undefined : await probeHook(runtime, 'claude'),
    platforms: statuses,
  }
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
  largest: number,
  options: StatusOptions,
): Promise<PlatformStatus> {
  const adapter = adapters[platform]
  const program = options.findProgram(adapter.program)
  const user = registered(runtime, platform, 'user', largest)
  const shared = registered(runtime, platform, 'project', largest)
  // In the home directory the project's file is the user's own.
  const project = shared.path === user.path ? { state: 'absent' as const, path: user.path } : shared
  const isThere = user.state !== 'absent' || project.state !== 'absent'
  const trust =
    platform === 'codex' && isThere && program !== undefined
      ? await codexTrust(program, { cwd: runtime.cwd, env: { ...runtime.env } })
      : undefined
  const wanted = [
    ...(user.state === 'absent' ? [] : [adapter.steps.user]),
    ...(project.state === 'absent' ? [] : [adapter.steps.project]),
  ]
  const steps = trust === 'trusted' ? [] : wanted.filter((step) => step !== undefined)
  return {
    platform,
    title: adapter.title,
    program,
    user,
    project,
    trust,
    steps,
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
    const parts = limit.parts === 1 ? 1 : partsFor(limit, largest)
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
