import { existsSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { type Context, defineCommand, option, type Screen } from '#core/command'
import { contradiction, exitCode, SkillrailError, UsageError } from '#core/errors'
import { type Runtime, userDirectories } from '#core/runtime'
import { amount, didYouMean, linesText, safeLine, safeText, shellWord } from '#core/text'
import { unifiedDiff } from '#core/unified-diff'
import { adapters, isPlatform, launcherName, type Platform, platforms } from '#hooks/adapters'
import { wayToRead } from '#rail/new-rail'
import { refuseWhileGuarded } from '#rail/refuse'
import {
  type FileChange,
  installHook,
  type ProgramChange,
  uninstallHook,
  uninstallProgram,
} from '#hooks/install'
import { launcherDirectory } from '#hooks/registration'
import {
  type ChainStart,
  chainStarts,
  type HooksStatus,
  hooksStatus,
  installedPlatforms,
  isThere,
  isTwice,
  packageLine,
  type PlatformStatus,
  railLine,
  twiceText,
  runAnswers,
  startLine,
  type Registered,
} from '#hooks/status'
import {
  enforcementText,
  type GuardsHere,
  guardsHere,
  isEnforced,
  wantedText,
} from '#project/guards-here'
import { fileProblem } from '#hooks/switches'
import { type HookTrace, readTraces, type TracedRail, type TraceReading } from '#hooks/trace'

interface ChangesResult {
  changes: readonly (Omit<FileChange, 'before'> & {
    changed: boolean
    /** The change to the file, made or planned; `none` if the file is up to date. */
    action: 'made' | 'changed' | 'removed' | 'none'
    diff: string
  })[]
  errors: readonly { platform: Platform; code: string; message: string }[]
  dryRun: boolean
  /** The program that all hooks call; after the removal of the user's own hooks. */
  program?: ProgramChange
  /** The folders of Skillrail that stay; after the removal of the user's own hooks. */
  kept?: readonly string[]
  /** What the user still has to do before a hook runs; after an installation. */
  steps?: readonly { platform: Platform; text: string }[]
  /** How the chains that run as rails here are called; after an installation. */
  chains?: readonly ChainStart[]
  /** The chains that a client cannot start, each in a sentence; after an installation. */
  unread?: readonly string[]
}

const changeOptions = {
  user: option.flag('--user', 'your own configuration, for every project (default)'),
  project: option.flag('--project', 'the configuration of this project'),
  dryRun: option.flag('--dry-run', 'show the changes and write nothing'),
}

export const install = defineCommand<ChangesResult>()({
  arguments: {
    '[client...]': `${platforms.join(', ')}; default: those found here`,
  },
  options: changeOptions,
  details:
    'Everything else in a file stays as it is; skillrail hooks uninstall puts back what was there.',
  examples: ['hooks install claude'],
  async run(context, values) {
    const named = values.arguments.map(clientNamed)
    const clients = named.length > 0 ? named : installedPlatforms(context.runtime)
    if (clients.length === 0) {
      const message = 'no agent client was found on this machine'
      const hint = `Name one: ${platforms.join(', ')}.`
      throw new UsageError({ code: 'client-missing', message, hint })
    }
    const result = await changeEach(context, clients, values, installHook)
    const chains = values.dryRun ? [] : chainStarts(context, result.changes)
    const steps = result.changes.flatMap(({ platform, scope }) => {
      const { steps: needed } = adapters[platform]
      return needed[scope] === undefined ? [] : { platform, text: needed[scope] }
    })
    return { ...result, steps, chains, unread: unreadLines(chains, context.runtime) }
  },
  exitCode: codeOf,
  render: changesText,
  notes({ changes, dryRun, steps = [], chains = [], unread = [] }) {
    const backups = changes.filter(({ backup }) => backup !== undefined)
    const others = changes.flatMap(({ platform }) => {
      const { title, note } = adapters[platform]
      return note === undefined ? [] : `${title}: ${note}`
    })
    return [
      ...steps.map(({ text }) => `To do: ${text}`),
      ...others,
      ...unread.map(safeLine),
      chains.some(({ isRead }) => isRead) && `Start a chain: ${startLine(chains)}`,
      backups.length > 0 && !dryRun && 'To restore your files: skillrail hooks uninstall',
    ]
  },
})

function unreadLines(starts: readonly ChainStart[], runtime: Runtime): string[] {
  const unread = starts.filter(({ isRead }) => !isRead)
  const folders = Map.groupBy(
    unread,
    ({ platform, directory }) => `${platform} ${dirname(directory)}`,
  )
  return [...folders.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const { platform, directory } = first
    const folder = dirname(directory)
    const fix = wayToRead(folder, platform, runtime)
    const names = [first, ...others].map(({ chain }) => chain).join(', ')
    const place = relative(runtime.cwd, folder)
    return `${adapters[platform].title} cannot start ${names}: it does not read ${place}${fix === undefined ? '' : `. So that it does: ${fix}`}`
  })
}

export const uninstall = defineCommand<ChangesResult>()({
  arguments: { '[client...]': 'clients to remove the hook from; default: all' },
  options: changeOptions,
  details: `A file that nobody else has changed is put back byte for byte. The program that all hooks call goes with your own hooks, unless a file that is known here still calls it; --project leaves it where it is.`,
  examples: ['hooks uninstall claude'],
  async run(context, values) {
    const named = values.arguments.map(clientNamed)
    if (!values.dryRun) refuseWhileGuarded(context, 'hooks uninstall')
    if (named.length > 0 || values.project) {
      return await changeEach(
        context,
        named.length === 0 ? platforms : named,
        values,
        uninstallHook,
      )
    }
    const { runtime } = context
    const path = launcherDirectory(runtime)
    const wasThere = existsSync(path)
    const result = await changeEach(context, platforms, values, uninstallHook)
    const { dryRun } = values
    const planned = result.changes.filter(({ changed }) => dryRun && changed)
    const without = planned.map((change) => change.path)
    const last = await uninstallProgram(runtime, { dryRun, without })
    // It went with the last hook of the user.
    const isGone = wasThere && last.action === 'none'
    const program = isGone ? { ...last, action: 'removed' as const } : last
    const kept = Object.values(userDirectories(runtime)).filter((folder) => existsSync(folder))
    return { ...result, program, kept }
  },
  exitCode: codeOf,
  render: changesText,
  notes({ program, kept = [], dryRun }) {
    const callers = program?.callers ?? []
    const folders = kept.map((folder) => shellWord(folder)).join(' ')
    return [
      program?.action === 'kept' &&
        `The program of the hook stays, because these call it: ${safeLine(callers.join(', '))}. In each project: skillrail hooks uninstall --project`,
      program?.action === 'removed' &&
        'Hooks of other projects do nothing from now on, and neither do their guards: skillrail hooks install brings the program back.',
      program?.action !== 'kept' &&
        folders !== '' &&
        !dryRun &&
        `What you trust, runs, logs, settings and caches stay. To remove them too: rm -r ${safeLine(folders)}`,
    ]
  },
})

async function changeEach(
  { runtime, note }: Context,
  clients: readonly Platform[],
  { user, project, dryRun }: { user: boolean; project: boolean; dryRun: boolean },
  change: typeof installHook,
): Promise<ChangesResult> {
  if (user && project) {
    throw contradiction('--user', '--project', 'Give one of them, or call the command twice.')
  }
  const scope = project ? 'project' : 'user'
  const changes: Change[] = []
  const errors: ChangesResult['errors'][number][] = []
  for (const platform of clients) {
    try {
      const done = await change(runtime, platform, { scope, dryRun })
      changes.push(described(done))
      const isInstalled = done.after?.includes(launcherName) === true
      const problem = isInstalled ? fileProblem(platform, done.after ?? '') : undefined
      if (problem !== undefined) {
        note(
          `${adapters[platform].title}: the hook will not run. ${problem}: ${safeLine(done.path)}`,
        )
      }
    } catch (error) {
      if (!(error instanceof SkillrailError)) throw error
      errors.push({ platform, code: error.code, message: error.message })
      note(`${adapters[platform].title}: ${error.message}`)
      if (error.hint !== undefined) note(`  ${error.hint}`)
    }
  }
  return { changes, errors, dryRun }
}

type Change = ChangesResult['changes'][number]

function described({ before, after, ...facts }: FileChange): Change {
  const changed = before !== after
  const action = after === undefined ? 'removed' : before === undefined ? 'made' : 'changed'
  const diff = unifiedDiff(facts.path, before ?? '', after ?? '')
  return { ...facts, changed, after, action: changed ? action : 'none', diff }
}

function changesText({ changes, dryRun, program }: ChangesResult, screen: Screen): string {
  const isRemoved = program?.action === 'removed'
  if (dryRun) {
    return linesText([
      ...changes.flatMap(({ platform, path, action, diff }) => {
        const { title } = adapters[platform]
        if (action === 'none') return `${title}: nothing to change: ${safeLine(path)}`
        return [`${title}: would be ${action}: ${safeLine(path)}`, safeText(diff)]
      }),
      isRemoved && `hook program: would be removed: ${safeLine(program.path)}`,
    ])
  }
  const rows = changes.map(({ platform, path, action }) => {
    const done = action === 'none' ? 'nothing to change' : action
    return [adapters[platform].title, done, safeLine(path)]
  })
  const ofProgram = isRemoved ? [['hook program', 'removed', safeLine(program.path)]] : []
  return screen.table([...rows, ...ofProgram])
}

function codeOf({ errors }: ChangesResult): 0 | 1 {
  return errors.length > 0 ? exitCode.failed : exitCode.done
}

/** The status, with what should be denied here without a rail. */
interface StatusResult extends HooksStatus {
  guards: GuardsHere
}

export const status = defineCommand<StatusResult>()({
  helpsToRepair: true,
  arguments: { '[client...]': 'clients to show; default: all' },
  options: {},
  details:
    'Ends with 1 when an installed hook is broken or outdated, does not run in this folder, or when nothing here enforces a guard that always applies.',
  examples: ['hooks status'],
  async run(context, { arguments: names }) {
    const { runtime } = context
    const clients = names.map(clientNamed)
    const all = await hooksStatus(runtime)
    const isWanted = (platform: Platform) => clients.length === 0 || clients.includes(platform)
    const guards = guardsHere(context)
    return { ...all, guards, platforms: all.platforms.filter((one) => isWanted(one.platform)) }
  },
  exitCode: (result) => (isWell(result) ? exitCode.done : exitCode.failed),
  render({ launcher, probe, platforms, guards }, screen) {
    const rows = platforms.map((client) => {
      const missing = client.missing.map((event) => eventNames[event]).join(', ')
      return [
        client.title,
        client.program === undefined ? 'not found' : 'found',
        `you: ${shortState(client.user)}`,
        `project: ${shortState(client.project)}`,
        packageState(client),
        isThere(client) && missing !== '' ? `without: ${missing}` : '',
      ]
    })
    const lines = [
      ...platforms.flatMap(platformLines),
      // The limits of every client would fill a page.
      ...(platforms.length === 1
        ? platforms.flatMap(({ limits }) => limits.map(({ text }) => text))
        : []),
      '',
      isOnlyPackaged(platforms)
        ? 'launcher  the package of the client has its own'
        : `launcher  ${launcher.state}  ${safeLine(launcher.path)}`,
    ]
    if (launcher.state === 'outdated')
      lines.push('          skillrail hooks install brings it up to date.')
    if (probe)
      lines.push(
        `one call  ${probe.durationMs} ms  ${safeLine(probe.problem ?? 'as it should be')}`,
      )
    return screen.table(rows) + linesText([...lines, ...guardLines(guards)])
  },
})

/** Whether clients call the hook from their packages alone, which use no shared launcher. */
function isOnlyPackaged(platforms: StatusResult['platforms']): boolean {
  const isRegistered = platforms.some(
    ({ user, project }) => user.state !== 'absent' || project.state !== 'absent',
  )
  return !isRegistered && platforms.some((client) => client.package !== undefined)
}

function guardLines({ chains, unreadable, wanted, enforcement }: GuardsHere): string[] {
  return [
    ...wanted.map((one) => `guards    ${safeLine(wantedText(one))}: skillrail trust`),
    ...chains.map(({ name, calls, isOwn }) => {
      const where = isOwn ? 'in every project' : 'in this project'
      return `guards    ${safeLine(calls.join(' and '))}, ${where}, except in ${safeLine(name)}: ${enforcementText(enforcement)}`
    }),
    ...(chains.length > 0 && enforcement.advice !== undefined
      ? [`          ${safeLine(enforcement.advice)}`]
      : []),
    ...unreadable.map(
      ({ path, reason }) =>
        `guards    commands and MCP tools are denied: ${safeLine(path)} cannot be read (${safeLine(reason)})`,
    ),
  ]
}

function isWell({ launcher, probe, platforms, guards }: StatusResult): boolean {
  if (guards.wanted.length > 0) return false
  if (guards.chains.length > 0 && !isEnforced(guards.enforcement)) return false
  const states = platforms.flatMap(({ user, project }) => [user.state, project.state])
  if (states.includes('broken') || states.includes('outdated')) return false
  const stuck = platforms.filter((one) => {
    const answers = runAnswers(one)
    const isIdle = answers.length > 0 && answers.every(({ answer }) => answer === 'no')
    return one.program !== undefined && isIdle
  })
  if (stuck.length > 0) return false
  return !states.includes('installed') || (launcher.state === 'current' && probe?.ok === true)
}

const eventNames = {
  before: 'denying tools',
  after: 'references with results',
  compact: 'compaction',
  subagent: 'subagents',
  stop: 'ends of turns',
} as const

function shortState(place: Registered): string {
  if (place.state !== 'installed') return place.state
  return place.parts === 1 ? 'installed' : `installed in ${place.parts} parts`
}

function packageState({ package: own, disabledPackage: disabled }: PlatformStatus): string {
  if (disabled) return 'package: disabled'
  if (!own) return ''
  return `package: ${own.version ?? 'installed'}${own.update === undefined ? '' : ', outdated'}`
}

function platformLines(status: PlatformStatus): string[] {
  const { title, platform, user, project, lastFired, rivals, steps, note } = status
  const { package: own, disabledPackage: disabled } = status
  const problems = [user, project].flatMap((place) =>
    'reason' in place ? [`${title}: ${safeLine(place.path)}: ${safeLine(place.reason)}`] : [],
  )
  const off = runAnswers(status).flatMap((run) => (run.answer === 'no' ? run.reason : []))
  const ofPackage = [
    own && `the package ${packageLine(own)} has the hook: ${safeLine(own.path)}`,
    disabled && `the package ${packageLine(disabled)} is disabled: ${safeLine(disabled.path)}`,
    isTwice(status) &&
      `${twiceText}. Remove one, for example: skillrail hooks uninstall ${platform}`,
  ].filter((text) => typeof text === 'string')
  const fired = lastFired === undefined ? [] : [`last fired ${lastFired}`]
  const others = rivals.map(
    (path) =>
      `${safeLine(path)} adds context to prompts too, and the client keeps one context only`,
  )
  const notes = [
    ...ofPackage,
    ...new Set(off),
    ...(isThere(status) ? [railLine(status)] : []),
    ...steps,
    ...(isThere(status) ? [...fired, ...others] : []),
    ...(isThere(status) && note !== undefined ? [note] : []),
  ]
  return [...problems, ...notes.map((text) => `${title}: ${text}`)]
}

export const log = defineCommand<TraceReading>()({
  helpsToRepair: true,
  options: {
    limit: option.integer('-n, --limit <number>', 'maximum number of newest prompts', {
      least: 1,
      most: 999_999,
      default: 20,
    }),
  },
  details: 'The log has only events that a trigger or a rail answered. Secrets are masked.',
  examples: ['hooks log -n 5'],
  async run(context, { limit }) {
    const found = readTraces(context.runtime, limit)
    const { unreadable, path } = found
    if (unreadable > 0) context.note(`${amount(unreadable, 'line')} of ${path} could not be read`)
    return found
  },
  render: ({ traces }, screen) =>
    traces.length === 0
      ? 'No trigger has fired yet.\n'
      : traces.map((trace) => traceText(trace, screen)).join(''),
})

function traceText(trace: HookTrace, { style }: Screen): string {
  const { at, platform, cwd, prompt, injected, withheld, durationMs, error, rail } = trace
  const file = ({ skill, path }: { skill: string; path: string }): string =>
    `${safeLine(skill)}/${safeLine(path)}`
  const lines = [
    `${at}  ${platform}  ${durationMs} ms  ${style('dim', safeLine(cwd))}`,
    `  ${safeLine(prompt)}`,
    ...injected.map((given) => `  + ${file(given)} (${given.characters} characters)`),
    ...withheld.map((held) => `  - ${file(held)}: ${safeLine(held.reason)}`),
    rail && `  ${railAnswers[rail.answer]}`,
    error !== undefined && `  ! ${safeLine(error)}`,
  ]
  return linesText(lines)
}

const railAnswers: Readonly<Record<TracedRail['answer'], string>> = {
  context: '+ text of the rail',
  start: '+ a chain started in place of the call',
  deny: '- the rail denied the call',
  ask: '? the rail let the client ask the user',
  block: '< the rail kept the agent working',
  tell: '> a line of the rail for the user',
}

export function clientNamed(name: string): Platform {
  if (isPlatform(name)) return name
  const message = `${name} is not a client; the clients are ${platforms.join(', ')}`
  throw new UsageError({
    code: 'client-unknown',
    message,
    hint: didYouMean(name, platforms) || undefined,
  })
}
