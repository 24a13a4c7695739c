import { acquireFileLock, type Diagnostic, openJournal, StateFileError } from '../base/index.ts'
import { RunBusyError, RunFilesError } from './errors.ts'
import { createRecordWriter, type RecordWriter } from './record-writer.ts'
import type { RunResult } from './result.ts'
import type { RunWorld } from './run-chain.ts'
import type { RunJournal } from './run-journal.ts'
import { type RunLine, runLine } from './run-line.ts'

/**
 * Opens the journal of a run under its lock, for as long as `work` takes; says what became of the file.
 * @throws {RunBusyError} while another process has it.
 */
export async function withJournal(
  runId: string,
  { store, onProblem, line = runLine }: Pick<RunWorld, 'store' | 'onProblem' | 'line'>,
  work: (writer: RecordWriter) => Promise<RunResult>,
): Promise<RunResult> {
  const path = store.pathOf(runId)
  const lock = acquireFileLock(path)
  if (!lock.ok) {
    throw new RunBusyError({
      code: 'run-busy',
      message: `the run ${runId} is being executed by process ${lock.holder.pid} on ${lock.holder.host}`,
      hint: `Wait for it, or end it: ${line('runs cancel', runId)}`,
    })
  }
  try {
    const journal = openJournal(path)
    try {
      const writer = createRecordWriter(journal)
      const result = await work(writer).finally(() => writer.append())
      const standing = journal.standing()
      if (standing !== 'whole') onProblem?.(journalLost(path, runId, standing))
      return result
    } finally {
      journal.close()
    }
  } finally {
    lock.release()
  }
}

/** An error that stops a run where it is, with the command that goes on. Any other stays what it is. */
export function saysHowToGoOn(
  error: unknown,
  { run }: Pick<RunJournal, 'run'>,
  line: RunLine = runLine,
): unknown {
  if (!(error instanceof StateFileError || error instanceof RunFilesError)) return error
  const { code, message } = error
  const command = run.mode === 'stepper' ? 'chain next' : 'runs resume'
  const hint = `${error.hint ?? ''} Then go on: ${line(command, run.runId)}`.trim()
  const facts = { code, message, hint, cause: error }
  return error instanceof StateFileError ? new StateFileError(facts) : new RunFilesError(facts)
}

/** A step can delete and write what it likes; the run ends all the same. */
function journalLost(path: string, runId: string, standing: 'gone' | 'changed'): Diagnostic {
  const isGone = standing === 'gone'
  const what = isGone ? 'deleted or put out of reach' : 'written to or replaced by something else'
  const effect = isGone
    ? 'it can neither be shown nor gone on with'
    : 'what is shown of it may not be what it did'
  return {
    code: isGone ? 'journal-gone' : 'journal-changed',
    severity: 'warning',
    message: `the journal of the run ${runId} was ${what} while it ran: ${effect}`,
    path,
    hint: `One of its steps, or somebody else, ${isGone ? 'deletes or moves' : 'changes'} files below .skillrail/runs.`,
  }
}
