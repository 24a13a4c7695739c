import { dirname, relative } from 'node:path'
import { linesAgain, openProject } from '#project/chains'
import { type ListedRail, listedRail, railText } from '#chain/listed-run'
import { readResult } from '#chain/run-chain'
import { firstFailed } from '#chain/timeline'
import type { RunStatus } from '#chain/engine'
import type { RunJournal } from '#chain/run-journal'
import type { RunStore } from '#chain/run-store'
import { statusOfRun } from '#chain/step-result'
import type { Check, Context } from '#core/command'
import { SkillrailError } from '#core/errors'
import { findWorkspace } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { amount, shellWord } from '#core/text'
import {
  installedPlatforms,
  isTwice,
  packageLine,
  platformStatuses,
  type PlatformStatus,
  runAnswers,
  twiceText,
} from '#hooks/status'
import { discoverOptionsFrom, discoverSkills, trustPolicy } from '#library/discover'
import type { Discovery, SkillInfo } from '#library/model'
import { guardsHere, isEnforced } from '#project/guards-here'
import { skillProblems } from '#project/verdicts'
import { listedRails } from '#rail/listed-rails'
import { serverConfiguration } from '#tools/project-tools'
import { serverRows, type ServerRow } from '#tools/server/server-rows'
import { lockReadOnce } from '#trust/lock'
import type { TrustVerdict } from '#trust/model'
import { confirmTrust } from '#trust/skill-trust'
import { type TrustReason, trustReasons } from '#trust/model'
import { beginningOf, nextLines } from './run-answer.ts'

export interface Overview {
  workspace: string
  parts: OverviewPart[]
}

export interface OverviewPart {
  name: 'skills' | 'clients' | 'runs' | 'servers'
  total: number
  /** Such as `8 skills, 1 invalid`. */
  summary: string
  entries: readonly OverviewEntry[]
}

/** A fact that a user may want to know or fix. An entry with status `problem` sets exit code 1. */
export interface OverviewEntry {
  name: string
  status: Check['status']
  state: string
  about: string
  /** A command for the terminal. */
  fix?: string | undefined
  /** The path of a skill, or the ID of a run. */
  key?: string | undefined
}

/** Returns the state of this project and what a user should attend to. Reads files; starts nothing. */
export async function projectOverview(context: Context): Promise<Overview> {
  const { runtime } = context
  const discovery = discoverSkills(discoverOptionsFrom(runtime, context.settings))
  return {
    workspace: findWorkspace(runtime.cwd, runtime),
    parts: [
      await skillPart(discovery, context),
      clientPart(discovery.skills, runtime),
      await runPart(context),
      await serverPart(context),
    ],
  }
}

async function skillPart(discovery: Discovery, context: Context): Promise<OverviewPart> {
  const { runtime } = context
  const { skills, conflicts, broken } = discovery
  const problems = await skillProblems([...skills, ...conflicts], runtime)
  const errors = new Map(problems.errors)
  for (const { path, diagnostics } of broken) errors.set(path, diagnostics[0]?.message ?? '')
  const all = [...skills, ...conflicts, ...broken]
  const invalid = all.flatMap((skill) => {
    const error = errors.get(skill.path)
    return error === undefined ? [] : [invalidEntry(skill, error, runtime)]
  })
  const trustOf = trustNow(context)
  const refused = skills
    .map((info) => ({ name: info.name, ...trustOf(info) }))
    .filter(({ level }) => level !== 'trusted')
  const guards = guardEntries(context)
  const idle = skills.flatMap((skill) => {
    const reason = problems.idle.get(skill.path)
    return reason === undefined ? [] : [idleEntry(skill, reason, runtime)]
  })
  const others = [...conflicts.map(conflictEntry), ...trustEntries(refused)]
  const entries = [...invalid, ...guards, ...idle, ...others]
  const counts = { invalid: invalid.length, 'not trusted': refused.length }
  return partOf('skills', 'skill', all.length, counts, entries)
}

/** The guards that should always apply here and do not. */
function guardEntries(context: Context): OverviewEntry[] {
  const { wanted, chains, enforcement } = guardsHere(context)
  const unaccepted = wanted.map(({ chain, calls, isOwn }): OverviewEntry => {
    const who = isOwn ? 'your chain' : 'this project'
    const about = `${who} wants to deny ${calls.join(' and ')}, which is not accepted`
    return { name: chain, status: 'problem', state: 'guards', about, fix: 'skillrail trust' }
  })
  const idle = isEnforced(enforcement) ? [] : chains
  return [
    ...unaccepted,
    ...idle.map(({ name, calls }): OverviewEntry => {
      const about = `${calls.join(' and ')}: declared, enforced by no client here`
      return { name, status: 'problem', state: 'guards', about, fix: 'skillrail hooks status' }
    }),
  ]
}

/** Returns a function that compares a skill's files with the accepted ones and returns its trust. */
export function trustNow({ runtime, settings }: Context): (info: SkillInfo) => TrustVerdict {
  const { policy } = trustPolicy(discoverOptionsFrom(runtime, settings))
  const lockOf = lockReadOnce(policy.workspace)
  return (info: SkillInfo): TrustVerdict => confirmTrust(info, policy, lockOf)
}

/** Makes a part with a summary such as `8 skills, 1 invalid`. */
function partOf(
  name: OverviewPart['name'],
  noun: string,
  total: number,
  counts: Readonly<Record<string, number>>,
  entries: readonly OverviewEntry[],
): OverviewPart {
  const present = Object.entries(counts).filter(([, number]) => number > 0)
  const words = present.map(([what, number]) => `${number} ${what}`)
  return { name, total, summary: [amount(total, noun), ...words].join(', '), entries }
}

function invalidEntry(
  { name, path, scope }: Pick<SkillInfo, 'name' | 'path' | 'scope'>,
  error: string,
  { cwd }: Runtime,
): OverviewEntry {
  return {
    name,
    // The project is not responsible for a skill of the user.
    status: scope === 'project' ? 'problem' : 'warning',
    state: 'invalid',
    about: error.replaceAll(`${cwd}/`, ''),
    fix: validationOf(path, cwd),
    key: path,
  }
}

function idleEntry(
  { name, path }: Pick<SkillInfo, 'name' | 'path'>,
  reason: string,
  { cwd }: Runtime,
): OverviewEntry {
  const fix = validationOf(path, cwd)
  return { name, status: 'warning', state: 'trigger never fires', about: reason, fix, key: path }
}

function validationOf(path: string, cwd: string): string {
  const below = relative(cwd, dirname(path))
  const place = below === '' || below.startsWith('..') ? dirname(path) : below
  return `skillrail validate ${shellWord(place)}`
}

function conflictEntry({ name, path: key }: SkillInfo): OverviewEntry {
  const about = 'another skill here has this name, so neither is used'
  return { name, status: 'warning', state: 'conflict', about, fix: 'skillrail list --all', key }
}

/** One entry for each reason, because one command allows all skills with the same reason. */
function trustEntries(refused: readonly { name: string; code: TrustReason }[]): OverviewEntry[] {
  return [...Map.groupBy(refused, ({ code }) => code)].map(([code, group]) => {
    const names = group.map(({ name }) => name)
    const { reason } = trustReasons[code]
    const isOne = names.length === 1
    return {
      name: isOne ? names.join('') : amount(names.length, 'skill'),
      status: 'warning',
      state: 'not trusted',
      about: isOne ? reason : `${reason}: ${beginningOf(names.join(', '), longestAbout).text}`,
      fix: trustCommands[code],
    }
  })
}

const trustCommands: Partial<Record<TrustReason, string>> = {
  'workspace-not-accepted': 'skillrail trust',
  'workspace-changed': 'skillrail trust',
  'workspace-added': 'skillrail trust',
  'lock-drift': 'skillrail trust --lock --check',
  'lock-unreadable': 'skillrail trust --lock --check',
}

function clientPart(skills: readonly SkillInfo[], runtime: Runtime): OverviewPart {
  const entries = platformStatuses(runtime, installedPlatforms(runtime)).map((status) => {
    const read = skills.filter((info) => info.clients.includes(status.platform))
    const reads =
      skills.length === 0
        ? 'there are no skills here'
        : `reads ${read.length} of ${amount(skills.length, 'skill')} by itself`
    return { name: status.title, ...hookEntry(status, reads) }
  })
  const without = entries.filter(({ status }) => status !== 'ok').length
  const counts = { 'without a working hook': without }
  return partOf('clients', 'client', entries.length, counts, withoutHookAtOnce(entries))
}

/** One command installs the hook in every client that was found, so several without it are one entry. */
function withoutHookAtOnce(entries: readonly OverviewEntry[]): OverviewEntry[] {
  const without = entries.filter(({ state }) => state === noHook)
  const others = entries.filter(({ state }) => state !== noHook)
  if (without.length < 2) return [...without, ...others]
  const about = without.map(({ name }) => name).join(', ')
  const name = amount(without.length, 'client')
  const fix = 'skillrail hooks install'
  return [{ name, status: 'information', state: noHook, about, fix }, ...others]
}

const noHook = 'no hook'

function hookEntry(status: PlatformStatus, reads: string): Omit<OverviewEntry, 'name'> {
  const { platform, user, project, package: own, disabledPackage } = status
  const fix = `skillrail hooks install ${platform}`
  const places = [user, project].filter(({ state }) => state !== 'absent')
  if (places.length === 0 && !own) {
    const about = disabledPackage
      ? `the package ${packageLine(disabledPackage)} is disabled; ${reads}`
      : reads
    return { status: 'information', state: noHook, about, fix }
  }
  const reason = places.flatMap((place) => ('reason' in place ? [place.reason] : []))[0]
  if (reason !== undefined) return { status: 'warning', state: 'hook broken', about: reason, fix }
  const answers = runAnswers(status)
  const idle = answers.flatMap((run) => (run.answer === 'no' ? [run.reason] : []))
  const details = `skillrail hooks status ${platform}`
  if (idle.length > 0 && idle.length === answers.length) {
    return { status: 'warning', state: 'hook idle', about: idle.join('; '), fix: details }
  }
  if (isTwice(status)) {
    const fix = `skillrail hooks uninstall ${platform}`
    return { status: 'warning', state: 'hook twice', about: twiceText, fix }
  }
  if (own === undefined) {
    return { status: 'ok', state: 'hook', about: `${reads}, gets references of all from the hook` }
  }
  if (own.update !== undefined) {
    const about = `the package ${packageLine(own)} is older than this program`
    return { status: 'warning', state: 'package outdated', about, fix: own.update }
  }
  const about = `${reads}, gets references of all from the package ${packageLine(own)}`
  return { status: 'ok', state: 'package', about }
}

const newestRuns = 100

/** Runs that wait for a user, and for each skill the newest run if it failed. */
async function runPart(context: Context): Promise<OverviewPart> {
  const { store, workspace } = openProject(context)
  const rails = listedRails(workspace, context.runtime)
  const ids = store.ids()
  const seen = new Set<string>()
  const entries: OverviewEntry[] = []
  for (const runId of ids.slice(0, newestRuns)) {
    const journal = readJournal(store, runId)
    if (!journal || journal.run.imported) continue
    const status = statusOfRun(journal, journal.path)
    const { skill } = journal.run
    const isNewest = !seen.has(skill)
    if (status !== 'running') seen.add(skill)
    if (status === 'success' || (!isNewest && status !== 'waiting')) continue
    const rail = listedRail(journal, rails.get(runId))
    entries.push(await runEntry(context, journal, { status, rail }))
  }
  const having = (...states: readonly string[]) =>
    entries.filter(({ state }) => states.includes(state)).length
  const counts = {
    running: having('running'),
    waiting: having('waiting'),
    failed: having('failure', 'critical'),
    interrupted: having('interrupted'),
  }
  return partOf('runs', 'run', ids.length, counts, entries)
}

/** Undefined if it cannot be read; `runs list` reports why. */
function readJournal(store: RunStore, runId: string): RunJournal | undefined {
  try {
    return store.read(runId)
  } catch (error) {
    if (error instanceof SkillrailError) return undefined
    throw error
  }
}

async function runEntry(
  context: Context,
  journal: RunJournal,
  { status, rail }: { status: RunStatus | 'running'; rail: ListedRail | undefined },
): Promise<OverviewEntry> {
  const result = await readResult(journal, context.runtime)
  const { settings } = context
  const next = nextLines({ journal, result, status, rail, line: linesAgain(context), settings })
  const failed = firstFailed(result)
  const why = failed?.errors[0]?.message ?? failed?.result ?? ''
  const open = rail?.waitsFor === undefined ? undefined : railText(rail)
  const about = open ?? (failed ? `${failed.step}: ${why}` : (next[0]?.what ?? ''))
  return {
    name: journal.run.skill,
    status: runStatuses[status] ?? 'problem',
    state: status,
    about: beginningOf(about, longestAbout).text,
    fix: next[0]?.line,
    key: journal.run.runId,
  }
}

const longestAbout = 200

const runStatuses: Readonly<Record<string, Check['status']>> = {
  running: 'information',
  cancelled: 'information',
  waiting: 'warning',
  interrupted: 'warning',
}

async function serverPart(context: Context): Promise<OverviewPart> {
  const { servers } = serverConfiguration(context)
  const rows = servers.length === 0 ? [] : await serverRows(context, servers)
  const entries = rows.flatMap(serverEntry)
  const failing = entries.filter(({ status }) => status === 'problem').length
  return partOf('servers', 'MCP server', rows.length, { 'failed to start': failing }, entries)
}

function serverEntry({ name, state, message = '', path }: ServerRow): OverviewEntry[] {
  const advice = serverStates[state]
  if (!advice) return []
  return [{ name, state, about: message === '' ? `configured in ${path}` : message, ...advice }]
}

/** States that a user can change. */
const serverStates: Readonly<Record<string, Pick<OverviewEntry, 'status' | 'fix'>>> = {
  failed: { status: 'problem', fix: 'skillrail tools servers' },
  failing: { status: 'problem', fix: 'skillrail tools servers' },
  unusable: { status: 'warning', fix: 'skillrail tools servers' },
  'not trusted': { status: 'warning', fix: 'skillrail trust' },
}
