import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { compareText, type Diagnostic, SkillrailError, UsageError } from '../base/index.ts'
import { readRunJournal, type RunJournal } from './run-journal.ts'

/** The runs of a project: one journal each below `.skillrail/runs`. */
export interface RunStore {
  readonly directory: string
  pathOf(runId: string): string
  /** Ids, the newest first: they sort by time. */
  ids(): string[]
  /** @throws {RunNotFoundError} and {StateFileError}, as {@link readRunJournal}. */
  read(runId: string): RunJournal
  /** Every run that can be read; what is wrong with the others as diagnostics. */
  list(): { runs: RunJournal[]; diagnostics: Diagnostic[] }
  /** Deletes the journal and the files of a run. */
  remove(runId: string): void
}

export function openRunStore(workspace: string): RunStore {
  const directory = join(workspace, '.skillrail', 'runs')
  const store: RunStore = {
    directory,
    pathOf: (runId) => join(directory, `${checkedId(runId)}.jsonl`),
    ids: () => journalIds(directory),
    read: (runId) => readRunJournal(store.pathOf(runId), runId),
    list() {
      const diagnostics: Diagnostic[] = []
      const runs = store.ids().flatMap((runId) => {
        try {
          const journal = store.read(runId)
          diagnostics.push(...journal.diagnostics)
          return journal
        } catch (error) {
          diagnostics.push(unreadable(store.pathOf(runId), error))
          return []
        }
      })
      return { runs, diagnostics }
    },
    remove(runId) {
      const path = store.pathOf(runId)
      rmSync(join(directory, runId), { recursive: true, force: true })
      rmSync(path, { force: true })
    },
  }
  return store
}

const journalName = /^([0-9a-z]+)\.jsonl$/

function journalIds(directory: string): string[] {
  try {
    return readdirSync(directory)
      .flatMap((name) => journalName.exec(name)?.[1] ?? [])
      .toSorted((a, b) => compareText(b, a))
  } catch {
    return []
  }
}

/** An id becomes a file name, so nothing else may pass for one. */
function checkedId(runId: string): string {
  if (/^[0-9a-z]{1,40}$/.test(runId)) return runId
  throw new UsageError({
    code: 'run-id-malformed',
    message: `${JSON.stringify(runId)} is no id of a run`,
    hint: 'skillrail runs list shows the runs of this project.',
  })
}

function unreadable(path: string, error: unknown): Diagnostic {
  if (!(error instanceof SkillrailError)) throw error
  return { code: error.code, severity: 'error', message: error.message, path, hint: error.hint }
}
