import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  compareText,
  type Diagnostic,
  lockHolder,
  lookProblem,
  SkillrailError,
  UsageError,
} from '../base/index.ts'
import { removeTree } from './_remove-tree.ts'
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
  /**
   * Deletes the journal and the files of a run.
   * @throws the system error where something of it cannot be deleted; the journal is still there then.
   */
  remove(runId: string): void
}

export function openRunStore(workspace: string): RunStore {
  const directory = join(workspace, '.skillrail', 'runs')
  const store: RunStore = {
    directory,
    pathOf: (runId) => join(directory, `${checkedId(runId)}.jsonl`),
    ids: () => {
      const ids = journalIds(directory)
      return Array.isArray(ids) ? ids : []
    },
    read: (runId) => readRunJournal(store.pathOf(runId), runId),
    list() {
      const ids = journalIds(directory)
      if (!Array.isArray(ids)) return { runs: [], diagnostics: [ids] }
      const diagnostics: Diagnostic[] = []
      const runs = ids.flatMap((runId) => {
        const path = store.pathOf(runId)
        try {
          const journal = store.read(runId)
          diagnostics.push(...journal.diagnostics)
          return journal
        } catch (error) {
          if (!isJustBeginning(path, error)) diagnostics.push(unreadable(path, error))
          return []
        }
      })
      return { runs, diagnostics }
    },
    remove(runId) {
      const path = store.pathOf(runId)
      removeTree(join(directory, runId))
      rmSync(path, { force: true })
    },
  }
  return store
}

const journalName = /^([0-9a-z]+)\.jsonl$/

/** The ids, or why it cannot be said which there are. */
function journalIds(directory: string): string[] | Diagnostic {
  try {
    return readdirSync(directory)
      .flatMap((name) => journalName.exec(name)?.[1] ?? [])
      .toSorted((a, b) => compareText(b, a))
  } catch (error) {
    const reason = lookProblem(error)
    if (reason === undefined) return []
    return {
      code: 'runs-unreadable',
      severity: 'error',
      message: `the runs cannot be listed: ${reason}`,
      path: directory,
      hint: 'Make the directory readable.',
    }
  }
}

/** Its process has made the file and not yet written to it. */
function isJustBeginning(path: string, error: unknown): boolean {
  const isEmpty = error instanceof SkillrailError && error.code === 'journal-empty'
  return isEmpty && lockHolder(path) !== undefined
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
