import { existsSync } from 'node:fs'
import { messageOf } from '#core/errors'
import { findWorkspace, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { safeLine } from '#core/text'
import { findProgram } from '#exec/find-program'
import { capturedText, type ProcessEnd, runProcess } from '#exec/process'
import { adapters, eventKinds, launcherName, type Platform, platforms } from './adapters.ts'
import { ownCommands } from './edit-entries.ts'
import { planInstall, readConfiguration } from './install.ts'
import {
  clientHome,
  configurationPath,
  type HookScope,
  largestInjection,
  launcherPath,
  launcherState,
} from './registration.ts'
import type { Check, CheckContext } from '#core/command'

export type Registered =
  | { state: 'absent'; path: string }
  | { state: 'installed'; path: string; parts: number }
  /** It is there, in another form than would be installed now. */
  | { state: 'outdated'; path: string; parts: number; reason: string }
  | { state: 'broken'; path: string; reason: string }

export type HooksStatus = Awaited<ReturnType<typeof hooksStatus>>
export type PlatformStatus = HooksStatus['platforms'][number]

export async function hooksStatus(runtime: Runtime) {
  const launcher = { path: launcherPath(runtime), state: launcherState(runtime) }
  const statuses = platformStatuses(runtime, platforms)
  const probe = launcher.state === 'missing' ? undefined : await probeHook(runtime, 'claude')
  return { launcher, probe, platforms: statuses }
}

export function platformStatuses(runtime: Runtime, wanted: readonly Platform[]) {
  const facts = {
    launcher: launcherState(runtime),
    cwd: realPathOf(runtime.cwd) ?? runtime.cwd,
    largest: largestInjection(runtime),
    workspace: findWorkspace(runtime.cwd, runtime),
  }
  return wanted.map((platform) => platformStatus(runtime, platform, facts))
}

/** Clients that seem to be used here: their program or their directory is there. */
export function installedPlatforms(runtime: Runtime): Platform[] {
  return platforms.filter((platform) => {
    const adapter = adapters[platform]
    const isFound = findProgram(adapter.program, runtime) !== undefined
    return isFound || existsSync(clientHome(adapter, runtime))
  })
}

interface PlaceFacts {
  launcher: 'current' | 'outdated' | 'missing'
  cwd: string
  largest: number
  workspace: string
}

function platformStatus(runtime: Runtime, platform: Platform, facts: PlaceFacts) {
  const { title, program, events, remark } = adapters[platform]
  const user = registered(runtime, platform, 'user', facts)
  const shared = registered(runtime, platform, 'project', facts)
  // In the home directory the project's file is the user's own.
  const isOne = shared.path === user.path
  const project: Registered = isOne ? { state: 'absent', path: user.path } : shared
  const reason = 'the client alone can tell'
  const judge = ({ state }: Registered, scope: HookScope) =>
    state === 'absent' || state === 'broken' ? undefined : willRun(platform, scope, facts)
  const runs = { user: judge(user, 'user'), project: judge(project, 'project') }
  const steps = Object.values(runs).flatMap((run) => (run && 'step' in run ? [run.step] : []))
  return {
    platform,
    title,
    program: findProgram(program, runtime),
    user,
    project,
    folder: { state: 'unknown', reason },
    trust:
      platform === 'codex' && isThere({ user, project })
        ? { user: 'unknown', project: 'unknown' }
        : undefined,
    runs,
    /** What is left for the user to do before the hook runs. */
    steps: [...new Set(steps)],
    /** What the client does not report, or takes nothing for. */
    missing: eventKinds.filter((kind) => events[kind] === undefined),
    remark,
  }
}

export function isThere({ user, project }: Record<HookScope, Registered>): boolean {
  return user.state !== 'absent' || project.state !== 'absent'
}

/** Whether a client that is started in this folder runs a registered hook; what it trusts is its own. */
export function willRun(
  platform: Platform,
  scope: HookScope,
  facts: Omit<PlaceFacts, 'largest'>,
): { answer: 'yes' } | { answer: 'no' | 'unknown'; reason: string; step: string } {
  const { title, program, looksUp, steps } = adapters[platform]
  const { launcher, cwd, workspace } = facts
  if (launcher === 'missing') {
    const reason = 'the launcher that it calls is gone'
    return { answer: 'no', reason, step: 'Run: skillrail hooks install' }
  }
  if (scope === 'project' && !looksUp && cwd !== workspace) {
    const reason = `${title} reads the hooks of a project only where it is started, and this is a folder below`
    const step = `Start ${program} in ${safeLine(workspace)}, or run: skillrail hooks install ${platform} --user`
    return { answer: 'no', reason, step }
  }
  const step = steps[scope]
  if (step === undefined) return { answer: 'yes' }
  return { answer: 'unknown', reason: `${title} alone can tell what it trusts`, step }
}

function registered(
  runtime: Runtime,
  platform: Platform,
  scope: HookScope,
  { largest, workspace }: PlaceFacts,
): Registered {
  const adapter = adapters[platform]
  const { registration } = adapter
  const path = configurationPath(adapter, runtime, scope, workspace)
  try {
    const text = readConfiguration(path) ?? ''
    if (!text.includes(launcherName)) {
      if (registration.kind === 'entry' && text.trim() !== '') ownCommands(text, path)
      return { state: 'absent', path }
    }
    const own = registration.kind === 'entry' ? ownCommands(text, path) : []
    const numbers = own.map((command) => Number(/ \d+\/(\d+)/.exec(command)?.[1] ?? 1))
    const parts = Math.max(1, ...numbers)
    // More parts than are needed now do no harm.
    const wanted = planInstall(runtime, platform, scope, { largest, least: parts })
    if (wanted.after === text) return { state: 'installed', path, parts }
    const tooFew = `${wanted.parts} parts are needed for the largest skill, and ${parts} are registered`
    const reason = parts < wanted.parts ? tooFew : 'it is not as it would be installed now'
    return { state: 'outdated', path, parts, reason }
  } catch (error) {
    return { state: 'broken', path, reason: messageOf(error) }
  }
}

/** Calls the launcher with a prompt that has no trigger, as the client would. `problem`: what was wrong. */
export async function probeHook(runtime: Runtime, platform: Platform) {
  const input = JSON.stringify({
    session_id: 'skillrail-probe',
    cwd: runtime.cwd,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'skillrail probe of the hook',
  })
  // As a client passes it on, without the mark of a run that the probe may be in.
  const variables = Object.entries({ ...runtime.env, SKILLRAIL_RUN_ID: undefined })
  const env = variables.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const started = runtime.elapsed()
  const { end, stderr } = await runProcess({
    file: launcherPath(runtime),
    args: [platform],
    cwd: runtime.cwd,
    env: Object.fromEntries(env),
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
  if (end.kind === 'timeout') return 'it did not finish in time'
  if (end.kind !== 'exit') return 'it was ended by a signal'
  if (end.code !== 0) return `it ended with ${end.code}: ${said}`
  return said === '' ? undefined : said
}

/** Whether the hook of each client is registered and will run; `probe` calls it as each client would. */
export async function checkHooks({ runtime }: CheckContext, probe: boolean): Promise<Check[]> {
  const { launcher, probe: call, platforms } = await hooksStatus(runtime)
  const registered = platforms.filter(isThere)
  if (registered.length === 0) {
    const found = 'no client calls the hook'
    const advice = 'skillrail hooks install lets references arrive before the model runs.'
    return [{ name: 'hooks', status: 'information', found, advice }]
  }
  const works = launcher.state === 'current' && call?.ok === true
  const problem = call?.problem ?? `${launcher.state}, ${call?.durationMs ?? 0} ms a call`
  const found = `${launcher.path}: ${problem}`
  const advice = works ? undefined : 'skillrail hooks install brings it up to date.'
  const checks: Check[] = [
    { name: 'hook launcher', status: works ? 'ok' : 'warning', found, advice },
    ...registered.map(checkPlatform),
  ]
  for (const { platform, title } of probe ? registered : []) {
    const { ok, problem: wrong, durationMs } = await probeHook(runtime, platform)
    const answer = wrong ?? `answered in ${durationMs} ms`
    checks.push({ name: `${title} probe`, status: ok ? 'ok' : 'warning', found: answer })
  }
  return checks
}

function checkPlatform({ title, user, project, steps }: PlatformStatus): Check {
  const places = [user, project].filter(({ state }) => state !== 'absent')
  const isBad = places.some(({ state }) => state !== 'installed')
  const found = places.map((place) =>
    'reason' in place ? `${place.path}: ${place.reason}` : place.path,
  )
  return {
    name: `${title} hook`,
    status: isBad ? 'warning' : 'ok',
    found: found.join('; '),
    advice: isBad ? 'skillrail hooks install fixes it.' : steps.join(' ') || undefined,
  }
}
