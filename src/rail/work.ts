import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadConfiguration } from '#core/configuration'
import { compareText, messageOf, SkillrailError } from '#core/errors'
import { acquireFileLock, isOnThisMachine, lockHolder } from '#core/file-lock'
import { poll } from '#core/poll'
import type { Runtime } from '#core/runtime'
import type { StepOutput } from '#exec/output-protocol'
import { ChainPlanError, RunBusyError, RunStateError } from '#chain/errors'
import { planChanged } from '#chain/continuation'
import { readResult } from '#chain/run-chain'
import { isFinal, statusOfRun } from '#chain/step-result'
import { allSteps, type Plan, type PlannedStep, wholeChain } from '#chain/plan-model'
import { guardsIn, isSameChain } from '#trust/accepted-guards'
import { alwaysGuardingIn } from '#project/always-guards'
import { type ChainProject, openProject, type RunContext, usablePlan } from '#project/chains'
import { cancelOn } from '#project/engines'
import { type ConfirmedReport, confirmReport } from '#project/confirm-step'
import { requiredGate } from '#project/gates'
import { stepsOnOtherFiles } from '#project/step-trees'
import {
  continuedRun,
  nextSteps,
  usableByModel,
  planForStepper,
  endedSteps,
  recordSteps,
  reportAboutStep,
  standingOfSteps,
  type StepperResult,
  type StepperRun,
  stepperRequest,
  contentOfStep,
  textOfStep,
} from '#project/stepper'
import type { RailAnswer } from '#hooks/rail-hook'
import { decideAtGate } from './approval.ts'
import { changedFiles, filesOfChecks } from './check-files.ts'
import { clientVersion } from './client-version.ts'
import { isForTurnEnd, type RailRequest, type RequestOf } from './request.ts'
import { guardsOf } from './open-guards.ts'
import { sha256 } from '#core/json'
import { adapters } from '#hooks/adapters'
import { countCalls } from '#hooks/given'
import { guardedCalls } from '#skill/guard-words'
import { railPath } from './place.ts'
import * as say from './texts.ts'
import {
  type AskedGate,
  addRail,
  changeRail,
  hasNoOpenRail,
  type RailSession,
  type RailStep,
  readRail,
  type Verdict,
} from './session.ts'
import { forgetStart } from './starting.ts'
import { isDecidedElsewhere, waitingGateIn } from './terminal-decision.ts'
import type { RailDecision } from './words.ts'
import { changedBetween, treeDigest, treeTimes } from './working-tree.ts'

/** The state of the hook that started this process. */
export interface Waiting {
  /** Aborted if a user ends the current check. */
  signal: AbortSignal
  /** Whether the hook cannot take the answer any more. */
  isLate(): boolean
}

/** Does the work of one request, while no other process works on the session's rail. */
export async function answerRequest(
  request: RailRequest,
  runtime: Runtime,
  waiting: Waiting,
): Promise<RailAnswer | undefined> {
  let release: (() => void) | undefined
  try {
    const answer = request.kind === 'word' ? answerAtOnce(request, runtime) : undefined
    if (answer) return answer
    release = await lockRail(runtime, request.session)
    if (!release) return busy(request)
    if (request.kind === 'start') return await startRail(request, runtime)
    const reading = readRail(runtime, request.session)
    if (reading.kind !== 'rail') return undefined
    const { rail } = reading
    if (request.kind === 'turn-end') return await endTurn(request, rail, runtime, waiting)
    if (request.kind === 'deliver') return await deliver(rail, runtime, waiting)
    if (request.kind === 'word') return await obey(request, rail, runtime)
    if (request.kind === 'agreed') return await approveByQuestion(request, rail, runtime)
    if (request.kind === 'decided') return await followDecision(request, rail, runtime)
    return await recall(rail, runtime)
  } catch (error) {
    const reading = readRail(runtime, request.session)
    if (request.kind === 'start' && hasNoOpenRail(reading)) {
      return notStarted(error, request, runtime)
    }
    return failed(error, request, runtime)
  } finally {
    if (request.kind === 'start') forgetStart(runtime, request.session)
    release?.()
  }
}

function busy(request: RailRequest): RailAnswer {
  const tell = 'Another process still works on this rail. Try again when it is done.'
  return isForTurnEnd(request) ? { kind: 'tell', tell } : { kind: 'context', text: tell, tell }
}

/** Answers a decision that does not wait for a check, such as `pause`. */
function answerAtOnce(
  { word, session, event }: RequestOf<'word'>,
  runtime: Runtime,
): RailAnswer | undefined {
  const reading = readRail(runtime, session)
  if (reading.kind !== 'rail') return undefined
  const { rail } = reading
  switch (word.word) {
    case 'pause': {
      const reason = 'You paused it. Its guards still apply. Type `rail resume` to continue.'
      note(runtime, rail, { standing: 'paused', reason })
      endCheck(rail, runtime)
      if (event === 'turn-end') return { kind: 'tell', tell: reason }
      return { kind: 'context', text: `The user paused the chain. ${reason}`, tell: reason }
    }
    case 'resume':
    case 'retry':
    case 'accept':
    case 'stop':
      endCheck(rail, runtime)
      return undefined
    case 'approve':
    case 'reject':
      return undefined
  }
}

/** Ends the process that checks the current step, so that nothing counts as done. */
function endCheck({ session, standing }: RailSession, runtime: Runtime): void {
  const holder = standing === 'checking' ? lockHolder(railPath(runtime, session)) : undefined
  if (!holder || !isOnThisMachine(holder)) return
  try {
    process.kill(holder.pid, 'SIGTERM')
  } catch {} // The process has just ended.
}

const lockPatienceMs = 10_000

async function lockRail(runtime: Runtime, session: string): Promise<(() => void) | undefined> {
  const path = railPath(runtime, session)
  const lock = (): false | (() => void) => {
    const attempt = acquireFileLock(path)
    return attempt.ok && attempt.release
  }
  return await poll(lock, { everyMs: 50, patienceMs: lockPatienceMs })
}

/** Nothing counts as done: the rail keeps its state, and the user learns why. */
function failed(error: unknown, request: RailRequest, runtime: Runtime): RailAnswer | undefined {
  const why = reasonOf(error)
  const reading = readRail(runtime, request.session)
  // The process of the terminal in which the user decided still works on the run.
  if (request.kind === 'decided' && error instanceof RunBusyError) return busy(request)
  // A word that does not fit the chain's state changes nothing.
  if (request.kind === 'word' && error instanceof RunStateError) {
    const waits = reading.kind === 'rail' && error.code === 'no-gate-waits' && reading.rail.waiting
    const instead = waits ? `${messageOf(error)}. ${reading.rail.reason}` : why
    const tell = `\`rail ${request.word.word}\` changed nothing: ${instead}`
    if (request.event === 'turn-end') return { kind: 'tell', tell }
    return { kind: 'context', text: `${tell} Tell the user so, and end your turn.`, tell }
  }
  const reason = `The chain cannot continue: ${why} When that is fixed, type \`rail retry\`; \`rail stop\` gives up the chain.`
  const isNoted = reading.kind === 'rail' && noteStuck(runtime, reading.rail, reason)
  if (!isForTurnEnd(request)) {
    return { kind: 'context', text: `${reason} Tell the user.`, tell: reason }
  }
  // Where the agent says the line, an end of a turn without a record would be answered again and again.
  const isShown = reading.kind === 'rail' && adapters[reading.rail.client].tell !== undefined
  return isNoted || isShown ? { kind: 'tell', tell: reason } : undefined
}

function reasonOf(error: unknown): string {
  const hint = error instanceof SkillrailError && error.hint !== undefined ? ` ${error.hint}` : ''
  return `${messageOf(error)}.${hint}`
}

/**
 * A chain that a user or the agent has called did not start. Its guards apply in the session until it starts: the agent may
 * do its steps without it.
 */
function notStarted(error: unknown, request: RequestOf<'start'>, runtime: Runtime): RailAnswer {
  const { name } = request.chain
  const begin = `The chain \`${name}\` did not start as a rail: ${reasonOf(error)}`
  const problems = error instanceof ChainPlanError ? say.problemsText(name, error.diagnostics) : ''
  const guards = guardWithoutStart(request, runtime, `${begin}${problems}`)
  const tell = `${begin}${problems}${guards}`
  return { kind: 'context', text: `${tell} Tell the user; do not do its steps.`, tell }
}

/** Records the guards of a chain that did not start, and returns what they deny, as the end of a message. */
function guardWithoutStart(
  { session, client, chain, turn, clientProcess }: RequestOf<'start'>,
  runtime: Runtime,
  why: string,
): string {
  try {
    // The guards of a chain that failed before apply on, and the user ends them.
    if (readRail(runtime, session).kind === 'rail') return ''
    const project = openRailProject(runtime)
    const { workspace, context } = project
    if (context.settings.rail.start === 'never') return ''
    const { plan } = planForStepper(project, dirname(chain.path))
    const guards = guardsOf(plan.root, undefined, undefined)
    if (guards.length === 0) return ''
    const text = ` ${say.keptText({ chain: chain.name, client }, guards)}`
    const rail: RailSession = {
      version: 1,
      session,
      client,
      workspace,
      runId: '',
      chain: chain.name,
      standing: 'failed',
      reason: `${why}${text}`,
      steps: allSteps(plan.root).map(({ step }) => step),
      guards,
      checkFiles: {},
      turn: { id: turn, receivedStep: false, worked: false, blocks: 0 },
      clientProcess,
      sequence: 0,
    }
    return addRail(runtime, rail) ? text : ''
  } catch (error) {
    return ` Nothing is guarded, because its guards cannot be read or recorded: ${messageOf(error)}.`
  }
}

function noteStuck(runtime: Runtime, rail: RailSession, reason: string): boolean {
  try {
    note(runtime, rail, { standing: 'stuck', reason })
    return true
  } catch {
    return false
  }
}

type Decided =
  | 'standing'
  | 'reason'
  | 'step'
  | 'guards'
  | 'sequence'
  | 'pending'
  | 'gate'
  | 'waiting'
  | 'isForgotten'
  | 'tasks'
  | 'givenAt'

/** Writes the decisions of this process. Hooks may have changed the rest of the state meanwhile. */
function note(
  runtime: Runtime,
  { session, standing }: RailSession,
  changes: Partial<Pick<RailSession, Decided>>,
): void {
  changeRail(runtime, session, (now) => {
    // A new pause lasts until the user ends it.
    const isPaused = now.standing === 'paused' && standing !== 'paused'
    const pause = isPaused ? { standing: now.standing, reason: now.reason } : {}
    return { ...now, ...changes, ...pause }
  })
}

/** Opens a project for work in the background, without notes and diagnostics. */
function openRailProject(runtime: Runtime, signal = new AbortController().signal): ChainProject {
  const { settings } = loadConfiguration(runtime)
  const context: RunContext = {
    runtime,
    settings,
    signal,
    globals: { trustWorkspace: false },
    note: () => undefined,
    diagnose: () => undefined,
    emit: () => undefined,
  }
  return openProject(context)
}

async function startRail(
  request: RequestOf<'start'>,
  runtime: Runtime,
): Promise<RailAnswer | undefined> {
  const { session, client, chain, words, requireVerified, byModel, turn, clientProcess } = request
  const earlier = readRail(runtime, session)
  const keepsGuards = earlier.kind === 'rail' && earlier.rail.standing === 'failed'
  if (!hasNoOpenRail(earlier) || (byModel && keepsGuards)) return undefined
  const project = openRailProject(runtime)
  if (project.context.settings.rail.start === 'never') return undefined
  const planned = planForStepper(project, dirname(chain.path))
  const plan = byModel ? await usableByModel(project, planned) : await usablePlan(project, planned)
  const always = alwaysGuardsOf(project, plan)
  const run = await recordSteps(project, {
    plan,
    arguments: words,
    request: stepperRequest(planned),
    requireVerified,
    rail: { client, version: clientVersion(client, { ...request, env: runtime.env }) },
  })
  const rail: RailSession = {
    version: 1,
    session,
    client,
    workspace: project.workspace,
    runId: run.runId,
    journal: project.store.pathOf(run.runId),
    chain: plan.skill,
    standing: 'running',
    reason: '',
    always,
    steps: allSteps(plan.root).map(({ step }) => step),
    guards: guardsOf(plan.root, undefined, undefined),
    checkFiles: filesOfChecks(plan.root, project.workspace),
    turn: { id: turn, receivedStep: false, worked: false, blocks: 0 },
    clientProcess,
    kept: request.kept,
    sequence: 0,
  }
  if (!addRail(runtime, rail)) return undefined
  const result = await continueRun(project, run)
  return handOn(project, run, rail, result, { event: 'prompt', isFirst: true })
}

/**
 * Returns the chains of a plan with guards that always apply.
 *
 * @throws {ChainPlanError} if one differs from the chain with the guards that a user accepted
 */
function alwaysGuardsOf(
  { context, workspace }: ChainProject,
  { root }: Plan,
): RailSession['always'] {
  const chains = alwaysGuardingIn(root)
  const records = guardsIn(context.runtime, [workspace])
  for (const record of records) {
    if (record.kind === 'unreadable') {
      throw new ChainPlanError(
        'guards-unreadable',
        `the guards that a user accepted cannot be read: ${record.path}: ${record.reason}`,
        'To accept the chains again, which writes that file anew: skillrail trust',
      )
    }
    for (const accepted of record.chains) {
      const subject = { workspace: record.workspace, path: accepted.path }
      const now = wholeChain(root).find(({ path }) => isSameChain(subject, { workspace, path }))
      const chain = chains.find(({ chain: { path } }) => path === now?.path)?.chain
      if (now === undefined || chain?.digest === accepted.digest) continue
      throw new ChainPlanError(
        'guards-changed',
        `the chain ${accepted.name} differs from the one whose guards a user accepted`,
        'To see what changed and accept it: skillrail trust',
      )
    }
  }
  return chains.map(({ chain: { path }, prefix }) => ({ path, prefix }))
}

interface Delivery {
  /** At the end of a turn a block keeps the agent working; at a prompt the agent gets a context. */
  event: 'prompt' | 'turn-end'
  isFirst?: boolean
  /** The earlier result, in a sentence for the agent. */
  news?: string | undefined
}

/** Records the state of the run, and returns it for the agent and the user. */
async function handOn(
  project: ChainProject,
  run: StepperRun,
  rail: RailSession,
  { next: [next] = [], waiting, result }: StepperResult,
  delivery: Delivery,
): Promise<RailAnswer> {
  const { runtime } = project.context
  const sequence = rail.sequence + 1
  if (next) {
    const planned = stepNamed(run.plan, next.step)
    const step = railStep(planned, next.step, next.attempt)
    const guards = guardsOf(run.plan.root, project.store.read(run.runId), next.step)
    const text = say.stepText({ rail, planned, next, guards, delivery })
    note(runtime, rail, {
      standing: 'working',
      reason: '',
      step,
      guards,
      gate: undefined,
      waiting: undefined,
      isForgotten: undefined,
      tasks: undefined,
      givenAt: countCalls(runtime, rail.session, false),
      sequence,
      pending: text,
    })
    return delivery.event === 'prompt' ? { kind: 'context', text } : { kind: 'block', reason: text }
  }
  const guards = guardsOf(run.plan.root, project.store.read(run.runId), undefined)
  if (waiting) {
    const { step: name } = waiting
    const planned = stepNamed(run.plan, name)
    const required = requiredGate(planned?.gate, project.context.settings)
    const gate = required === 'attended' ? askedGate(project, run, rail, name) : undefined
    const journal = project.store.read(rail.runId)
    const reached = await readResult(journal, runtime)
    const reason = say.gateText(rail, {
      step: name,
      required,
      gate,
      rework: planned?.rework,
      onOtherFiles: stepsOnOtherFiles(project, journal, reached),
    })
    const pending = gate && say.askingText(rail, gate, textOfStep(project, run, name))
    const waitingGate = waitingGateIn(project.store.pathOf(rail.runId), name)
    const at = { standing: 'approval', step: undefined, gate, pending } as const
    note(runtime, rail, { ...at, waiting: waitingGate, reason, guards, sequence })
    return toUser(reason, delivery)
  }
  if (result && isFinal(result.status)) {
    const kept = result.status === 'success' ? [] : [...guards, ...(rail.kept?.guards ?? [])]
    const reason = say.endText(rail, result, kept)
    const standing = kept.length === 0 ? 'ended' : 'failed'
    note(runtime, rail, { ...closed, standing, reason, guards: kept, sequence })
    return toUser(reason, delivery)
  }
  const reason = `The run ${rail.runId} was interrupted. Type \`rail resume\`.`
  note(runtime, rail, { standing: 'stuck', reason, step: undefined, guards, sequence })
  return toUser(reason, delivery)
}

/** A rail after the end of its chain. */
const closed = {
  step: undefined,
  pending: undefined,
  gate: undefined,
  waiting: undefined,
  tasks: undefined,
} as const

/** What the client can ask about, if it can ask and a guarded call belongs to the step. */
function askedGate(
  { store }: ChainProject,
  { runId, plan }: StepperRun,
  rail: RailSession,
  step: string,
): AskedGate | undefined {
  if (adapters[rail.client].ask === undefined) return undefined
  const journal = store.read(runId)
  const guards = guardsOf(plan.root, journal, step)
  const calls = guards.flatMap((guard) => (guard.isOpen ? guardedCalls(guard.calls) : []))
  if (calls.length === 0) return undefined
  return { step, question: say.questionText(rail, step, calls, journal), guards, calls: [] }
}

/** Returns a line for the user; in clients that cannot show one, the agent says it. */
function toUser(line: string, { event, news }: Delivery): RailAnswer {
  const tell = news === undefined ? line : `${news} ${line}`
  return event === 'turn-end'
    ? { kind: 'tell', tell }
    : { kind: 'context', text: `${tell} Tell the user so, and end your turn.`, tell }
}

function stepNamed(plan: Plan, name: string): PlannedStep | undefined {
  return allSteps(plan.root).find(({ step }) => step === name)
}

/** How often a failed check keeps the agent at a step. */
const defaultMaxBlocks = 3

function railStep(planned: PlannedStep | undefined, step: string, attempt: number): RailStep {
  return {
    step,
    attempt,
    hasCheck: planned?.check !== undefined || planned?.verify !== undefined,
    failedChecks: 0,
    maxBlocks: planned?.maxBlocks ?? defaultMaxBlocks,
    askedForReport: false,
    tools: planned?.tools,
  }
}

async function endTurn(
  { message }: RequestOf<'turn-end'>,
  rail: RailSession,
  runtime: Runtime,
  waiting: Waiting,
): Promise<RailAnswer | undefined> {
  const { step, pending } = rail
  // The agent has not seen this text yet, so the step cannot be done.
  if (pending !== undefined) {
    // Each end of a turn is handled once. A later end of the same turn is a new one.
    note(runtime, rail, { sequence: rail.sequence + 1 })
    return { kind: 'block', reason: pending }
  }
  const project = openRailProject(runtime, waiting.signal)
  const run = await openRun(project, rail)
  if (!step || !(await isHanded(project, rail, step))) {
    const result = await continueRun(project, run)
    return handOn(project, run, rail, result, { event: 'turn-end' })
  }
  const { claim } = step
  if (claim?.status === 'question') {
    const reason = `The agent waits for your answer: ${claim.result}`
    const rested = { ...step, claim: undefined }
    note(runtime, rail, { standing: 'question', reason, step: rested })
    return { kind: 'tell', tell: reason }
  }
  const output = reportedOutput(step, message)
  if (output.status !== 'success') return await report(project, run, rail, { step, output })
  const job = { project, run, rail, step, waiting, event: 'turn-end' } as const
  if (step.verdict) return await conclude(job, step.verdict)
  if (step.hasCheck) return await check(job, message)
  if (claim || step.askedForReport) return await report(project, run, rail, { step, output })
  const asked = { ...step, askedForReport: true }
  const sequence = rail.sequence + 1
  note(runtime, rail, { step: asked, sequence })
  return { kind: 'block', reason: say.reportText(rail, step) }
}

/** Whether the journal still waits for a report about the step: a process may have died after the report. */
async function isHanded(
  project: ChainProject,
  { runId }: RailSession,
  { step, attempt }: RailStep,
): Promise<boolean> {
  const { answer } = await standingOfSteps(project, project.store.read(runId))
  if (answer.kind !== 'next') return false
  return answer.next.some((one) => one.step === step && one.attempt === attempt)
}

async function openRun(project: ChainProject, rail: RailSession): Promise<StepperRun> {
  const journal = project.store.read(rail.runId)
  const run = await continuedRun(project, journal)
  // Before any check runs, because the change may concern the check.
  const changed = planChanged(journal, run.plan, 'resume', project.line)
  if (!changed) return run
  const hint = `Undo the change, or give up the run: ${project.line('runs cancel', rail.runId)}`
  throw new RunStateError(changed.code, changed.message, hint, { cause: changed })
}

function reportedOutput({ claim }: RailStep, message: string): StepOutput {
  const status = claim === undefined || claim.status === 'question' ? 'success' : claim.status
  return {
    status,
    result: claim?.result ?? say.shortMessage(message),
    errors: (claim?.errors ?? []).map((text) => ({ code: 'reported', message: text })),
    metrics: {},
    evidence: 'self-reported',
  }
}

/** The check of a step, which alone decides whether the step is done. */
interface CheckJob {
  project: ChainProject
  run: StepperRun
  rail: RailSession
  step: RailStep
  waiting: Waiting
  event: Delivery['event']
}

/** Runs the check. If no hook waits for the result any more, it is stored for the next event. */
async function check(job: CheckJob, message: string): Promise<RailAnswer | undefined> {
  const { project, rail, step, waiting } = job
  const { runtime } = project.context
  const running = { ...step, verdict: undefined }
  note(runtime, rail, { standing: 'checking', step: running })
  const { confirmed, tree } = await checkUnchanged(job, message)
  if (waiting.signal.aborted) {
    note(runtime, rail, { standing: 'working', step: running, sequence: rail.sequence + 1 })
    return undefined
  }
  const { output, log } = confirmed
  const why = output.errors.at(-1)?.message ?? 'the check failed'
  const verdict = { hasPassed: output.status === 'success', message, why, log, tree }
  if (!waiting.isLate()) return await apply(job, verdict)
  if (verdict.hasPassed && tree === 'unreadable') {
    const reason = say.unreadableTreeText(rail, step)
    note(runtime, rail, {
      standing: 'check-failed',
      reason,
      step: running,
      sequence: rail.sequence + 1,
    })
    return undefined
  }
  const checked = { ...step, verdict }
  note(runtime, rail, { standing: 'checked', step: checked, sequence: rail.sequence + 1 })
  return undefined
}

/**
 * Runs the check. If the hook is gone and files changed during the check, the check runs once more: the user,
 * or the agent in another turn, may have changed them. Files that change in both runs are the check's own.
 */
async function checkUnchanged(
  { project, run, step, waiting }: CheckJob,
  message: string,
): Promise<{ confirmed: ConfirmedReport; tree: string | undefined }> {
  const { workspace, context } = project
  const reported = reportedOutput(step, message)
  let before = treeTimes(workspace, context.runtime)
  let written: ReadonlySet<string> | undefined
  for (;;) {
    const confirmed = await confirmReport(project, run, step, reported)
    if (!waiting.isLate() || waiting.signal.aborted) return { confirmed, tree: undefined }
    const after = treeTimes(workspace, context.runtime)
    if (!before || !after) return { confirmed, tree: 'unreadable' }
    const changed = changedBetween(before, after)
    const isStable = [...changed].every((path) => written?.has(path))
    if (isStable) return { confirmed, tree: treeDigest(after) }
    if (written) return { confirmed, tree: 'changed' }
    written = changed
    before = after
  }
}

/** Uses the result of a check at a prompt. */
async function deliver(
  rail: RailSession,
  runtime: Runtime,
  waiting: Waiting,
): Promise<RailAnswer | undefined> {
  const { step } = rail
  if (!step?.verdict) return { kind: 'context', text: say.standingLine(rail) }
  const project = openRailProject(runtime, waiting.signal)
  const run = await openRun(project, rail)
  const job = { project, run, rail, step, waiting, event: 'prompt' } as const
  return await conclude(job, step.verdict)
}

/** Uses a check's result for the checked tree; for another tree the check runs again. */
async function conclude(job: CheckJob, verdict: Verdict): Promise<RailAnswer | undefined> {
  const { workspace, context } = job.project
  const now = verdict.tree === undefined ? undefined : treeTimes(workspace, context.runtime)
  const isSame = now !== undefined && treeDigest(now) === verdict.tree
  return isSame ? await apply(job, verdict) : await check(job, verdict.message)
}

async function apply(job: CheckJob, verdict: Verdict): Promise<RailAnswer> {
  const { project, run, rail, event } = job
  const { runtime } = project.context
  const step = { ...job.step, verdict: undefined }
  if (verdict.hasPassed) {
    const command = stepNamed(run.plan, step.step)?.check ?? ''
    const changed = changedFiles(command, rail.checkFiles, project.workspace)
    const passed = { ...reportedOutput(step, verdict.message), evidence: 'verified' as const }
    const output = changed.length === 0 ? passed : { ...passed, changedFiles: changed }
    return await report(project, run, rail, { step, output, isConfirmed: true, event })
  }
  const failedChecks = step.failedChecks + 1
  const again = { ...step, failedChecks, claim: undefined }
  const sequence = rail.sequence + 1
  const { why, log } = verdict
  if (failedChecks <= step.maxBlocks) {
    const reason = say.failedCheckText(rail, again, why, log)
    const tasks = rail.tasks === 'ignored' ? rail.tasks : undefined
    const next = { standing: 'working', reason: '', step: again, tasks } as const
    note(runtime, rail, { ...next, sequence, pending: reason })
    return event === 'prompt' ? { kind: 'context', text: reason } : { kind: 'block', reason }
  }
  const reason = say.givenUpText(rail, again, why)
  note(runtime, rail, { standing: 'check-failed', reason, step: again, sequence })
  return toUser(reason, { event })
}

async function report(
  project: ChainProject,
  run: StepperRun,
  rail: RailSession,
  {
    step,
    output,
    isConfirmed,
    event = 'turn-end',
  }: { step: RailStep; output: StepOutput; isConfirmed?: true; event?: Delivery['event'] },
): Promise<RailAnswer> {
  const about = { step: step.step, attempt: step.attempt, output, isConfirmed }
  const result = await reportAboutStep(project, run, about)
  const news = say.doneText(step.step, output)
  return handOn(project, run, rail, result, { event, news })
}

/** How a user decides with a word, which the hook passes on only from the client of the rail. */
const prompted = { channel: 'prompt', strength: 'prompted' } as const

/** Executes a user's decision. */
async function obey(
  { word, event }: RequestOf<'word'>,
  rail: RailSession,
  runtime: Runtime,
): Promise<RailAnswer> {
  switch (word.word) {
    case 'pause':
      return say.statusAnswer(rail)
    case 'resume':
      return await again(rail, event, runtime)
    case 'retry': {
      const answer = await again(rail, event, runtime)
      // The user wants the check now, whatever still runs.
      if (rail.tasks !== undefined) note(runtime, rail, { tasks: 'ignored' })
      return answer
    }
    case 'approve':
    case 'reject': {
      const project = openRailProject(runtime)
      const run = await openRun(project, rail)
      const decision =
        word.word === 'approve'
          ? ({ approved: true, step: word.step } as const)
          : ({ approved: false, step: word.step, why: word.why } as const)
      const result = await decideAtGate(project, run, decision, prompted)
      const why = decision.approved ? undefined : decision.why
      const news = say.decisionText(decision.approved, why)
      return handOn(project, run, rail, result, { event, news })
    }
    case 'accept':
      return await accept(word, rail, event, runtime)
    case 'stop':
      return await stop(rail, event, runtime)
  }
}

/** Ends the rail whatever state it is in: a user must always be able to get out. */
async function stop(
  rail: RailSession,
  event: Delivery['event'],
  runtime: Runtime,
): Promise<RailAnswer> {
  const failure = await cancelRunOf(rail, runtime)
  const reason = say.stoppedText(rail, failure)
  const sequence = rail.sequence + 1
  const ended = { ...closed, standing: 'ended', reason, guards: [], sequence } as const
  changeRail(runtime, rail.session, (now) => ({ ...now, ...ended, kept: undefined }))
  return toUser(reason, { event })
}

/** Returns why the run could not be cancelled; a run that has ended or is gone needs nothing. */
async function cancelRunOf({ runId }: RailSession, runtime: Runtime): Promise<string | undefined> {
  if (runId === '') return undefined
  try {
    const project = openRailProject(runtime)
    if (!existsSync(project.store.pathOf(runId))) return undefined
    const journal = project.store.read(runId)
    if (!isFinal(statusOfRun(journal, journal.path))) await cancelOn(project, journal)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

/** The client has asked the user about a guarded call of the step, and the call has run. */
async function approveByQuestion(
  { step, question }: RequestOf<'agreed'>,
  rail: RailSession,
  runtime: Runtime,
): Promise<RailAnswer> {
  const project = openRailProject(runtime)
  const run = await openRun(project, rail)
  const means = { channel: 'client', strength: 'attended', shownDigest: sha256(question) } as const
  const result = await decideAtGate(project, run, { approved: true, step }, means)
  const news = `The user approved \`${step}\` when the client asked about the call, which has run now.`
  return handOn(project, run, rail, result, { event: 'prompt', news })
}

/** A user has decided in a terminal about the gate that waits: the chain continues from its journal. */
async function followDecision(
  { event }: RequestOf<'decided'>,
  rail: RailSession,
  runtime: Runtime,
): Promise<RailAnswer | undefined> {
  if (!isDecidedElsewhere(rail)) return undefined
  const project = openRailProject(runtime)
  const run = await openRun(project, rail)
  const result = await continueRun(project, run)
  const { approvals, gates } = project.store.read(rail.runId)
  const decision = [...approvals.values()]
    .filter(({ key }) => gates.get(key)?.step === rail.waiting?.step)
    .toSorted((one, other) => compareText(one.at, other.at))
    .at(-1)
  const news = decision && say.decisionText(decision.approved, decision.reason)
  return handOn(project, run, rail, result, { event, news })
}

/** Continues a run. Another command, as in a terminal, may have ended it. */
async function continueRun(project: ChainProject, run: StepperRun): Promise<StepperResult> {
  const ended = await endedSteps(project, project.store.read(run.runId))
  return ended ?? (await nextSteps(project, run))
}

/** The agent gets its step again, with new attempts; without a step the run continues. */
async function again(
  rail: RailSession,
  event: Delivery['event'],
  runtime: Runtime,
): Promise<RailAnswer> {
  const project = openRailProject(runtime)
  const run = await openRun(project, rail)
  const result = await continueRun(project, run)
  return handOn(project, run, rail, result, { event })
}

async function accept(
  { step: named, why }: RailDecision & { word: 'accept' },
  rail: RailSession,
  event: Delivery['event'],
  runtime: Runtime,
): Promise<RailAnswer> {
  const { step } = rail
  if (step?.step !== named) {
    const tell = `\`${named}\` is not the current step${step ? `, \`${step.step}\` is` : ''}.`
    if (event === 'turn-end') return { kind: 'tell', tell }
    return { kind: 'context', text: `${tell} Tell the user so.`, tell }
  }
  const project = openRailProject(runtime)
  const run = await openRun(project, rail)
  const output: StepOutput = {
    status: 'success',
    result: `accepted by the user: ${why}`,
    errors: [],
    metrics: {},
    evidence: 'accepted',
  }
  const about = { step: step.step, attempt: step.attempt, output, isConfirmed: true } as const
  const result = await reportAboutStep(project, run, about)
  const news = `The user accepted \`${step.step}\` without its check.`
  return handOn(project, run, rail, result, { event, news })
}

async function recall(rail: RailSession, runtime: Runtime): Promise<RailAnswer | undefined> {
  if (!rail.step) return { kind: 'context', text: say.standingLine(rail) }
  const project = openRailProject(runtime)
  const run = await openRun(project, rail)
  const content = await contentOfStep(project, run, rail.step.step)
  const text = say.recalledText(rail, rail.step, content)
  return { kind: 'context', text }
}
