import { dirname, relative } from 'node:path'
import { linesAgain, openProject } from '../chain/commands/project.ts'
import { readResult } from '../chain/run-chain.ts'
import { firstFailed } from '../chain/timeline.ts'
import type { RunJournal } from '../chain/run-journal.ts'
import type { RunStore } from '../chain/run-store.ts'
import { statusOfRun } from '../chain/step-result.ts'
import type { Check } from '../core/check.ts'
import type { Context } from '../core/command.ts'
import { SkillrailError } from '../core/errors.ts'
import { findWorkspace } from '../core/read-files.ts'
import type { Runtime } from '../core/runtime.ts'
import { amount, shellWord } from '../core/text.ts'
import { installedPlatforms, platformStatuses, type PlatformStatus } from '../hooks/status.ts'
import { discoverOptionsFrom, discoverSkills } from '../library/discover.ts'
import type { SkillInfo } from '../library/model.ts'
import { invalidSkills } from '../skill/commands/verdicts.ts'
import { serverConfiguration } from '../tools/commands/project-tools.ts'
import { knownServers, type ServerRow } from '../tools/commands/server-rows.ts'
import { readTrustPolicy } from '../trust/decide.ts'
import { lockReadOnce } from '../trust/lock.ts'
import type { TrustPolicy, TrustReason } from '../trust/model.ts'
import { confirmTrust } from '../trust/skill-trust.ts'
import { beginningOf, nextLines } from './run-answer.ts'

export interface Overview {
  workspace: string
  parts: readonly OverviewPart[]
}

export interface OverviewPart {
  name: 'skills' | 'clients' | 'runs' | 'servers'
  total: number
  /** Such as `8 skills, 1 invalid`. */
  summary: string
  entries: readonly OverviewEntry[]
}

/** One thing that somebody may want to know or to fix; `problem` is what makes the exit code 1. */
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

type OverviewContext = Pick<
  Context,
  'runtime' | 'settings' | 'signal' | 'globals' | 'note' | 'diagnose' | 'emit'
>

/** What stands in this project, and what needs somebody. Reads files; starts nothing. */
export async function projectOverview(context: OverviewContext): Promise<Overview> {
  const workspace = findWorkspace(context.runtime.cwd, context.runtime)
  return {
    workspace,
    parts: [
      await skillPart(context, workspace),
      clientPart(context.runtime),
      await runPart(context),
      await serverPart(context),
    ],
  }
}

async function skillPart(context: OverviewContext, workspace: string): Promise<OverviewPart> {
  const { runtime, settings } = context
  const options = discoverOptionsFrom(runtime, settings)
  const { skills, conflicts, broken } = discoverSkills(options)
  const judged = [...skills, ...conflicts, ...broken]
  const errors = new Map(await invalidSkills([...skills, ...conflicts], runtime))
  for (const { path, diagnostics } of broken) errors.set(path, diagnostics[0]?.message ?? '')
  const invalid = judged.flatMap(({ name, path, scope }): OverviewEntry[] => {
    const about = errors.get(path)
    if (about === undefined) return []
    const status = scope === 'project' ? 'problem' : 'warning'
    const fix = `skillrail validate ${shellWord(shownPath(dirname(path), runtime))}`
    return [{ name, status, state: 'invalid', about, fix, key: path }]
  })
  const doubles = conflicts.map(({ name, path }): OverviewEntry => {
    const about = 'another skill here has this name, so neither is used'
    const fix = 'skillrail list --all'
    return { name, status: 'warning', state: 'conflict', about, fix, key: path }
  })
  const { policy } = readTrustPolicy(runtime, { ...options, workspace })
  const untrusted = trustEntries(skills, policy)
  const held = untrusted.reduce((sum, { count }) => sum + count, 0)
  return {
    name: 'skills',
    total: judged.length,
    summary: [
      amount(judged.length, 'skill'),
      ...(invalid.length > 0 ? [`${invalid.length} invalid`] : []),
      ...(held > 0 ? [`${held} not trusted`] : []),
    ].join(', '),
    entries: [...invalid, ...doubles, ...untrusted.map(({ entry }) => entry)],
  }
}

/** One entry for the skills of each reason, since one command allows all of them. */
function trustEntries(
  skills: readonly SkillInfo[],
  policy: TrustPolicy,
): { count: number; entry: OverviewEntry }[] {
  const lockOf = lockReadOnce(policy.workspace)
  const refused = skills.flatMap(({ name, ...info }) => {
    const { level, code, reason } = confirmTrust({ name, ...info }, policy, lockOf)
    return level === 'trusted' ? [] : [{ name, code, reason }]
  })
  return [...Map.groupBy(refused, ({ reason }) => reason)].map(([reason, group]) => {
    const [first] = group
    const names = group.map(({ name }) => name)
    const rest = names.length - mostNames
    const list = [...names.slice(0, mostNames), ...(rest > 0 ? [`and ${rest} more`] : [])]
    const entry: OverviewEntry = {
      name: names.length === 1 ? names.join('') : amount(names.length, 'skill'),
      status: 'warning',
      state: 'not trusted',
      about: names.length === 1 ? reason : `${reason}: ${list.join(', ')}`,
      fix: first && trustCommands[first.code],
    }
    return { count: names.length, entry }
  })
}

const mostNames = 5

const trustCommands: Partial<Record<TrustReason, string>> = {
  'workspace-not-accepted': 'skillrail trust',
  'workspace-changed': 'skillrail trust',
  'workspace-added': 'skillrail trust',
  'lock-drift': 'skillrail trust --lock --check',
  'lock-unreadable': 'skillrail trust --lock --check',
}

/** Only clients that seem to be installed. */
function clientPart(runtime: Runtime): OverviewPart {
  const entries = platformStatuses(runtime, installedPlatforms(runtime)).map(clientEntry)
  const without = entries.filter(({ status }) => status !== 'ok').length
  return {
    name: 'clients',
    total: entries.length,
    summary: [
      amount(entries.length, 'client'),
      ...(without > 0 ? [`${without} without a working hook`] : []),
    ].join(', '),
    entries,
  }
}

function clientEntry({ platform, title, user, project, runs }: PlatformStatus): OverviewEntry {
  const fix = `skillrail hooks install ${platform}`
  const places = [user, project].filter(({ state }) => state !== 'absent')
  if (places.length === 0) {
    const about = 'it gets references only when the model reads them'
    return { name: title, status: 'information', state: 'no hook', about, fix }
  }
  const wrong = places.find((place) => 'reason' in place)
  if (wrong !== undefined && 'reason' in wrong) {
    const about = `${wrong.path}: ${wrong.reason}`
    return { name: title, status: 'warning', state: `hook ${wrong.state}`, about, fix }
  }
  const answers = [runs.user, runs.project].flatMap((run) => run ?? [])
  const [first] = answers
  if (first !== undefined && 'step' in first && answers.every(({ answer }) => answer === 'no')) {
    return { name: title, status: 'warning', state: 'hook idle', about: first.reason, fix }
  }
  const about = places.map(({ path }) => path).join(', ')
  return { name: title, status: 'ok', state: 'hook installed', about }
}

/** How many of the newest runs are read. */
const newestRuns = 100

/** Runs that wait for somebody, and the newest run of a skill where it failed. */
async function runPart(context: OverviewContext): Promise<OverviewPart> {
  const { store } = openProject(context)
  const ids = store.ids()
  const seen = new Set<string>()
  const entries: OverviewEntry[] = []
  for (const runId of ids.slice(0, newestRuns)) {
    const journal = readJournal(store, runId)
    if (journal === undefined || journal.run.imported !== undefined) continue
    const status = statusOfRun(journal, journal.path)
    const { skill } = journal.run
    const isNewest = !seen.has(skill)
    if (status !== 'running') seen.add(skill)
    if (status === 'success' || (!isNewest && status !== 'waiting')) continue
    entries.push(await runEntry(context, journal, status))
  }
  const having = (states: readonly string[], text: string): string[] => {
    const many = entries.filter(({ state }) => states.includes(state)).length
    return many === 0 ? [] : [`${many} ${text}`]
  }
  return {
    name: 'runs',
    total: ids.length,
    summary: [
      amount(ids.length, 'run'),
      ...having(['running'], 'running'),
      ...having(['waiting'], 'waiting'),
      ...having(['failure', 'critical'], 'failed'),
      ...having(['interrupted'], 'interrupted'),
    ].join(', '),
    entries,
  }
}

/** Undefined where it cannot be read: `runs list` says why. */
function readJournal(store: RunStore, runId: string): RunJournal | undefined {
  try {
    return store.read(runId)
  } catch (error) {
    if (error instanceof SkillrailError) return undefined
    throw error
  }
}

async function runEntry(
  context: OverviewContext,
  journal: RunJournal,
  status: ReturnType<typeof statusOfRun>,
): Promise<OverviewEntry> {
  const result = await readResult(journal, context.runtime)
  const next = nextLines({ journal, result, status, line: linesAgain(context) })
  const failed = firstFailed(result)
  const why = failed?.errors[0]?.message ?? failed?.result ?? ''
  const about = failed === undefined ? (next[0]?.what ?? '') : `${failed.step}: ${why}`
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

async function serverPart(context: OverviewContext): Promise<OverviewPart> {
  const { servers } = serverConfiguration(context)
  const rows = servers.length === 0 ? [] : await knownServers(context, servers)
  const entries = rows.flatMap(serverEntry)
  const failing = entries.filter(({ status }) => status === 'problem').length
  return {
    name: 'servers',
    total: rows.length,
    summary: [
      amount(rows.length, 'MCP server'),
      ...(failing > 0 ? [`${failing} failed to start`] : []),
    ].join(', '),
    entries,
  }
}

function serverEntry({ name, state, message = '', path }: ServerRow): OverviewEntry[] {
  const found = serverStates[state]
  if (found === undefined) return []
  return [{ name, state, about: message === '' ? `configured in ${path}` : message, ...found }]
}

/** States that somebody can do something about. */
const serverStates: Readonly<Record<string, Pick<OverviewEntry, 'status' | 'fix'>>> = {
  failed: { status: 'problem', fix: 'skillrail tools servers' },
  failing: { status: 'problem', fix: 'skillrail tools servers' },
  unusable: { status: 'warning', fix: 'skillrail tools servers' },
  'not trusted': { status: 'warning', fix: 'skillrail trust' },
}

function shownPath(path: string, { cwd }: Runtime): string {
  const below = relative(cwd, path)
  return below === '' || below.startsWith('..') ? path : below
}
