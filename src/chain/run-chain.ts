import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { type Diagnostic, reasonOf, StateFileError } from '#core/errors'
import { sha256 } from '#core/json'
import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { endOrphans } from '#exec/process-group'
import {
  drivenExecutor,
  recordOf,
  type Refusal,
  type RunConfinement,
  runFiles,
  type RunFiles,
} from './executors.ts'
import { runChain } from './attempt.ts'
import type { EventListener, Executor, RunResult, TaskCall } from './engine.ts'
import { acceptedPlan, type Resumption } from './continuation.ts'
import { RunFilesError } from './errors.ts'
import { createJournalEngine } from './journal-engine.ts'
import {
  type ApprovalRecord,
  approvedInAdvance,
  type ChainRecord,
  createRecordWriter,
  type DoneRecord,
  type GateRecord,
  journalVersion,
  type RecordedTree,
  type RecordWriter,
  type RunJournal,
  runJournalOf,
  type RunRecord,
} from './run-journal.ts'
import { allSteps, type Plan, requiresVerified } from './plan-model.ts'
import { argumentsOf, redactedArguments, type RunLine } from './run-line.ts'
import { removeTree, type RunStore, withRunLock } from './run-store.ts'
import { isFinal, shownRun } from './step-result.ts'
import { StepRunner } from './step-runner.ts'

/**
 * Everything that executes a run, besides the run itself. Each command creates one with `runSetup`
 * (src/project/run-setup.ts), and both engines use it.
 */
export interface RunSetup {
  runtime: Runtime
  /** The real path of the project, where scripts run. */
  workspace: string
  /** The journals of the project. */
  store: RunStore
  settings: Settings['run']
  /** Execute the steps without a script. A stepper run needs none. */
  executors: readonly Executor[]
  /** Where untrusted scripts run; undefined if the plan has none. */
  confinement: RunConfinement | undefined
  /** Returns, right before a step, why the skill in a directory must not be executed any more. */
  refusalOf: ((directory: string) => Refusal | undefined) | undefined
  /** Whether the caller approves every gate of a new run in advance. */
  yesGates: boolean
  /** Whether a key in the user's list signed an approval. By default, no signature counts. */
  isSigned?: ((runId: string, gate: GateRecord, decision: ApprovalRecord) => boolean) | undefined
  /** Returns the working tree at the end of a step and of the run, for a proof. */
  readTree?: (() => RecordedTree | undefined) | undefined
  /** Interrupts the run: ends the processes of its steps. A resume repeats those steps. */
  signal: AbortSignal
  /** How hints write a command line for the user. */
  line: RunLine
  /** Receives the events of the run; undefined if nobody reads them. */
  onEvent: EventListener | undefined
  /** Receives problems with the files of the run that do not change its result. */
  onProblem: (problem: Diagnostic) => void
  /** Called for each step that is handed out to an agent. */
  onHandOut?: ((call: TaskCall) => void) | undefined
}

/** Starts a run on this machine: locks its journal, then executes its plan. */
export async function startRun(run: NewRun, setup: RunSetup): Promise<RunResult> {
  const runId = setup.runtime.id()
  return await withJournal(runId, setup, async (writer) => {
    const journal = beginJournal(runId, run, setup, writer)
    return await execute({ journal, writer, arguments: run.arguments }, setup)
  })
}

/** Records a run that {@link resumeRun} executes later. Returns its ID. */
export async function recordRun(run: NewRun, setup: RunSetup): Promise<string> {
  const runId = setup.runtime.id()
  await withJournal(runId, setup, (writer) => beginJournal(runId, run, setup, writer))
  return runId
}

/** Continues a run on this machine: locks its journal, then executes the steps without a result. */
export async function resumeRun(resumption: Resumption, setup: RunSetup): Promise<RunResult> {
  const { runId, executesNothing = false } = resumption
  setup.store.read(runId)
  return await withJournal(runId, setup, async (writer) => {
    const journal = setup.store.read(runId)
    const planChange = acceptedPlan(journal, resumption, setup.line)
    const words = executesNothing ? [] : argumentsOf(journal, resumption.arguments ?? [])
    writer.append({
      type: 'resumed',
      at: isoNow(setup),
      ...planChange,
      ...recordOf(setup.confinement),
    })
    journal.plan = resumption.plan
    await resumption.prepare?.(journal, writer.append)
    endOrphans(interruptedKeys(journal))
    return await execute({ journal, writer, arguments: words, executesNothing }, setup)
  })
}

/** A run whose journal this process has locked. */
interface LockedRun {
  journal: RunJournal
  writer: RecordWriter
  arguments: readonly string[]
  /** Applies recorded decisions, and executes no step. */
  executesNothing?: boolean
}

/** Makes the step runner and the engine, and executes the plan with them. */
async function execute(
  { journal, writer, arguments: words, executesNothing = false }: LockedRun,
  setup: RunSetup,
): Promise<RunResult> {
  const { runId, skill, mode, requireVerified } = journal.run
  const { runtime, workspace, settings, confinement, refusalOf, signal, onEvent } = setup
  const { root } = journal.plan
  distrustUnsigned(journal, setup)
  const files = runFiles(dirname(journal.path), runId)
  const isStepper = mode === 'stepper'
  const drivenExecutors = isStepper ? [drivenExecutor(journal, runtime, setup.onHandOut)] : []
  const runner = new StepRunner({
    runId,
    workspace,
    files,
    sharesFiles: true,
    arguments: words,
    requireVerified,
    runtime,
    settings,
    executors: [...drivenExecutors, ...setup.executors],
    confinement,
    refusalOf,
  })
  const engine = createJournalEngine({
    journal,
    writer,
    runner: executesNothing ? undefined : runner,
    clock: runtime,
    signal,
    onEvent,
    yesGates: approvedInAdvance(journal),
    readTree: stepTrees(setup),
    defaultTimeoutMs: settings.timeout * 1000,
    // No process runs between two reports, but the time counts.
    countsAbsence: isStepper,
  })
  const steps = allSteps(root).length
  onEvent?.({ type: 'run-started', runId, skill, steps, at: isoNow(setup) })
  try {
    const { status, attempts, winner, ended } = await runChain(root, engine)
    const tree = isFinal(status) ? setup.readTree?.() : undefined
    const at = isoNow(setup)
    writer.append({ type: 'status', status, at, tree })
    const problem =
      ended === 'suspended' ? undefined : cleanUp(runId, files, root.policy.cleanupAfter)
    if (problem) setup.onProblem(problem)
    onEvent?.({ type: 'run-finished', runId, status, at })
    return { runId, skill, status, ...shownRun({ attempts }), winner }
  } catch (error) {
    throw withResumeHint(error, journal, setup.line)
  } finally {
    await engine.idle()
  }
}

/** Reads the tree after each step, until that once takes too long or fails. */
function stepTrees({ readTree, runtime }: RunSetup): () => string | undefined {
  let isGivenUp = false
  return () => {
    if (isGivenUp) return undefined
    const begin = runtime.elapsed()
    const tree = readTree?.()
    const isRead = tree !== undefined && 'tree' in tree
    isGivenUp = !isRead || runtime.elapsed() - begin > maxTreeMs
    return isRead ? tree.tree : undefined
  }
}

/** A step that waited longer for its record would be slower than users accept. */
const maxTreeMs = 2000

/** Lowers the strength of an approval with an invalid signature: a journal can claim to be signed. */
function distrustUnsigned({ run, approvals, gates }: RunJournal, { isSigned }: RunSetup): void {
  for (const [key, decision] of approvals) {
    if (decision.strength !== 'signed') continue
    const gate = gates.get(key)
    if (gate && isSigned?.(run.runId, gate, decision) === true) continue
    approvals.set(key, { ...decision, strength: 'unknown' })
  }
}

/** Returns the result of a run from its journal. Executes nothing, but changes the journal in memory. */
export async function readResult(journal: RunJournal, clock: Runtime): Promise<RunResult> {
  const countsAbsence = journal.run.mode === 'stepper'
  const { runId, skill, server } = journal.run
  const yesGates = approvedInAdvance(journal)
  const engine = createJournalEngine({ journal, clock, countsAbsence, yesGates })
  const { status, attempts, winner } = await runChain(journal.plan.root, engine)
  const isOpenHere = status === 'interrupted' || status === 'waiting'
  const recordedStatus = journal.status
  // A server ends a run early if its results are too large.
  const isOver = recordedStatus === 'cancelled' || (server !== undefined && isFinal(recordedStatus))
  return {
    runId,
    skill,
    status: isOver && isOpenHere ? recordedStatus : status,
    ...shownRun({ attempts }),
    winner,
  }
}

/** A run to start, with the plan that was accepted. */
export interface NewRun extends Pick<
  RunRecord,
  'arguments' | 'mode' | 'request' | 'requireVerified' | 'origin' | 'removedGates' | 'rail'
> {
  plan: Plan
  /** Results of another run, whose steps are not executed again. */
  reused?: readonly DoneRecord[] | undefined
}

function beginJournal(
  runId: string,
  run: NewRun,
  setup: RunSetup,
  writer: RecordWriter,
): RunJournal {
  const header = { ...headerOf(runId, run, setup), ...recordOf(setup.confinement) }
  const records: readonly ChainRecord[] = [header, ...(run.reused ?? [])]
  try {
    writer.append(...records)
  } catch (error) {
    // Nothing has happened yet, so nothing is kept.
    setup.store.remove(runId)
    throw error
  }
  return runJournalOf(setup.store.pathOf(runId), runId, records)
}

/** The first record of a run. */
export function headerOf(runId: string, run: NewRun, setup: RunSetup): RunRecord {
  const { plan, mode, requireVerified, request, origin, removedGates, rail } = run
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
    requireVerified: requireVerified || requiresVerified(plan),
    request,
    plan,
    origin,
    removedGates,
    rail,
  }
}

/** The steps that were running when the run was interrupted, so they have no result. */
function interruptedKeys(journal: RunJournal): Set<string> {
  const open = [...journal.started.keys()].filter((key) => !journal.done.has(key))
  return new Set(open.map((key) => `${journal.run.runId}/${key}`))
}

function isoNow(setup: RunSetup): string {
  return new Date(setup.runtime.now()).toISOString()
}

async function withJournal<T>(
  runId: string,
  { store, onProblem, line }: RunSetup,
  work: (writer: RecordWriter) => T | Promise<T>,
): Promise<T> {
  const path = store.pathOf(runId)
  const lockedWork = async (): Promise<T> => {
    const journal = store.open(runId)
    const writer = createRecordWriter(journal)
    try {
      const result = await withDeferredRecords(writer, work)
      const fileState = journal.fileState()
      if (fileState !== 'whole') onProblem(journalLost(path, runId, fileState))
      return result
    } finally {
      journal.close()
    }
  }
  return await withRunLock(store, runId, lockedWork, line)
}

/** Writes the deferred records, even if the work fails. */
async function withDeferredRecords<T>(
  writer: RecordWriter,
  work: (writer: RecordWriter) => T | Promise<T>,
): Promise<T> {
  try {
    return await work(writer)
  } finally {
    writer.append()
  }
}

/** Adds the command that continues the run to an error about its files. Returns other errors unchanged. */
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

/** A step can delete or change the journal, which does not end the run. */
function journalLost(path: string, runId: string, state: 'gone' | 'changed'): Diagnostic {
  return {
    code: `journal-${state}`,
    severity: 'warning',
    message: `the journal of the run ${runId} was deleted or changed while it ran`,
    path,
    hint: 'A step or another program changes files of runs.',
  }
}

/** Removes the step files of a run that has ended. With `all`, removes everything except the logs. */
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
