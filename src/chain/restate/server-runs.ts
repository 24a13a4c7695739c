import { acquireFileLock, openJournal, readJournal } from '../../base/index.ts'
import { RunBusyError, RunStateError } from '../errors.ts'
import type { ChainRecord, ServerRecord } from '../journal-records.ts'
import { createRecordWriter, type RecordWriter } from '../record-writer.ts'
import type { RunResult } from '../result.ts'
import type { RunJournal } from '../run-journal.ts'
import type { RunStore } from '../run-store.ts'
import { ask, refusal, type ServerAddress } from './client.ts'
import { recordsOf } from './result-records.ts'
import { cancelInvocation, keyOf, lookAtRun, type SubmittedRun } from './submit.ts'

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
    if (address === undefined || journal.status !== undefined) continue
    const standing = await sync(store, journal, address)
    if (standing !== undefined) standings.set(journal.run.runId, standing)
  }
  return standings
}

async function sync(
  store: RunStore,
  journal: RunJournal,
  address: ServerAddress,
): Promise<ServerStanding | undefined> {
  const { runId } = journal.run
  let found: RunResult | 'running' | 'unknown'
  try {
    found = await lookAtRun(address, submittedRun(journal), journal.plan.digest)
  } catch {
    return 'unreachable'
  }
  if (found === 'running') return 'running'
  if (found === 'unknown') return 'forgotten'
  const result = found
  const lock = acquireFileLock(store.pathOf(runId))
  // The process that waits for it writes it down itself.
  if (!lock.ok) return undefined
  try {
    withWriter(store.pathOf(runId), (writer) => writer.append(...recordsOf(result, new Date())))
  } finally {
    lock.release()
  }
  return undefined
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
      hint: `skillrail runs show ${journal.run.runId} shows it.`,
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

/** Rows of the tables that the admin interface has about invocations. */
export async function select(
  address: ServerAddress,
  query: string,
): Promise<Record<string, unknown>[]> {
  const answer = await ask(address, 'admin', '/query', {
    method: 'POST',
    body: { query },
    signal: AbortSignal.timeout(10_000),
  })
  const { body } = answer
  if (answer.status !== 200 || typeof body !== 'object' || body === null || !('rows' in body)) {
    throw refusal('answer a query', answer)
  }
  return Array.isArray(body.rows) ? body.rows : []
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
      hint: `End the run with: skillrail runs cancel ${runId}`,
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
