import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { UsageError } from '../base/index.ts'
import {
  cancelRun,
  type NewRun,
  RunBusyError,
  type Resumption,
  resumeRun,
  type RunJournal,
  type RunResult,
  type RunStore,
  type RunWorld,
  startRun,
} from '../chain/index.ts'
import type { ChainProject } from './_chain-project.ts'
import { linesAgain } from './_lines-again.ts'
import { pointless } from '../base/errors.ts'

// Restate's part is loaded only for a run that is on a server.

/** Where a run is executed. */
export interface EngineOptions {
  engine?: string | undefined
  url?: string | undefined
  adminUrl?: string | undefined
}

export function declareEngine(program: Command): void {
  program
    .option('--engine <name>', 'journal: on this machine; restate: by workers of a server')
    .option('--url <url>', 'the Restate server: its ingress, if not that of the settings')
    .option('--admin-url <url>', 'its admin interface, if not that of the settings')
}

/** Starts a run here, or on the server that the options name. */
export async function startOn(
  { context }: ChainProject,
  options: EngineOptions,
  run: NewRun,
  world: RunWorld,
): Promise<RunResult> {
  if (!wantsServer(options)) return await startRun(run, world)
  const { serverAddress } = await import('./_restate-address.ts')
  const { startServerRun } = await import('../chain/restate/index.ts')
  return await startServerRun(run, world, serverAddress(context, options))
}

/** The options that put another run where this one was. */
export function engineOf({ run }: RunJournal): EngineOptions {
  const { server } = run
  return server === undefined
    ? {}
    : { engine: server.engine, url: server.url, adminUrl: server.adminUrl }
}

/** Goes on with a run where it was executed. */
export async function resumeOn(
  project: ChainProject,
  journal: RunJournal,
  resumption: Resumption,
  world: RunWorld,
): Promise<RunResult> {
  if (journal.run.server === undefined) return await resumeRun(resumption, world)
  const { serverAddress } = await import('./_restate-address.ts')
  const { resumeServerRun } = await import('../chain/restate/index.ts')
  const address = serverAddress(project.context, engineOf(journal))
  return await resumeServerRun(resumption, world, address)
}

/** Cancels a run where it is executed. */
export async function cancelOn(project: ChainProject, runId: string): Promise<void> {
  const { context, store } = project
  const { journal } = await upToDate(project, runId)
  context.output.diagnostics(journal.diagnostics)
  if (journal.run.server === undefined || !isOpen(journal)) {
    return await cancelRun(store, runId, context.runtime)
  }
  const { serverAddress } = await import('./_restate-address.ts')
  const { cancelServerRun } = await import('../chain/restate/index.ts')
  await cancelServerRun(journal, serverAddress(context, engineOf(journal)))
  for (let waited = 0; waited < cancelPatienceMs; waited += 100) {
    if (!isOpen((await upToDate(project, runId)).journal)) return
    await sleep(100)
  }
  throw new RunBusyError({
    code: 'run-busy',
    message: `the run ${runId} was told to end, and its steps have not ended yet`,
    hint: `${linesAgain(context)('runs show', runId)} says when they have.`,
  })
}

/** 2 s until its processes are killed, and what is said over the network. */
const cancelPatienceMs = 10_000

/** Every run, with what the servers say of those that are theirs. */
export async function listRuns(
  project: ChainProject,
): Promise<ReturnType<RunStore['list']> & { standings: ReadonlyMap<string, string> }> {
  const list = project.store.list()
  const standings = await standingsOf(project, list.runs)
  return {
    ...(list.runs.every(({ run }) => run.server === undefined) ? list : project.store.list()),
    standings,
  }
}

/** One run; `standing` is what its server says where there is no result yet. */
export async function upToDate(
  project: ChainProject,
  runId: string,
): Promise<{ journal: RunJournal; standing: string | undefined }> {
  const journal = project.store.read(runId)
  const standing = (await standingsOf(project, [journal])).get(runId)
  return { journal: standing === undefined ? project.store.read(runId) : journal, standing }
}

/**
 * Brings the journals of runs on servers up to date.
 * @returns how those stand that have no result yet, by run.
 */
async function standingsOf(
  { context, store }: ChainProject,
  journals: readonly RunJournal[],
): Promise<ReadonlyMap<string, string>> {
  const open = journals.filter((journal) => journal.run.server !== undefined && isOpen(journal))
  if (open.length === 0) return new Map()
  const { syncServerRuns } = await import('../chain/restate/index.ts')
  return await syncServerRuns(store, open, context.settings.restate.token || undefined)
}

/** Whether a server may know more of the run than its journal says. */
function isOpen({ status }: RunJournal): boolean {
  return status === undefined || status === 'waiting'
}

/** @throws {UsageError} for an engine that there is not, and for an address that nobody asks. */
export function wantsServer({ engine = 'journal', url, adminUrl }: EngineOptions): boolean {
  if (engine === 'restate') return true
  if (engine !== 'journal') {
    throw new UsageError({
      code: 'wrong-use',
      message: `--engine ${engine}: there are two engines, journal and restate`,
    })
  }
  const hint = 'Add --engine restate; without it no server is asked.'
  if (url !== undefined) throw pointless('--url', '--engine restate', hint)
  if (adminUrl !== undefined) throw pointless('--admin-url', '--engine restate', hint)
  return false
}
