import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { defineCommand, option } from '../../core/command.ts'
import { amount, safeLine } from '../../core/text.ts'
import { makePrivateDirectory } from '../../core/write-files.ts'
import { RunStateError } from '../errors.ts'
import { type ChainRecord, journalVersion, type RunRecord } from '../journal-records.ts'
import { readResult } from '../run-chain.ts'
import { createRecordWriter, readRecords, runJournalOf } from '../run-journal.ts'
import type { RunStore } from '../run-store.ts'
import type { ShownRun } from '../step-result.ts'
import { type ChainProject, linesAgain, openProject } from './project.ts'
import { errorsOfRun, headOfRun, linesText, timelineOf } from './run-text.ts'

interface ImportedRun extends ShownRun {
  startedAt: string
  from: string
  dryRun: boolean
  showWith: string
}

/** Nothing in the file is an order: no command continues an imported run, and no server is asked. */
export const importRun = defineCommand<ImportedRun>()({
  arguments: { '<file>': 'the journal of a run, written by another user, machine or version' },
  options: { dryRun: option.flag('--dry-run', 'show the run and import nothing') },
  examples: ['runs import .skillrail/runs/0mh2k9x0ab12cd.jsonl --dry-run'],
  async run(context, { arguments: [file = ''], dryRun }) {
    const { store } = openProject(context)
    const path = resolve(context.runtime.cwd, file)
    const runId = basename(path, '.jsonl')
    const { records, diagnostics } = readRecords(path, runId)
    context.diagnose(diagnostics)
    const [first, ...rest] = records
    const journal = runJournalOf(path, runId, records)
    if (first?.type === 'run' && !dryRun) {
      const at = new Date(context.runtime.now()).toISOString()
      const { server: _server, ...header } = first
      const imported = { from: path, at }
      write(store, { ...header, version: journalVersion, imported }, rest)
    }
    const result = await readResult(journal, context.runtime)
    const showWith = linesAgain(context)('runs show', runId)
    return { ...result, startedAt: journal.run.at, from: path, dryRun, showWith }
  },
  render: (run, screen) =>
    linesText([headOfRun(run), ...timelineOf(run, screen), ...errorsOfRun(run)]),
  notes: ({ dryRun, showWith, runId }) => [
    dryRun ? `Nothing was imported.` : `Imported ${runId}, to be shown only: ${safeLine(showWith)}`,
  ],
})

function write(store: RunStore, header: RunRecord, rest: readonly ChainRecord[]): void {
  const { runId } = header
  const path = store.pathOf(runId)
  if (existsSync(path)) {
    throw new RunStateError({
      code: 'run-exists',
      message: `there is a run ${runId} already`,
      hint: `skillrail runs show ${runId} shows it.`,
    })
  }
  const journal = store.open(runId)
  try {
    createRecordWriter(journal).append(header, ...rest)
  } finally {
    journal.close()
  }
}

/** Says once that the project holds journals of an earlier version, which no command reads. */
export function offerImport({ workspace, store, context }: ChainProject): void {
  const old = join(workspace, '.skillrail', 'runs')
  const isJournal = (name: string): boolean => name.endsWith('.jsonl')
  const found = existsSync(old) ? readdirSync(old).filter(isJournal).toSorted() : []
  const mark = join(store.directory, 'import-offered')
  const [first] = found
  if (first === undefined || existsSync(mark)) return
  makePrivateDirectory(store.directory)
  writeFileSync(mark, '')
  const subject = `${amount(found.length, 'run')} of an earlier version in ${safeLine(old)}`
  context.note(
    `${subject}, which no command resumes. To read one: skillrail runs import .skillrail/runs/${safeLine(first)}`,
  )
}
