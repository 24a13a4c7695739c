import { existsSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Diagnostic, reasonOf, StateFileError, systemCode } from '#core/errors'
import { lockHolder } from '#core/file-lock'
import { sha256 } from '#core/json'
import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { endOrphans } from '#exec/process-group'
import { drivenExecutor, recordOf, runFiles, type RunFiles, type ScriptSetup } from './executors.ts'
import { runChain } from './attempt.ts'
import type { EventListener, Executor, RunResult, TaskCall } from './engine.ts'
import { type ChainError, RunFilesError, RunStateError, RunTrustError } from './errors.ts'
import { createJournalEngine } from './journal-engine.ts'
import {
  type ChainRecord,
  createRecordWriter,
  type DoneRecord,
  journalVersion,
  type RecordWriter,
  type RunJournal,
  runJournalOf,
  type RunRecord,
} from './run-journal.ts'
import { allSteps, type Plan, type PlannedChain, wholeChain } from './plan-model.ts'
import { argumentsOf, redactedArguments, type RunLine, runLine } from './run-line.ts'
import { alone, removeTree, type RunStore } from './run-store.ts'
import { isFinal, shownRun } from './step-result.ts'
import { createStepRunner } from './step-runner.ts'

export interface RunSetup extends Pick<ScriptSetup, 'workspace' | 'confinement' | 'refusalOf'> {
  runtime: Runtime
  store: RunStore
  settings: Settings['run']
  executors?: readonly Executor[]
  signal?: AbortSignal | undefined
  onEvent?: EventListener | undefined
  yesGates?: boolean | undefined
  /** How hints write a command line for the user. */
  line: RunLine
  /** Told what is wrong with the files of the run and does not change its result. */
  onProblem?: ((problem: Diagnostic) => void) | undefined
  onHandOut?: ((call: TaskCall) => void) | undefined
}

export interface NewRun extends Pick<
  RunRecord,
  'arguments' | 'mode' | 'request' | 'requireVerified' | 'origin'
> {
  plan: Plan
  reused?: readonly DoneRecord[] | undefined
}

export async function startRun(run: NewRun, setup: RunSetup): Promise<RunResult> {
  const runId = setup.runtime.id()
  return await withJournal(runId, setup, async (writer) => {
    const header = { ...headerOf(runId, run, setup), ...recordOf(setup.confinement) }
    const records: readonly ChainRecord[] = [header, ...(run.reused ?? [])]
    try {
      writer.append(...records)
    } catch (error) {
      // Nothing has happened yet, so nothing has to be kept of it.
      setup.store.remove(runId)
      throw error
    }
    const journal = runJournalOf(setup.store.pathOf(runId), runId, records)
    return await proceed(journal, run.arguments, setup, writer)
  })
}

export function headerOf(runId: string, run: NewRun, setup: RunSetup): RunRecord {
  const { plan, mode, requireVerified, request, origin } = run
  return {
    type: 'run',
    version: journalVersion,
    runId,
    skill: plan.skill,
    at: isoNow(setup),
    user: setup.runtime.user(),
    yesGates: setup.yesGates || undefined,
    mode,
    arguments: redactedArguments(run.arguments),
    argumentsDigest: sha256(JSON.stringify(run.arguments)),
    requireVerified,
    request,
    plan,
    origin,
  }
}

export interface Resumption {
  runId: string
  plan: Plan
  command?: 'resume' | 'approve' | undefined
  /** Nothing is executed: only what `prepare` recorded has its effect. */
  executesNothing?: boolean
  force?: boolean
  /** Needed again where they held a secret: it is not in the journal. */
  arguments?: readonly string[] | undefined
  /** A cancelled run is refused: only a user resumes it. */
  refusesCancelled?: true
  /** Looks at the journal, and may write to it, before the run continues. */
  prepare?:
    | ((journal: RunJournal, append: (record: ChainRecord) => void) => void | Promise<void>)
    | undefined
}

export async function resumeRun(resumption: Resumption, setup: RunSetup): Promise<RunResult> {
  const { runId } = resumption
  setup.store.read(runId)
  return await withJournal(runId, setup, async (writer) => {
    const journal = setup.store.read(runId)
    const plan = acceptedPlan(journal, resumption, setup.line)
    const executesNothing = resumption.executesNothing === true
    const given = executesNothing ? [] : argumentsOf(journal, resumption.arguments ?? [])
    writer.append({ type: 'resumed', at: isoNow(setup), ...plan, ...recordOf(setup.confinement) })
    journal.plan = resumption.plan
    await resumption.prepare?.(journal, writer.append)
    endOrphans(interruptedKeys(journal))
    return await proceed(journal, given, setup, writer, executesNothing)
  })
}

export async function readResult(journal: RunJournal, clock: Runtime): Promise<RunResult> {
  const countsAbsence = journal.run.mode === 'stepper'
  const { runId, skill, server } = journal.run
  // A server records no approvals in advance; they end with the first part of the run.
  const yesGates = server !== undefined && journal.run.yesGates && journal.resumptions === 0
  const engine = createJournalEngine({ journal, clock, countsAbsence, yesGates })
  const { status, attempts, winner } = await runChain(journal.plan.root, engine)
  const unended = status === 'interrupted' || status === 'waiting'
  const known = journal.status
  // A server ends a run early whose results are too large.
  const isOver = known === 'cancelled' || (server !== undefined && isFinal(known))
  return {
    runId,
    skill,
    status: isOver && unended ? known : status,
    ...shownRun({ attempts }),
    winner,
  }
}

async function proceed(
  journal: RunJournal,
  given: readonly string[],
  setup: RunSetup,
  writer: RecordWriter,
  executesNothing = false,
): Promise<RunResult> {
  const { runId, skill, requireVerified } = journal.run
  const { runtime, settings, executors = [] } = setup
  const files = runFiles(dirname(journal.path), runId)
  // Between two reports no process of ours runs; the time passes all the same.
  const countsAbsence = journal.run.mode === 'stepper'
  const driven = countsAbsence ? [drivenExecutor(journal, runtime, setup.onHandOut)] : []
  const runner = createStepRunner({
    ...setup,
    runId,
    arguments: given,
    files,
    executors: [...driven, ...executors],
    requireVerified,
  })
  const { root } = journal.plan
  const steps = allSteps(root).length
  setup.onEvent?.({ type: 'run-started', runId, skill, steps, at: isoNow(setup) })
  const engine = createJournalEngine({
    ...setup,
    journal,
    writer,
    runner: executesNothing ? undefined : runner,
    clock: runtime,
    defaultTimeoutMs: settings.timeout * 1000,
    countsAbsence,
  })
  try {
    const { status, attempts, winner, ended } = await runChain(root, engine)
    const at = isoNow(setup)
    writer.append({ type: 'status', status, at })
    const left = ended === 'suspended' ? undefined : cleanUp(runId, files, root.policy.cleanupAfter)
    if (left) setup.onProblem?.(left)
    setup.onEvent?.({ type: 'run-finished', runId, status, at })
    return { runId, skill, status, ...shownRun({ attempts }), winner }
  } catch (error) {
    throw withResumeHint(error, journal, setup.line)
  } finally {
    await engine.idle()
  }
}

/** The plan to record where a run continues with a changed one. */
export function acceptedPlan(
  journal: RunJournal,
  { plan, command, force, refusesCancelled }: Resumption,
  line: RunLine,
): { plan?: Plan } {
  const { status } = journal
  const { runId } = journal.run
  refuseImported(journal)
  if (status === 'cancelled' && refusesCancelled) {
    throw new RunStateError(
      'run-cancelled',
      `the run ${runId} was cancelled by a user`,
      `A user can resume it: ${line('runs resume', runId)}`,
    )
  }
  refuseEnded(journal, line)
  const change = planChanged(journal, plan, command, line)
  if (!change) return {}
  if (!force) throw change
  return { plan }
}

/** Throws {@link RunStateError} for a run that was written elsewhere: nothing in it is an order. */
export function refuseImported({ run }: RunJournal): void {
  if (!run.imported) return
  throw new RunStateError(
    'run-imported',
    `the run ${run.runId} was imported; it can only be shown`,
    `Start its skill again: skillrail run ${run.skill}`,
  )
}

function refuseEnded({ run, status }: RunJournal, line: RunLine = runLine): void {
  if (!isFinal(status)) return
  throw new RunStateError(
    'run-ended',
    `the run ${run.runId} has ended: ${status}`,
    `${line('runs show', run.runId)} shows it; ${line('runs retry', run.runId)} repeats what failed.`,
  )
}

/** Steps that began and have no result: they were running when the run was interrupted. */
function interruptedKeys(journal: RunJournal): Set<string> {
  const open = [...journal.started.keys()].filter((key) => !journal.done.has(key))
  return new Set(open.map((key) => `${journal.run.runId}/${key}`))
}

function isoNow(setup: RunSetup): string {
  return new Date(setup.runtime.now()).toISOString()
}

async function withJournal(
  runId: string,
  { store, onProblem, line }: RunSetup,
  work: (writer: RecordWriter) => Promise<RunResult>,
): Promise<RunResult> {
  const path = store.pathOf(runId)
  const locked = async (): Promise<RunResult> => {
    const journal = store.open(runId)
    try {
      const writer = createRecordWriter(journal)
      const result = await work(writer).finally(() => writer.append())
      const fileState = journal.fileState()
      if (fileState !== 'whole') onProblem?.(journalLost(path, runId, fileState))
      return result
    } finally {
      journal.close()
    }
  }
  return await alone(store, runId, locked, line)
}

/** An error that stops a run where it is, with the command that continues. Any other stays what it is. */
function withResumeHint(error: unknown, { run }: RunJournal, line: RunLine) {
  if (!(error instanceof StateFileError || error instanceof RunFilesError)) return error
  const { code, message } = error
  const command = run.mode === 'stepper' ? 'chain next' : 'runs resume'
  const hint = `${error.hint ?? ''} Then run: ${line(command, run.runId)}`.trim()
  const cause = error
  return error instanceof StateFileError
    ? new StateFileError({ code, message, hint, cause })
    : new RunFilesError(code, message, hint, { cause })
}

/** A step can delete or change the journal; the run ends all the same. */
function journalLost(path: string, runId: string, state: 'gone' | 'changed'): Diagnostic {
  return {
    code: `journal-${state}`,
    severity: 'warning',
    message: `the journal of the run ${runId} was deleted or changed while it ran`,
    path,
    hint: 'A step or another program changes files of runs.',
  }
}

/** Removes the files of a run that has ended: those of its steps, or all but the logs. */
export function cleanUp(runId: string, files: RunFiles, all: boolean): Diagnostic | undefined {
  const path = dirname(files.scratch)
  try {
    removeTree(files.steps)
    if (all) removeTree(existsSync(files.logs) ? files.scratch : path)
    return undefined
  } catch (error) {
    return {
      code: 'run-files-left',
      severity: 'warning',
      message: `files of the run ${runId} could not be removed: ${reasonOf(error)}`,
      path,
      hint: 'Delete them when no program writes there any more.',
    }
  }
}

/**
 * Why a run cannot continue the plan as it is now; undefined where the plan is the same. A change
 * of trust alone is reported as such. `command` continues the run: `resume`, or `approve` where it
 * waits.
 */
export function planChanged(
  journal: RunJournal,
  now: Plan,
  command: 'resume' | 'approve' = 'resume',
  line: RunLine,
): ChainError | undefined {
  const { run, plan: before, status } = journal
  const { runId } = run
  if (now.digest === before.digest) return undefined
  // A run that waits on a server keeps the plan that it was given.
  const isHeld = run.server !== undefined && status === 'waiting'
  const first = isHeld ? `After ${line('runs cancel', runId)}: ` : ''
  const force = line('runs resume', runId, ['--force'])
  if (withoutTrust(before.root) === withoutTrust(now.root)) {
    const wasTrusted = wholeChain(before.root).every(({ trust }) => trust === 'trusted')
    const trusting = line(`runs ${command}`, runId, ['--trust-workspace'])
    return new RunTrustError(
      'run-trust-changed',
      `only the trust of the skills of the run ${runId} has changed since it was planned`,
      wasTrusted
        ? `Run ${trusting}, or skillrail trust.`
        : `${first}${force} continues as they are now.`,
    )
  }
  const retry = line('runs retry', runId)
  const kept = new Set(gatesOf(now.root))
  const losesGates = gatesOf(before.root).some((step) => !kept.has(step))
  return new RunStateError(
    'plan-changed',
    `the skills of the run ${runId} were changed since it was planned`,
    losesGates
      ? `Put back the gates that were removed, or make a new run: ${retry}`
      : `${first}${retry} reuses its successes; ${force} continues with the changed plan.`,
  )
}

function gatesOf(root: PlannedChain): string[] {
  return allSteps(root).flatMap(({ step, gate }) => (gate ? [step] : []))
}

function withoutTrust(root: PlannedChain): string {
  const isTrust = (key: string) => key === 'trust' || key === 'sandboxed'
  return JSON.stringify(root, (key, value: unknown) => (isTrust(key) ? undefined : value))
}

/** How long a run may take to end its processes: 2 s until KILL, and what it writes then. */
const patienceMs = 10_000

/**
 * Cancels a run: the process that executes it is interrupted (as by Ctrl-C), then the journal says
 * that the run was cancelled. It can still be resumed. Throws {@link RunStateError} when it has
 * ended, {@link RunBusyError} when the process is on another machine or does not end.
 */
export async function cancelRun(store: RunStore, runId: string, clock: Runtime): Promise<void> {
  const path = store.pathOf(runId)
  store.read(runId)
  const isHere = (): boolean => lockHolder(path)?.host === hostname()
  const pid = lockHolder(path)?.pid
  if (isHere() && pid !== undefined) interrupt(pid)
  for (let waited = 0; waited < patienceMs && isHere(); waited += 50) await sleep(50)
  await alone(store, runId, () => {
    const journal = store.read(runId)
    refuseImported(journal)
    refuseEnded(journal)
    const at = new Date(clock.now()).toISOString()
    store.append(runId, { type: 'status', status: 'cancelled', at })
  })
}

function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT')
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
  }
}
