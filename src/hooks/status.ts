import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { clientFolder } from '#core/client-folders'
import { messageOf } from '#core/errors'
import { findWorkspace, isInside, readRegularFile, realPathOf, statsOf } from '#core/read-files'
import { packageVersion, type Runtime } from '#core/runtime'
import { safeLine } from '#core/text'
import { findProgram } from '#core/find-program'
import { capturedText, type ProcessEnd, runProcess } from '#exec/process'
import { compareVersions } from '#library/client-plugins'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import { adapters, eventKinds, launcherName, type Platform, platforms } from './adapters.ts'
import { ownCommands, ownEvents } from './edit-entries.ts'
import { formerFile, planInstall, readConfiguration } from './install.ts'
import {
  configurationPath,
  type HookScope,
  largestInjection,
  launcherPath,
  launcherState,
} from './registration.ts'
import {
  type InstalledPackage,
  installedPackages,
  packageProblem,
  updateOf,
} from './installed-package.ts'
import { railFacts, type RailLimit, railLimits } from './rail-facts.ts'
import { fileProblem, switchedOff, type SwitchedOff } from './switches.ts'
import { type HookTrace, readTraces } from './trace.ts'
import type { Check, CheckContext } from '#core/command'

export type Registered =
  | { state: 'absent'; path: string }
  | { state: 'installed'; path: string; parts: number }
  /** An entry exists, but differs from the one that would be installed now. */
  | { state: 'outdated'; path: string; parts: number; reason: string }
  | { state: 'broken'; path: string; reason: string }

export interface HooksStatus {
  launcher: { path: string; state: LauncherState }
  /** One call of the hook; undefined without a launcher. */
  probe: HookProbe | undefined
  platforms: readonly PlatformStatus[]
}

/** The hook of one client, according to files and the hook's log. */
export interface PlatformStatus {
  platform: Platform
  title: string
  /** The path of the client's program; undefined if it was not found. */
  program: string | undefined
  user: Registered
  project: Registered
  /** Skillrail's package, if the client has installed and enabled it here. */
  package: PackageStatus | undefined
  /** The package, if the client has installed it and the user has switched it off there. */
  disabledPackage: PackagePlace | undefined
  folder: { state: 'unknown'; reason: string }
  trust: Record<HookScope, 'unknown'> | undefined
  runs: Record<HookScope, RunAnswer | undefined>
  /** When the client last called the hook with a trigger that matched, as an ISO time. */
  lastFired: string | undefined
  /** What the user still has to do before the hook runs. */
  steps: string[]
  /** Hook files of others that compete with ours for the one context that the client keeps. */
  rivals: string[]
  /** Events that the client does not report, or takes no answer for. */
  missing: (typeof eventKinds)[number][]
  /** Whether its hook denies calls here; `unknown`: if the client trusts the hook. */
  denies: RunAnswer['answer']
  /** Whether chains run there as rails. */
  rail: RailState
  /** What the client cannot do for a rail. */
  limits: readonly RailLimit[]
  note: string | undefined
  /** The former name of `note`, for one version. */
  remark: string | undefined
}

/** Skillrail as a package of a client. */
export interface PackagePlace {
  name: string
  path: string
  version: string | undefined
}

/** The same, and whether the client runs its hook. */
export interface PackageStatus extends PackagePlace {
  run: RunAnswer
  /** The command that brings the version of this program or a newer one; undefined if it is not older. */
  update: string | undefined
}

/**
 * `unsupported`: the client cannot; `absent`: no hook is installed; `ready`: nothing is known to be
 * missing.
 */
export type RailState =
  /** `ifTrusted`: nobody can tell yet whether the client trusts the hook. */
  | { state: 'ready'; ifTrusted?: true }
  | { state: 'absent' }
  /** `idle`: the hook is installed, and the client does not run it. */
  | { state: 'unsupported' | 'outdated' | 'idle'; reason: string }

type LauncherState = 'current' | 'outdated' | 'missing'

export type RunAnswer =
  | { answer: 'yes' }
  | { answer: 'no' | 'unknown'; reason: string; step: string }

export async function hooksStatus(runtime: Runtime): Promise<HooksStatus> {
  const launcher = { path: launcherPath(runtime), state: launcherState(runtime) }
  const statuses = platformStatuses(runtime, platforms)
  const probe = launcher.state === 'missing' ? undefined : await probeHook(runtime, 'claude')
  return { launcher, probe, platforms: statuses }
}

export function platformStatuses(runtime: Runtime, wanted: readonly Platform[]): PlatformStatus[] {
  const facts = {
    launcher: launcherState(runtime),
    cwd: realPathOf(runtime.cwd) ?? runtime.cwd,
    largest: largestInjection(runtime),
    workspace: findWorkspace(runtime.cwd, runtime),
    traces: readTraces(runtime, newestTraces).traces,
    packages: installedPackages(runtime),
  }
  return wanted.map((platform) => platformStatus(runtime, platform, facts))
}

/** Clients that seem to be in use: their program or their directory exists. */
export function installedPlatforms(runtime: Runtime): Platform[] {
  return platforms.filter((platform) => {
    const adapter = adapters[platform]
    const isFound = findProgram(adapter.program, runtime) !== undefined
    return isFound || existsSync(clientFolder(platform, runtime))
  })
}

interface PlaceFacts {
  launcher: LauncherState
  cwd: string
  largest: number
  workspace: string
  traces: readonly HookTrace[]
  packages: readonly InstalledPackage[]
}

/** More traces than the log keeps. */
const newestTraces = 100_000

function platformStatus(runtime: Runtime, platform: Platform, facts: PlaceFacts): PlatformStatus {
  const { title, program, events, note } = adapters[platform]
  const user = registered(runtime, platform, 'user', facts)
  const shared = registered(runtime, platform, 'project', facts)
  // In the home directory the project's file is the user's own.
  const isOne = shared.path === user.path
  const project: Registered = isOne ? { state: 'absent', path: user.path } : shared
  const reason = 'the client alone can tell'
  const isOff = switchedOff(platform, runtime, facts.workspace)
  const judge = (place: Registered, scope: HookScope): RunAnswer | undefined => {
    if (place.state === 'absent' || place.state === 'broken') return undefined
    const problem = unreadable(platform, place.path)
    if (problem !== undefined) return problem
    if (isOff) return switchAnswer(title, isOff)
    const answer = willRun(platform, scope, facts)
    const isProved =
      answer.answer === 'unknown' && hasFiredSince(place.path, scope, platform, facts)
    return isProved ? { answer: 'yes' } : answer
  }
  const runs = { user: judge(user, 'user'), project: judge(project, 'project') }
  const packages = facts.packages.filter((one) => one.platform === platform)
  const installed = packages.find(({ isEnabled }) => isEnabled)
  const disabled = installed === undefined ? packages[0] : undefined
  const own = installed && packageStatus(installed, isOff, facts)
  const places = { user, project, package: own }
  const rail = railState(platform, places, runs, facts.launcher)
  const answers = [...Object.values(runs), own?.run]
  const steps = [
    ...answers.flatMap((run) => (run && 'step' in run ? [run.step] : [])),
    ...(own?.update === undefined ? [] : [`Update the package: ${own.update}`]),
  ]
  return {
    platform,
    title,
    program: findProgram(program, runtime),
    user,
    project,
    package: own,
    disabledPackage: disabled && {
      name: disabled.name,
      path: disabled.path,
      version: disabled.version,
    },
    folder: { state: 'unknown', reason },
    trust:
      platform === 'codex' && isThere(places) ? { user: 'unknown', project: 'unknown' } : undefined,
    runs,
    lastFired: facts.traces.findLast((trace) => trace.platform === platform)?.at,
    steps: [...new Set(steps)],
    rivals: isThere(places) ? rivalsOf(platform, runtime, facts.workspace) : [],
    missing: eventKinds.filter((kind) => events[kind] === undefined),
    denies: deniesCalls(platform, places, runs, facts.launcher),
    rail,
    limits: railLimits(platform),
    note,
    remark: note,
  }
}

/** The hook of a package has its own launcher; the client alone can tell whether it trusts the folder. */
function packageStatus(
  installed: InstalledPackage,
  isOff: SwitchedOff | undefined,
  facts: PlaceFacts,
): PackageStatus {
  const { name, path, version, platform } = installed
  const { title, steps } = adapters[platform]
  const problem = packageProblem(installed)
  const answer = (): RunAnswer => {
    if (isOff) return switchAnswer(title, isOff)
    if (problem !== undefined) {
      const step = `Install the package ${safeLine(name)} again.`
      return { answer: 'no', reason: problem, step }
    }
    const hook = join(path, 'hook/hook.cjs')
    if (steps.user === undefined || hasFiredSince(hook, 'user', platform, facts)) {
      return { answer: 'yes' }
    }
    return {
      answer: 'unknown',
      reason: `${title} alone can tell what it trusts`,
      step: steps.user,
    }
  }
  const isOutdated = version !== undefined && compareVersions(version, packageVersion()) < 0
  return {
    name,
    path,
    version,
    run: answer(),
    update: isOutdated ? updateOf(installed) : undefined,
  }
}

/** Whether a client has the hook twice: in its settings and as a package. Each reference still comes once. */
export function isTwice(status: PlatformStatus): boolean {
  return status.package !== undefined && isRegistered(status)
}

/** The package in one line, such as `skillrail@skillrail 0.3.0`. */
export function packageLine({ name, version }: PackagePlace): string {
  return safeLine(version === undefined ? name : `${name} ${version}`)
}

/** A chain here, and a client that runs it as a rail. */
export interface ChainStart {
  chain: string
  /** The folder of the skill. */
  directory: string
  platform: Platform
  /** What a user types in the client. */
  call: string
  /** Whether the client reads the skill. Otherwise it knows no such call. */
  isRead: boolean
}

/** Returns how the chains that a user finds here are started in clients that run them as rails. */
export function chainStarts(
  { runtime, settings }: CheckContext,
  clients: readonly { platform: Platform }[],
): ChainStart[] {
  if (settings.rail.start === 'never') return []
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  const chains = skills.filter(({ fields }) => fields.chain && fields.userInvocable)
  return chains.flatMap(({ name: chain, directory, clients: readers }) =>
    clients.flatMap(({ platform }) => {
      const call = railFacts(platform).start?.replace('NAME', () => chain)
      const isRead = readers.includes(platform)
      return call === undefined ? [] : [{ chain, directory, platform, call, isRead }]
    }),
  )
}

/** Returns the calls of chains with the clients that know them, as in `/release in Claude Code`. */
export function startLine(starts: readonly ChainStart[]): string {
  const read = Map.groupBy(
    starts.filter(({ isRead }) => isRead),
    ({ call }) => call,
  )
  const parts = Array.from(read, ([call, of]) => {
    const names = [...new Set(of.map(({ platform }) => adapters[platform].title))]
    return `${safeLine(call)} in ${names.join(', ')}`
  })
  return parts.join('; ')
}

/** Whether chains run as rails in a client. */
export function railLine({ platform, rail }: Pick<PlatformStatus, 'platform' | 'rail'>): string {
  switch (rail.state) {
    case 'ready':
      return rail.ifTrusted
        ? `chains run as rails once ${adapters[platform].title} trusts the hook`
        : 'chains run as rails'
    case 'unsupported':
      return `no chain runs as a rail: ${rail.reason}`
    case 'idle':
      return `no chain runs as a rail: ${safeLine(rail.reason)}`
    case 'outdated':
      return `no chain runs as a rail: ${safeLine(rail.reason)}. Run: skillrail hooks install ${platform}`
    case 'absent':
      return `no chain runs as a rail: the hook is not installed. Run: skillrail hooks install ${platform}`
  }
}

/**
 * A registration of an earlier version has no event for the end of a turn, and its hook knows no
 * rails.
 */
function railState(
  platform: Platform,
  places: Record<HookScope, Registered> & { package: PackageStatus | undefined },
  runs: PlatformStatus['runs'],
  launcher: LauncherState,
): RailState {
  if (railFacts(platform).start === undefined) {
    return { state: 'unsupported', reason: 'it reports no end of a turn' }
  }
  if (!isThere(places)) return { state: 'absent' }
  const { run } = places.package ?? {}
  if (run?.answer === 'yes') return { state: 'ready' }
  const scopes = ['user', 'project'] as const
  const present = scopes.filter((scope) => places[scope].state !== 'absent')
  const idle = present.flatMap((scope) => {
    const run = runs[scope]
    return run?.answer === 'no' ? [run.reason] : []
  })
  const reasons = present.map((scope) => placeProblem(platform, places[scope]))
  const answers = present.flatMap((scope, index) =>
    reasons[index] === undefined && launcher === 'current' ? (runs[scope]?.answer ?? 'yes') : [],
  )
  if (answers.includes('yes')) return { state: 'ready' }
  if (answers.includes('unknown') || run?.answer === 'unknown') {
    return { state: 'ready', ifTrusted: true }
  }
  const [problem] = reasons.flatMap((one) => one ?? [])
  const [whyIdle] = [...idle, ...(run ? [run.reason] : [])]
  // An installation changes nothing about a client that does not run its hooks.
  const isInstalled = launcher === 'current' || present.length === 0
  if (problem === undefined && whyIdle !== undefined && isInstalled) {
    return { state: 'idle', reason: whyIdle }
  }
  const reason = problem ?? whyIdle ?? 'the hook is that of another version'
  return { state: 'outdated', reason }
}

/** Whether a client calls a hook of this version before a tool runs. */
function deniesCalls(
  platform: Platform,
  places: Record<HookScope, Registered> & { package: PackageStatus | undefined },
  runs: PlatformStatus['runs'],
  launcher: LauncherState,
): RunAnswer['answer'] {
  if (adapters[platform].events.before === undefined) return 'no'
  const scopes = launcher === 'current' ? (['user', 'project'] as const) : []
  const answers = scopes.flatMap((scope) => {
    const isWhole = placeProblem(platform, places[scope]) === undefined
    return isWhole ? (runs[scope]?.answer ?? []) : []
  })
  const all = [...answers, ...(places.package ? [places.package.run.answer] : [])]
  return all.find((one) => one === 'yes') ?? all.find((one) => one === 'unknown') ?? 'no'
}

/** What makes these clients deny calls: the steps of hooks that do not run, or an installation. */
export function stepsToDeny(clients: readonly PlatformStatus[]): string {
  const steps = clients
    .filter((client) => isThere(client) && client.denies !== 'yes')
    .flatMap((client) => client.steps)
  return steps.length > 0 ? [...new Set(steps)].join(' ') : 'Run: skillrail hooks install'
}

/** What a registration lacks for rails. */
function placeProblem(platform: Platform, place: Registered): string | undefined {
  if (place.state === 'broken') return place.reason
  if (place.state !== 'outdated') return undefined
  const { events, registration } = adapters[platform]
  if (registration.kind === 'file' && registration.text !== 'copilot-hooks') return place.reason
  try {
    const own = ownEvents(readConfiguration(place.path) ?? '', place.path)
    const missing = [events.prompt, events.before, events.after, events.stop].filter(
      (event) => event !== undefined && !own.includes(event),
    )
    if (missing.length === 0) return undefined
    return `its registration has no ${missing.join(' and no ')}`
  } catch (error) {
    return messageOf(error)
  }
}

export function isThere(
  status: Record<HookScope, Registered> & { package: PackageStatus | undefined },
): boolean {
  return isRegistered(status) || status.package !== undefined
}

/** Whether the files of a client have the hook, and not only a package. */
function isRegistered({ user, project }: Record<HookScope, Registered>): boolean {
  return user.state !== 'absent' || project.state !== 'absent'
}

/** The answer for a hook in a file that its client cannot read. */
function unreadable(platform: Platform, path: string): RunAnswer | undefined {
  const reason = fileProblem(platform, readConfiguration(path) ?? '')
  if (reason === undefined) return undefined
  return { answer: 'no', reason, step: `Change ${safeLine(path)}: ${reason}.` }
}

function switchAnswer(title: string, { path, setting }: SwitchedOff): RunAnswer {
  const reason = `${title} runs no hooks: ${setting} in ${safeLine(path)}`
  return { answer: 'no', reason, step: `Remove ${setting} from ${safeLine(path)}.` }
}

/**
 * Whether the client has called the hook since its file was written, which proves that it trusts
 * the hook
 * in its present form. For a project's hook, only calls in this project count.
 */
function hasFiredSince(
  path: string,
  scope: HookScope,
  platform: Platform,
  { traces, workspace }: PlaceFacts,
): boolean {
  const written = statsOf(path)?.mtimeMs ?? Infinity
  return traces.some(
    (trace) =>
      trace.platform === platform &&
      Date.parse(trace.at) > written &&
      (scope === 'user' || isInside(workspace, trace.cwd)),
  )
}

/**
 * Files of others with hooks for prompts, of which Copilot CLI keeps the context of one: a
 * project's
 * before the user's, settings before files of hooks, and in a folder the first by name.
 */
function rivalsOf(platform: Platform, runtime: Runtime, workspace: string): string[] {
  if (platform !== 'copilot') return []
  const home = clientFolder(platform, runtime)
  const settings = ['settings.json', 'settings.local.json']
  const folders = [join(workspace, '.github/hooks'), join(home, 'hooks')]
  const files = [
    ...settings.map((name) => join(workspace, '.claude', name)),
    ...settings.map((name) => join(workspace, '.github/copilot', name)),
    join(home, 'settings.json'),
    ...folders.flatMap((folder) =>
      namesIn(folder)
        .filter((name) => name.endsWith('.json'))
        .map((name) => join(folder, name)),
    ),
  ]
  return files.filter((file) => {
    const reading = readRegularFile(file, { maxBytes: 1024 * 1024 })
    if (!reading.ok || reading.text.includes(launcherName)) return false
    return /"userPromptSubmit(?:ted)?"/i.test(reading.text)
  })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted()
  } catch {
    return []
  }
}

/**
 * Whether a client that is started in this folder runs a registered hook. The client decides about
 * trust.
 */
export function willRun(
  platform: Platform,
  scope: HookScope,
  facts: Pick<PlaceFacts, 'launcher' | 'cwd' | 'workspace'>,
): RunAnswer {
  const { title, program, looksUp, steps } = adapters[platform]
  const { launcher, cwd, workspace } = facts
  if (launcher === 'missing') {
    const reason = 'the launcher that it calls is missing on this machine'
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
  const path = configurationPath(platform, runtime, scope, workspace)
  try {
    const text = readConfiguration(path) ?? ''
    const former = formerFile(runtime, platform, scope, workspace)
    if (former !== undefined) {
      const reason = `the file has the name of an earlier version; now it is ${basename(path)}`
      return { state: 'outdated', path: former, parts: 1, reason }
    }
    if (!text.includes(launcherName)) {
      if (registration.kind === 'entry' && text.trim() !== '') ownCommands(text, path)
      return { state: 'absent', path }
    }
    const own = registration.kind === 'entry' ? ownCommands(text, path) : []
    const numbers = own.map((command) => Number(/ \d+\/(\d+)/.exec(command)?.[1] ?? 1))
    const parts = Math.max(1, ...numbers)
    // Unused parts do no harm.
    const wanted = planInstall(runtime, platform, scope, { largest, least: parts })
    if (wanted.after === text) return { state: 'installed', path, parts }
    const tooFew = `${wanted.parts} parts are needed for the largest skill, and ${parts} are registered`
    const reason = parts < wanted.parts ? tooFew : 'it is not as it would be installed now'
    return { state: 'outdated', path, parts, reason }
  } catch (error) {
    return { state: 'broken', path, reason: messageOf(error) }
  }
}

export interface HookProbe {
  ok: boolean
  durationMs: number
  /** The problem. */
  problem: string | undefined
}

/** Calls the launcher with a prompt that has no trigger, as the client would. */
export async function probeHook(
  runtime: Runtime,
  platform: Platform,
  file = launcherPath(runtime),
): Promise<HookProbe> {
  const input = JSON.stringify({
    session_id: 'skillrail-probe',
    cwd: runtime.cwd,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'skillrail probe of the hook',
  })
  // The environment of a client, without the variables of a run that may have started the probe.
  const variables = Object.entries({ ...runtime.env, SKILLRAIL_RUN_ID: undefined })
  const env = variables.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const started = runtime.elapsed()
  const { end, stderr } = await runProcess({
    file,
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

/**
 * Whether the hook of each client is registered and will run; `probe` calls it as each client
 * would.
 */
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
  const ofLauncher: Check = {
    name: 'hook launcher',
    status: works ? 'ok' : 'warning',
    found,
    advice,
  }
  const checks: Check[] = [
    // A package has a launcher of its own.
    ...(registered.some(isRegistered) ? [ofLauncher] : []),
    ...registered.map(checkPlatform),
  ]
  for (const client of probe ? registered : []) {
    const { platform, title } = client
    const own = isRegistered(client) ? undefined : client.package?.path
    const file = own === undefined ? launcherPath(runtime) : join(own, launcherName)
    const { ok, problem: wrong, durationMs } = await probeHook(runtime, platform, file)
    const answer = wrong ?? `answered in ${durationMs} ms`
    // The hook works, but the client does not call it.
    const [idle] = idleReasons(client)
    const found = idle === undefined ? answer : `${answer}; but ${idle}`
    const status = ok && idle === undefined ? 'ok' : 'warning'
    checks.push({ name: `${title} probe`, status, found })
  }
  return checks
}

/** Returns why no registered hook runs; empty if one may run. */
function idleReasons(status: PlatformStatus): string[] {
  const answers = runAnswers(status)
  const reasons = answers.flatMap((run) => (run.answer === 'no' ? [run.reason] : []))
  return reasons.length === answers.length ? reasons : []
}

/** Whether the client runs the hook, for each place that has it. */
export function runAnswers({
  runs,
  package: own,
}: Pick<PlatformStatus, 'runs' | 'package'>): RunAnswer[] {
  return [...Object.values(runs), own?.run].flatMap((run) => run ?? [])
}

/** The advice for {@link isTwice}. */
export const twiceText =
  'the hook is in the settings and in the package; one of them is enough, and each reference still comes once'

function checkPlatform(status: PlatformStatus): Check {
  const { title, user, project, steps, package: own, disabledPackage } = status
  const places = [user, project].filter(({ state }) => state !== 'absent')
  const isBad = places.some(({ state }) => state !== 'installed')
  const idle = idleReasons(status)
  const found = [
    ...places.map((place) => ('reason' in place ? `${place.path}: ${place.reason}` : place.path)),
    ...(own ? [`package ${packageLine(own)}: ${own.path}`] : []),
    ...(disabledPackage ? [`package ${packageLine(disabledPackage)} is disabled`] : []),
    ...(isTwice(status) ? [twiceText] : []),
  ]
  return {
    name: `${title} hook`,
    status:
      isBad || idle.length > 0 || isTwice(status) || own?.update !== undefined ? 'warning' : 'ok',
    found: [...found, ...new Set(idle)].join('; '),
    advice: isBad ? 'skillrail hooks install fixes it.' : steps.join(' ') || undefined,
  }
}
