import { dirname, join } from 'node:path'
import { hasErrors } from '#core/errors'
import { lockHolder } from '#core/file-lock'
import { type JournalRecord, readJournal } from '#core/journal-file'
import { openSealer } from '#core/project-state'
import { findWorkspace, isPresent } from '#core/read-files'
import { ownStateDirectory, projectStateDirectory, type Runtime } from '#core/runtime'

/**
 * Whether the variables are those of a step that runs now: its agent has the references in its prompt. Any
 * program can set such variables, so the run's journal must say the same: a journal of this project, with
 * the user's seal, in which the step has begun and not ended, and which a live process continues.
 */
export function isRunningStep(runtime: Runtime): boolean {
  try {
    return isRunning(runtime)
  } catch {
    return false
  }
}

function isRunning(runtime: Runtime): boolean {
  const {
    SKILLRAIL_RUN_ID: runId = '',
    SKILLRAIL_IDEMPOTENCY_KEY: execution = '',
    SKILLRAIL_SCRATCH: scratch = '',
  } = runtime.env
  const runs = dirname(dirname(scratch))
  const [head, key] = cut(execution, '/')
  if (!/^[0-9a-z]{1,40}$/.test(runId) || head !== runId || scratch !== join(runs, runId, 'scratch'))
    return false
  const workspace = findWorkspace(runtime.cwd, runtime)
  // The user's settings may place it anywhere, and take long to read.
  const settings = { state: { directory: dirname(dirname(dirname(runs))) } }
  const place = { runtime, settings }
  if (dirname(runs) !== projectStateDirectory(workspace, place, { sealed: true })) return false
  const path = join(runs, `${runId}.jsonl`)
  const isLocked = lockHolder(path) !== undefined
  if (!isLocked && !isPresent(path)) return false
  // The seal would create a missing key.
  if (!isPresent(join(ownStateDirectory(place), 'key'))) return false
  const seal = { start: `${runId}\0${workspace}\0`, code: openSealer(place) }
  const { records, diagnostics } = readJournal(path, seal)
  if (hasErrors(diagnostics)) return false
  return isOnServer(records) ? !hasEnded(records) : isLocked && isBegun(records, key)
}

function isBegun(records: readonly JournalRecord[], key: string): boolean {
  const has = (type: string): boolean =>
    records.some((record) => record['type'] === type && record['key'] === key)
  return has('start') && !has('done')
}

/** A Restate server keeps the steps of such a run, and no process here has its lock. */
function isOnServer([run]: readonly JournalRecord[]): boolean {
  return run?.['server'] !== undefined
}

function hasEnded(records: readonly JournalRecord[]): boolean {
  return records.at(-1)?.['type'] === 'status'
}

function cut(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
