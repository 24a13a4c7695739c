import { RunBusyError, RunStateError } from '#chain/errors'
import { isOpen, type RunJournal } from '#chain/run-journal'
import type { StoredRuns } from '#chain/run-store'
import { type ChainProject, type GrantOptions, openProject, type RunContext } from './chains.ts'

/** A run that a user named. */
export interface StoredRun {
  project: ChainProject
  runId: string
  journal: RunJournal
  /** How the run is doing on its server, if its journal does not say so. */
  standing: string | undefined
}

/** The runs of a project. */
export interface ListedRuns extends StoredRuns {
  /** As `standing` of {@link StoredRun}, by run. */
  standings: ReadonlyMap<string, string>
}

/** Reads every run, with what servers have done meanwhile. */
export async function readRuns(project: ChainProject): Promise<ListedRuns> {
  const list = project.store.list()
  const standings = await standingsOf(project, list.runs)
  return {
    ...(list.runs.every(({ run }) => !run.server) ? list : project.store.list()),
    standings,
  }
}

/** Reads a run, with what its server has done meanwhile. */
export async function readUpToDate(
  project: Pick<ChainProject, 'context' | 'store'>,
  runId: string,
): Promise<Pick<StoredRun, 'journal' | 'standing'>> {
  const journal = project.store.read(runId)
  const standing = (await standingsOf(project, [journal])).get(runId)
  return { journal: standing === undefined ? project.store.read(runId) : journal, standing }
}

/** Brings the journals of runs on servers up to date; returns the state of those without a result. */
async function standingsOf(
  { context, store }: Pick<ChainProject, 'context' | 'store'>,
  journals: readonly RunJournal[],
): Promise<ReadonlyMap<string, string>> {
  const open = journals.filter(isOpen)
  if (open.length === 0) return new Map()
  const { syncServerRuns } = await import('#chain/restate/server-runs')
  return await syncServerRuns(store, open, context.settings.restate.token || undefined)
}

/** Opens the run that a user names. */
export async function findRun(
  context: RunContext,
  name = '',
  grants: GrantOptions = {},
): Promise<StoredRun> {
  const project = openProject(context, grants)
  const runId = project.store.idOf(name)
  const { journal, standing } = await readUpToDate(project, runId)
  context.diagnose(journal.diagnostics)
  return { project, runId, journal, standing }
}

/**
 * Opens a run to continue it.
 *
 * @throws {RunBusyError} if its server has not finished it
 * @throws {RunStateError} if its server does not answer
 */
export async function openRun(
  context: RunContext,
  name = '',
  grants: GrantOptions = {},
): Promise<StoredRun> {
  const stored = await findRun(context, name, grants)
  const { project, runId, journal, standing } = stored
  const { url = '' } = journal.run.server ?? {}
  if (standing === 'running') {
    throw new RunBusyError(
      'run-busy',
      `the run ${runId} is being executed by the server at ${url}`,
      `Wait for it, or end it: ${project.line('runs cancel', runId)}`,
    )
  }
  if (standing === 'unreachable') {
    throw new RunStateError(
      'restate-away',
      `the server of the run ${runId} at ${url} does not answer`,
      'Start it, or wait: it keeps what it has done.',
    )
  }
  return stored
}
