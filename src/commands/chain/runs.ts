import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineCommand, option } from '#core/command'
import { type Diagnostic, exitCode, UsageError } from '#core/errors'
import { printedText } from '#core/printed-text'
import { timeBetween } from '#core/runtime'
import { amount, cell, linesText, safeLine, safeText, shellWord } from '#core/text'
import { makePrivateDirectory } from '#core/write-files'
import { whileRunning } from '#chain/attempt'
import type { ChainEvent } from '#chain/engine'
import { RunStateError, stepUnknown } from '#chain/errors'
import { runFiles } from '#chain/executors'
import {
  type ApprovalRecord,
  type ChainRecord,
  journalVersion,
  readRecords,
  type RunJournal,
  runJournalOf,
  type RunRecord,
} from '#chain/run-journal'
import { allSteps, stepOfKey } from '#chain/plan-model'
import { type ListedRun, listedRun, railText, stepCounts } from '#chain/listed-run'
import { readResult } from '#chain/run-chain'
import { removeRuns, type RunStore } from '#chain/run-store'
import { executionsOf, isFinal, type ShownRun, statusOfRun } from '#chain/step-result'
import { readLog } from '#chain/step-runner'
import { duration, renderTimeline } from '#chain/timeline'
import { cancelOn } from '#project/engines'
import { type EndedRail, endRails, railsToEnd } from '#rail/end-rails'
import { listedRails } from '#rail/listed-rails'
import { refuseWhileGuarded } from '#rail/refuse'
import { findRun, readRuns, readUpToDate } from '#project/stored-runs'
import { type ChainProject, openProject } from '#project/chains'
import { errorsOfRun, headOfRun, runFormats } from './run-text.ts'
import { resultLines } from '#chain/result-text'
import { runArgument } from './options.ts'

export const list = defineCommand<{
  runs: readonly ListedRun[]
  /** ISO 8601; ages are counted from it. */
  now: string
  diagnostics: readonly Diagnostic[]
}>()({
  helpsToRepair: true,
  options: {},
  examples: ['runs list --json'],
  async run(context) {
    const project = openProject(context)
    offerImport(project)
    const { runs, standings, diagnostics } = await readRuns(project)
    const rails = listedRails(project.workspace, context.runtime)
    const listed = runs.map((run) => {
      const { runId } = run.run
      return listedRun(run, { serverStatus: standings.get(runId), rail: rails.get(runId) })
    })
    return { runs: listed, now: new Date(context.runtime.now()).toISOString(), diagnostics }
  },
  render({ runs, now }, screen) {
    if (runs.length === 0) return ''
    const hasRails = runs.some(({ rail }) => rail !== undefined)
    return screen.table([
      ['RUN', 'SKILL', 'ARGUMENTS', 'STATUS', 'STEPS', 'AGE', ...(hasRails ? ['RAIL'] : [])],
      ...runs.map((run) => [
        run.runId,
        safeLine(run.skill),
        cell(run.arguments.map(shellWord).join(' '), 30),
        run.imported ? `${run.status} (imported)` : run.status,
        stepCounts(run),
        duration(timeBetween(Date.parse(run.startedAt), Date.parse(now))),
        ...(run.rail ? [safeLine(railText(run.rail))] : []),
      ]),
    ])
  },
  notes({ runs, diagnostics }) {
    if (runs.length > 0) return diagnostics
    const none = 'There are no runs here. `skillrail run SKILL` makes one.'
    return [...diagnostics, diagnostics.length > 0 ? 'No run here can be read.' : none]
  },
})

interface ShownResult extends ShownRun, Pick<RunRecord, 'imported' | 'yesGates'> {
  standing?: string | undefined
  startedAt: string
  startedBy?: string | undefined
  approvals?: readonly ShownApproval[] | undefined
  /** Gates that users removed from the run. */
  removedGates?: RunJournal['removals'] | undefined
}

interface ShownApproval extends Pick<
  ApprovalRecord,
  'approved' | 'at' | 'by' | 'user' | 'channel' | 'strength' | 'shown' | 'shownDigest' | 'reason'
> {
  step: string
  /** Whose key signed it, by the name in the user's list at that time. */
  signedBy?: string | undefined
}

const approvalPlaces: Readonly<Record<NonNullable<ApprovalRecord['channel']>, string>> = {
  prompt: 'with a prompt in the session of the agent',
  client: 'in the question of the agent client',
  terminal: 'at a terminal',
  view: 'in the view',
}

export const show = defineCommand<ShownResult>()({
  helpsToRepair: true,
  arguments: runArgument,
  options: {
    report: option.list('--report <format[=file]>', 'json, junit, github or html (repeatable)'),
  },
  examples: ['runs show 0mh2k9x0ab12cd --report html=report.html'],
  async run(context, { arguments: [named = ''] }) {
    const project = openProject(context)
    const { journal, result, status } = await runNow(project, project.store.idOf(named))
    context.diagnose(journal.diagnostics)
    const { at: startedAt, user: startedBy, yesGates, imported } = journal.run
    return {
      ...result,
      standing: status === result.status ? undefined : status,
      startedAt,
      startedBy,
      yesGates,
      imported,
      approvals: approvalsOf(journal),
      removedGates: journal.removals.length === 0 ? undefined : journal.removals,
    }
  },
  render: (run, screen) =>
    linesText([
      headOfRun({ ...run, status: run.standing ?? run.status }),
      run.imported && `imported from ${safeLine(run.imported.from)}`,
      ...renderTimeline(run, screen),
      ...resultLines(run),
      ...approvalLines(run),
      ...removalLines(run),
      ...errorsOfRun(run),
    ]),
  formats: runFormats((run: ShownResult) => run),
})

function approvalsOf({ approvals, gates }: RunJournal): ShownApproval[] | undefined {
  if (approvals.size === 0) return undefined
  return [...approvals.values()].map((approval) => {
    const { key, approved, at, by, user, channel, strength, shown, shownDigest, reason } = approval
    const step = gates.get(key)?.step ?? stepOfKey(key)
    const signedBy = strength === 'signed' ? approval.signature?.signer : undefined
    const how = { by, user, channel, strength, signedBy }
    return { step, approved, at, ...how, shown, shownDigest, reason }
  })
}

function approvalLines({ approvals = [], yesGates, startedBy = 'the caller' }: ShownResult) {
  const inAdvance = yesGates ? [`Gates approved in advance by ${startedBy} (--yes-gates)`] : []
  const lines = approvals.flatMap(
    ({ step, approved, at, by, signedBy, channel = 'terminal', ...approval }) => {
      const { user = 'a user', shown = [], reason } = approval
      if (by === 'caller') return [`${step}: approved in advance (--yes-gates), ${at}`]
      const seen = shown.map(
        ({ step: name, status, result }) => `  was shown ${name}: ${status}, ${result}`,
      )
      return [
        `${step}: ${approved ? 'approved' : 'rejected'} by ${user} ${approvalPlaces[channel]}${signedBy === undefined ? '' : `, signed by ${signedBy}`}, ${at}`,
        ...(reason === undefined ? [] : [`  reason: ${reason}`]),
        ...seen,
      ]
    },
  )
  return [...inAdvance, ...lines].map((line) => safeLine(line))
}

function removalLines({ removedGates = [] }: ShownResult): string[] {
  return removedGates.flatMap(({ steps, user, at }) =>
    steps.map((step) => safeLine(`${step}: gate removed from this run by ${user}, ${at}`)),
  )
}

interface CancelResult {
  runId: string
  /** `cancelled`, or how a run had ended of which only the rail was left. */
  status: string
  continueWith: string
  /** The rail of the run, which has ended with it. */
  rail?: EndedRail | undefined
}

export const cancel = defineCommand<CancelResult>()({
  arguments: runArgument,
  options: {},
  details:
    'If the session of an agent client executes the run, its rail ends: the guards of the chain deny nothing any more. That needs a user, not an agent.',
  examples: ['runs cancel 0mh2k9x0ab12cd'],
  async run(context, { arguments: [named = ''] }) {
    refuseWhileGuarded(context, 'runs cancel')
    const { project, runId, journal } = await findRun(context, named)
    const rails = railsToEnd(context, 'runs cancel', [runId])
    // The guards of a chain that has failed outlive its run.
    const ending = statusOfRun(journal, journal.path)
    const isOver = rails.length > 0 && isFinal(ending)
    if (!isOver) await cancelOn(project, journal)
    const continueWith = project.line('runs resume', runId)
    const [rail] = endRails(context.runtime, rails)
    return { runId, status: isOver ? ending : 'cancelled', continueWith, rail }
  },
  render: ({ status, continueWith, rail }) =>
    linesText([
      status === 'cancelled' && `Cancelled. To resume it: ${safeLine(continueWith)}`,
      rail && endedText(rail),
    ]),
})

function endedText({ chain }: EndedRail): string {
  return `The rail of ${safeLine(chain)} has ended: its guards deny nothing any more, unless they always apply.`
}

interface PruneResult {
  removed: readonly string[]
  /** The rails of removed runs, which have ended with them. */
  rails?: readonly EndedRail[] | undefined
  dryRun: boolean
  diagnostics?: readonly Diagnostic[] | undefined
}

export const prune = defineCommand<PruneResult>()({
  options: {
    olderThan: option.integer(
      '--older-than <days>',
      'only runs unchanged for this number of days',
      { least: 0, most: 999_999 },
    ),
    keep: option.integer('--keep <count>', 'keep this number of newest runs', {
      least: 0,
      most: 999_999,
    }),
    unfinished: option.flag('--unfinished', 'also runs that could still be resumed'),
    dryRun: option.flag('--dry-run', 'only list them'),
  },
  examples: ['runs prune --older-than 30 --keep 10'],
  async run(context, { olderThan, keep, unfinished, dryRun }) {
    if (!dryRun) refuseWhileGuarded(context, 'runs prune')
    const { store } = openProject(context)
    if (olderThan === undefined && keep === undefined && !dryRun) {
      throw new UsageError({
        code: 'prune-unlimited',
        message: 'this would remove runs whatever their age',
        hint: 'Say which: --older-than DAYS or --keep COUNT (0 for all); --dry-run lists them.',
      })
    }
    const latest = context.runtime.now() - (olderThan ?? 0) * 86_400_000
    const ids = store
      .list()
      .runs.slice(keep ?? 0)
      .flatMap((journal) => {
        const status = statusOfRun(journal, journal.path)
        const mayGo = isFinal(status) || (unfinished && status !== 'running')
        const isOld = olderThan === undefined || Date.parse(journal.updatedAt) < latest
        return mayGo && isOld ? [journal.run.runId] : []
      })
    if (dryRun) return { removed: ids, dryRun }
    const rails = railsToEnd(context, 'runs prune', ids)
    const { removed, diagnostics } = await removeRuns(store, ids)
    context.diagnose(diagnostics)
    const ended = rails.filter(({ runId }) => removed.includes(runId))
    const endedRails = ended.length === 0 ? undefined : endRails(context.runtime, ended)
    return {
      removed,
      rails: endedRails,
      dryRun,
      diagnostics: diagnostics.length > 0 ? diagnostics : undefined,
    }
  },
  render: ({ removed }) => linesText(removed),
  notes: ({ removed, rails = [], dryRun }) => [
    `${removed.length} ${dryRun ? 'would be removed' : 'removed'}`,
    ...rails.map(endedText),
  ],
  exitCode: ({ diagnostics }) => (diagnostics ? exitCode.failed : exitCode.done),
})

interface ImportedRun extends ShownRun {
  startedAt: string
  from: string
  dryRun: boolean
  showWith: string
}

/** Executes nothing from the file: no command continues an imported run, and no server is asked. */
export const importRun = defineCommand<ImportedRun>()({
  arguments: { '<file>': 'the journal of a run, written elsewhere' },
  options: { dryRun: option.flag('--dry-run', 'show the run and import nothing') },
  examples: ['runs import .skillrail/runs/0mh2k9x0ab12cd.jsonl --dry-run'],
  async run(context, { arguments: [file = ''], dryRun }) {
    const { store, line } = openProject(context)
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
      writeImported(store, { ...header, version: journalVersion, imported }, rest)
    }
    const result = await readResult(journal, context.runtime)
    const showWith = line('runs show', runId)
    return { ...result, startedAt: journal.run.at, from: path, dryRun, showWith }
  },
  render: (run, screen) =>
    linesText([headOfRun(run), ...renderTimeline(run, screen), ...errorsOfRun(run)]),
  notes: ({ dryRun, showWith, runId }) => [
    dryRun ? `Nothing was imported.` : `Imported ${runId}, to be shown only: ${safeLine(showWith)}`,
  ],
})

function writeImported(store: RunStore, header: RunRecord, rest: readonly ChainRecord[]): void {
  const { runId } = header
  const path = store.pathOf(runId)
  if (existsSync(path)) {
    throw new RunStateError(
      'run-exists',
      `there is a run ${runId} already`,
      `skillrail runs show ${runId} shows it.`,
    )
  }
  store.append(runId, header, ...rest)
}

/** Notes once that the project contains journals of an earlier version, which no command reads. */
function offerImport({ workspace, store, context }: ChainProject): void {
  const old = join(workspace, '.skillrail', 'runs')
  const isJournal = (name: string): boolean => name.endsWith('.jsonl')
  const journals = existsSync(old) ? readdirSync(old).filter(isJournal).toSorted() : []
  const mark = join(store.directory, 'import-offered')
  const [first] = journals
  if (first === undefined || existsSync(mark)) return
  makePrivateDirectory(store.directory)
  writeFileSync(mark, '')
  const subject = `${amount(journals.length, 'run')} of an earlier version in ${safeLine(old)}`
  context.note(`${subject}. To read one: skillrail runs import .skillrail/runs/${safeLine(first)}`)
}

/** The output of one execution of a step, or a part of it while a run is followed. */
interface LoggedText {
  step: string
  attempt: number
  text: string
  isEnd?: true
  /** Missing bytes at the beginning. */
  lostBytes?: number
}

interface LogResult {
  runId: string
  step?: string | undefined
  logs: readonly LoggedText[]
}

const intervalMs = 250

export const logs = defineCommand<LogResult, ChainEvent>()({
  arguments: { ...runArgument, '[step]': 'the full name of a step (default: every step)' },
  options: {
    follow: option.flag('--follow', 'print more as it comes, until the run ends or waits'),
  },
  details:
    'Secrets are masked. At least the last 64 MiB of a log are kept; a note says how much is missing.',
  examples: ['runs logs latest', 'runs logs latest unit --follow'],
  async run(context, { arguments: [named = '', step], follow }) {
    const project = openProject(context)
    const runId = project.store.idOf(named)
    const parts: LoggedText[] = []
    const lengths = new Map<string, number>()
    for (;;) {
      const { texts, isRunning } = await readTexts(project, runId, step)
      const last = !follow || !isRunning || context.signal.aborted
      for (const { key, ...logged } of texts) {
        const from = lengths.get(key) ?? 0
        const end = last ? logged.text.length : logged.text.lastIndexOf('\n') + 1
        if (end <= from) continue
        lengths.set(key, end)
        const part = { ...logged, text: logged.text.slice(from, end) }
        parts.push(part)
        const shown = { key, step: labelOf(part, step), stream: 'stdout', text: part.text } as const
        if (follow) context.emit({ type: 'step-output', ...shown })
      }
      if (last) return { runId, step, logs: parts }
      await sleep(intervalMs, undefined, { signal: context.signal }).catch(() => undefined)
    }
  },
  progress: () => ({
    event: (event) =>
      event.type === 'step-output' ? { stdout: textOf(event.step, event.text) } : undefined,
  }),
  render: ({ step, logs: found }) =>
    found.map((part) => textOf(labelOf(part, step), part.text)).join(''),
  notes({ logs: found }) {
    if (found.length === 0) return ['No step has printed anything.']
    const ends = found.filter(({ isEnd }) => isEnd === true).map(({ step }) => safeLine(step))
    const cut = found.flatMap(({ step, lostBytes = 0 }) => {
      const size = `${Math.ceil(lostBytes / 1_048_576)} MiB`
      return lostBytes === 0 ? [] : [`The first ${size} of ${safeLine(step)} were not kept.`]
    })
    const only = ends.length === 0 ? [] : [`Only the end is known here of: ${ends.join(', ')}`]
    return [...only, ...cut]
  },
})

async function readTexts(project: ChainProject, runId: string, step: string | undefined) {
  const { journal, result, status } = await runNow(project, runId)
  const names = allSteps(journal.plan.root).map((one) => one.step)
  if (step !== undefined && !names.includes(step)) {
    throw stepUnknown(`the run ${runId}`, step, names)
  }
  const isRunning = status === 'running'
  const { scratch } = project.context.settings.restate
  const isShared = journal.run.server !== undefined && scratch !== ''
  const { logs: directory } = runFiles(isShared ? scratch : project.store.directory, runId)
  const wanted = executionsOf(result).filter(
    (one) => step === undefined || `${one.step}/`.startsWith(`${step}/`),
  )
  const texts = wanted.map(({ log = '', ...execution }) => {
    const { text, lostBytes } = readLog(directory, execution.key)
    const end = { ...execution, text: log === '' ? '' : `${log}\n`, isEnd: true as const }
    return text === '' && !isRunning
      ? end
      : { ...execution, text, ...(lostBytes === 0 ? {} : { lostBytes }) }
  })
  return { texts, isRunning }
}

/** Reads the current state of a run, its running steps, and the server's status if it has one. */
async function runNow(project: ChainProject, runId: string) {
  const { runtime } = project.context
  const { journal, standing } = await readUpToDate(project, runId)
  const status = standing ?? statusOfRun(journal, journal.path)
  const read = await readResult(journal, runtime)
  const result = status === 'running' ? whileRunning(journal, read, runtime.now()) : read
  return { journal, result, status }
}

/**
 * Returns the step, unless the user asked for this step only, and the number of a repeated attempt.
 */
function labelOf({ step, attempt }: LoggedText, asked: string | undefined): string {
  const again = attempt > 1 ? [`attempt ${attempt}`] : []
  return [...(step === asked ? [] : [step]), ...again].join(', ')
}

function textOf(label: string, text: string): string {
  const prefix = label === '' ? '' : `[${safeLine(label)}] `
  const lines = safeText(printedText(text)).replace(/\n$/, '').split('\n')
  return linesText(lines.map((line) => `${prefix}${line}`))
}
