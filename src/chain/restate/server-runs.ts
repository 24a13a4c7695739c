import { acquireFileLock, openJournal, readJournal } from '../../base/index.ts'
import { RunBusyError, RunStateError } from '../errors.ts'
import type { ChainRecord, ServerRecord } from '../journal-records.ts'
import { allSteps } from '../plan-model.ts'
import { createRecordWriter, type RecordWriter } from '../record-writer.ts'
import type { RunJournal } from '../run-journal.ts'
import { runLine } from '../run-line.ts'
import type { RunStore } from '../run-store.ts'
import type { ServerAddress } from './client.ts'
import type { RunAnswer } from './protocol.ts'
import { select } from './query.ts'
import { recordsOf } from './result-records.ts'
import { cancelInvocation, keyOf, lookAtRun, type SubmittedRun } from './submit.ts'
import { lookAtWaiting, type Waiting } from './waiting.ts'

/** How a run that was handed to a server stands there, where its journal does not say it yet. */
export type ServerStanding = 'running' | 'unreachable' | 'forgotten'

/** The server's part in a run; undefined for one that is executed here. */
export function serverOf(journal: RunJournal, token?: string): ServerAddress | undefined {
  const { server } = journal.run
  return server === undefined ? undefined : addressOf(server, token)
}

/** The run as its server knows it. Every resumption is a further part. */
export function submittedRun(journal: RunJournal): SubmittedRun {
  const { records } = readJournal(journal.path)
  const part = 1 + records.filter((record) => record['type'] === 'resumed').length
  return { runId: journal.run.runId, part }
}

/**
 * Asks the servers about the runs that were left to them, and takes over the results of those that
 * have ended meanwhile.
 * @returns how the others stand, by run.
 */
export async function syncServerRuns(
  store: RunStore,
  journals: readonly RunJournal[],
  token?: string,
): Promise<Map<string, ServerStanding>> {
  const standings = new Map<string, ServerStanding>()
  for (const journal of journals) {
    const address = serverOf(journal, token)
    if (address === undefined || !isOpen(journal)) continue
    const standing = await sync(store, journal, address)
    if (standing !== undefined) standings.set(journal.run.runId, standing)
  }
  return standings
}

/** Whether the server may know more of the run than its journal says. */
function isOpen({ status }: RunJournal): boolean {
  return status === undefined || status === 'waiting'
}

async function sync(
  store: RunStore,
  journal: RunJournal,
  address: ServerAddress,
): Promise<ServerStanding | undefined> {
  let news: ChainRecord[] | Exclude<ServerStanding, 'unreachable'>
  try {
    news = await newsOf(journal, address)
  } catch {
    return 'unreachable'
  }
  if (!Array.isArray(news)) return news
  const records = news
  if (records.length === 0) return undefined
  const path = store.pathOf(journal.run.runId)
  const lock = acquireFileLock(path)
  // The process that waits for it writes it down itself.
  if (!lock.ok) return undefined
  try {
    withWriter(path, (writer) => writer.append(...records))
  } finally {
    lock.release()
  }
  return undefined
}

async function newsOf(
  journal: RunJournal,
  address: ServerAddress,
): Promise<ChainRecord[] | 'running' | 'forgotten'> {
  const run = submittedRun(journal)
  const found = await lookAtRun(address, run, journal.plan.digest)
  if (found === 'unknown') return 'forgotten'
  if (found !== 'running') return recordsOfAnswer(journal, found)
  const waiting = mayWait(journal) ? await waitingRun(address, run) : undefined
  if (waiting === undefined) return 'running'
  return journal.status === 'waiting' && isKnown(journal, waiting) ? [] : recordsOfWait(waiting)
}

function mayWait(journal: RunJournal): boolean {
  return allSteps(journal.plan.root).some((step) => step.gate === true)
}

function isKnown({ gates }: RunJournal, waiting: Waiting): boolean {
  return waiting.gates.every(({ key, at }) => gates.get(key)?.at === at)
}

/** What a run on the server waits for; undefined when it waits for nobody. */
export async function waitingRun(
  address: ServerAddress,
  run: SubmittedRun,
): Promise<(Waiting & { id: string }) | undefined> {
  const id = await findInvocation(address, run)
  const waiting = id === undefined ? undefined : await lookAtWaiting(address, id)
  return id === undefined || waiting === undefined ? undefined : { ...waiting, id }
}

/** What the journal has to say when a run came to a stand. */
export function recordsOfWait({ result, gates }: Waiting, now: Date = new Date()): ChainRecord[] {
  const records = recordsOf({ ...result, status: 'waiting' }, now)
  return [...records.slice(0, -1), ...gates, ...records.slice(-1)]
}

/** What the journal has to say when a run has ended, without the decisions that it has. */
export function recordsOfAnswer(
  { approvals: known }: Pick<RunJournal, 'approvals'>,
  { result, approvals = [] }: RunAnswer,
  now: Date = new Date(),
): ChainRecord[] {
  const unknown = approvals.filter(({ key, at }) => known.get(key)?.at !== at)
  return [...unknown, ...recordsOf(result, now, approvals)]
}

/**
 * Ends a run on its server: the running steps are ended, nothing further begins.
 * @throws {RunStateError} when the server has no such run going on.
 */
export async function cancelServerRun(journal: RunJournal, address: ServerAddress): Promise<void> {
  const id = await findInvocation(address, submittedRun(journal))
  if (id === undefined) {
    throw new RunStateError({
      code: 'run-ended',
      message: `the server at ${address.url} has no run ${journal.run.runId} going on`,
      hint: `${runLine('runs show', journal.run.runId)} shows it.`,
    })
  }
  await cancelInvocation(address, id)
}

async function findInvocation(
  address: ServerAddress,
  run: SubmittedRun,
): Promise<string | undefined> {
  const query =
    `select id from sys_invocation where target_service_name = 'skillrail' ` +
    `and idempotency_key = '${keyOf(run)}' and status <> 'completed'`
  const [row] = await select(address, query)
  const id = row?.['id']
  return typeof id === 'string' ? id : undefined
}

/** Opens the journal of a run alone, for as long as `work` takes. */
export async function alone<T>(
  path: string,
  runId: string,
  work: (append: (...records: ChainRecord[]) => void) => Promise<T>,
): Promise<T> {
  const lock = acquireFileLock(path)
  if (!lock.ok) {
    throw new RunBusyError({
      code: 'run-busy',
      message: `process ${lock.holder.pid} on ${lock.holder.host} waits for the run ${runId}`,
      hint: `End the run with: ${runLine('runs cancel', runId)}`,
    })
  }
  try {
    return await work((...records) => withWriter(path, (writer) => writer.append(...records)))
  } finally {
    lock.release()
  }
}

function withWriter(path: string, work: (writer: RecordWriter) => void): void {
  const file = openJournal(path)
  try {
    work(createRecordWriter(file))
  } finally {
    file.close()
  }
}

function addressOf({ url, adminUrl }: ServerRecord, token: string | undefined): ServerAddress {
  return { url, adminUrl, ...(token === undefined ? {} : { token }) }
}
