import { setTimeout as sleep } from 'node:timers/promises'
import { option, type OptionSpecs } from '../../core/command.ts'
import { pointless, wrongUse } from '../../core/errors.ts'
import { cancelRun } from '../decisions.ts'
import type { RunResult } from '../engine.ts'
import { RunBusyError, RunStateError } from '../errors.ts'
import type { Plan } from '../plan-model.ts'
import type { ServerAddress } from '../restate/client.ts'
import {
  type NewRun,
  planChanged,
  refuseImported,
  resumeRun,
  type Resumption,
  type RunSetup,
  startRun,
} from '../run-chain.ts'
import { isOpen, type RunJournal } from '../run-journal.ts'
import type { RunStore } from '../run-store.ts'
import {
  type ChainProject,
  type GrantOptions,
  openProject,
  planKept,
  type RunContext,
  usablePlan,
} from './project.ts'

export const engineOptions = {
  engine: option.choice(
    '--engine <name>',
    'journal: on this machine; restate: by workers of a server',
    {
      choices: ['journal', 'restate'],
    },
  ),
  url: option.text('--url <url>', 'the ingress of the Restate server, if not from the settings'),
  adminUrl: option.text('--admin-url <url>', 'the admin interface, if not from the settings'),
} as const satisfies OptionSpecs

export interface EngineChoice {
  /** `restate`: workers execute the run; default: this machine does. */
  engine?: 'journal' | 'restate' | undefined
  url?: string | undefined
  adminUrl?: string | undefined
}

export async function resumeOn(
  { context }: ChainProject,
  journal: RunJournal,
  resumption: Resumption,
  setup: RunSetup,
): Promise<RunResult> {
  const { server } = journal.run
  if (server === undefined) return await resumeRun(resumption, setup)
  const { resumeServerRun } = await import('../restate/remote-run.ts')
  return await resumeServerRun(resumption, setup, serverAddress(context, server))
}

export async function cancelOn(project: ChainProject, runId: string): Promise<void> {
  const { context, store } = project
  const { journal } = await upToDate(project, runId)
  context.diagnose(journal.diagnostics)
  const { server } = journal.run
  if (server === undefined || !isOpen(journal)) {
    return await cancelRun(store, runId, context.runtime)
  }
  const { cancelServerRun } = await import('../restate/server-runs.ts')
  await cancelServerRun(journal, serverAddress(context, server))
  for (let waited = 0; waited < cancelPatienceMs; waited += 100) {
    if (!isOpen((await upToDate(project, runId)).journal)) return
    await sleep(100)
  }
  throw new RunBusyError({
    code: 'run-busy',
    message: `the run ${runId} was told to end, and its steps have not ended yet`,
    hint: `${project.line('runs show', runId)} says when they have.`,
  })
}

const cancelPatienceMs = 10_000

export async function readRuns(
  project: ChainProject,
): Promise<ReturnType<RunStore['list']> & { standings: ReadonlyMap<string, string> }> {
  const list = project.store.list()
  const standings = await standingsOf(project, list.runs)
  return {
    ...(list.runs.every(({ run }) => run.server === undefined) ? list : project.store.list()),
    standings,
  }
}

export async function upToDate(
  project: ChainProject,
  runId: string,
): Promise<{ journal: RunJournal; standing: string | undefined }> {
  const journal = project.store.read(runId)
  const standing = (await standingsOf(project, [journal])).get(runId)
  return { journal: standing === undefined ? project.store.read(runId) : journal, standing }
}

/** Brings journals of runs on servers up to date; returns how those stand that have no result yet. */
async function standingsOf(
  { context, store }: ChainProject,
  journals: readonly RunJournal[],
): Promise<ReadonlyMap<string, string>> {
  const open = journals.filter(isOpen)
  if (open.length === 0) return new Map()
  const { syncServerRuns } = await import('../restate/server-runs.ts')
  return await syncServerRuns(store, open, context.settings.restate.token || undefined)
}

/**
 * The run that a user names, with what its server did meanwhile. Problems with its journal are
 * printed as diagnostics. Throws {@link RunBusyError} or {@link RunStateError} where its server has not
 * finished it or does not answer.
 */
export async function openRun(
  context: RunContext,
  named = '',
  grants: GrantOptions = {},
): Promise<{ project: ChainProject; runId: string; journal: RunJournal }> {
  const project = openProject(context, grants)
  const runId = project.store.idOf(named)
  const { journal, standing } = await upToDate(project, runId)
  context.diagnose(journal.diagnostics)
  const { url = '' } = journal.run.server ?? {}
  if (standing === 'running') {
    throw new RunBusyError({
      code: 'run-busy',
      message: `the run ${runId} is being executed by the server at ${url}`,
      hint: `Wait for it, or end it: ${project.line('runs cancel', runId)}`,
    })
  }
  if (standing === 'unreachable') {
    throw new RunStateError({
      code: 'restate-away',
      message: `the server at ${url}, which is to execute the run ${runId}, does not answer`,
      hint: 'Start it, or wait until it can be reached: it keeps what it has done.',
    })
  }
  return { project, runId, journal }
}

/**
 * The plan of a run as it is now, to continue with it. A changed plan is refused before the user is
 * asked anything.
 */
export async function planToContinue(
  project: ChainProject,
  journal: RunJournal,
  command: 'resume' | 'approve',
  force = false,
): Promise<Plan> {
  refuseImported(journal)
  const { run, status } = journal
  const plan = await usablePlan(project, planKept(project, run))
  // A run that has ended is refused by the caller, as such.
  const hasEnded = status === 'failure' || status === 'critical'
  const change = hasEnded ? undefined : planChanged(journal, plan, command, project.line)
  if (change !== undefined && !force) throw change
  return plan
}

export function serverAddress(
  { settings }: Pick<RunContext, 'settings'>,
  options: Pick<EngineChoice, 'url' | 'adminUrl'> = {},
): ServerAddress {
  const { token, ...set } = settings.restate
  const url = checkedUrl(options.url ?? set.url)
  const adminUrl = checkedUrl(options.adminUrl ?? (set.adminUrl || url.href))
  if (options.adminUrl === undefined && set.adminUrl === '') adminUrl.port = '9070'
  return { url: url.href, adminUrl: adminUrl.href, token: token || undefined }
}

function checkedUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw wrongUse(`${text} is not an address of a server`, 'It looks like http://127.0.0.1:8080.')
}

/** @throws {UsageError} for an address that is not used. */
export function wantsServer({ engine, url, adminUrl }: EngineChoice): boolean {
  if (engine === 'restate') return true
  const hint = 'Add --engine restate; without it no server is used.'
  if (url !== undefined) throw pointless('--url', '--engine restate', hint)
  if (adminUrl !== undefined) throw pointless('--admin-url', '--engine restate', hint)
  return false
}

export async function startOn(
  { context }: ChainProject,
  choice: EngineChoice,
  run: NewRun,
  setup: RunSetup,
): Promise<RunResult> {
  if (!wantsServer(choice)) return await startRun(run, setup)
  const { startServerRun } = await import('../restate/remote-run.ts')
  return await startServerRun(run, setup, serverAddress(context, choice))
}
