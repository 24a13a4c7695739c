import type { Ancestry } from '#core/agent-ancestry'
import { ApprovalRefusedError, RunStateError } from '#chain/errors'
import { allSteps } from '#chain/plan-model'
import { readResult } from '#chain/run-chain'
import type { GateRecord, RunJournal } from '#chain/run-journal'
import { keepsArguments } from '#chain/run-line'
import { hasGrants, waitingApproval, type WaitingApproval } from './approval-lines.ts'
import {
  continuationAfter,
  continueDecided,
  refuseWeakApproval,
  shownRecord,
  type ShownResults,
  shownResults,
} from './approvals.ts'
import type { ChainProject } from './chains.ts'
import { recordDecision, waitingGates } from './gates.ts'
import { readUpToDate } from './stored-runs.ts'

/*
 * Approvals in the local view: a page shows a gate with its results, and sends back what it showed. The
 * decision counts if the run still waits for exactly that, and if no agent client has started the view or
 * the browser.
 */

/** What identifies a gate with the plan and results that a page shows. */
export interface GateIdentity {
  key: string
  planDigest: string
  stateDigest: string
  /** Digest of the shown results. */
  shownDigest: string
}

/** A waiting gate for a page. */
export interface ShownGate extends GateIdentity, WaitingApproval {
  attempt: number
  results: ShownResults
  /** The step to which a rejection leads back. */
  rework: string | undefined
  /** Why this view cannot approve, and what can. */
  refusal: { message: string; hint: string | undefined } | undefined
}

/** The programs that have to be without an agent client above them. */
export interface ViewPrograms {
  /** Above the process of the view. */
  view: Ancestry
  /** Above the program that sends the decision; undefined before there is one. */
  browser?: Ancestry | undefined
  /** Whether the browser says that a program drives it. */
  isDriven?: boolean
}

/** Returns the gates that a run waits at. */
export async function shownGates(
  project: ChainProject,
  journal: RunJournal,
  programs: ViewPrograms,
): Promise<ShownGate[]> {
  const { runtime } = project.context
  const gates = await waitingGates(journal, runtime)
  if (gates.length === 0) return []
  const { shown, shownDigest } = shownRecord(shownResults(await readResult(journal, runtime)))
  return gates.map((gate) => {
    const { key, attempt, planDigest, stateDigest } = gate
    const approval = waitingApproval(project, journal, gate)
    const { rework } = allSteps(journal.plan.root).find(({ step }) => step === gate.step) ?? {}
    const refusal = refusalOf(journal, approval, programs)
    return {
      ...approval,
      key,
      attempt,
      planDigest,
      stateDigest,
      shownDigest,
      results: shown,
      rework,
      refusal: refusal && { message: refusal.message, hint: refusal.hint },
    }
  })
}

export interface ShownDecision extends GateIdentity {
  runId: string
  approved: boolean
  reason: string | undefined
}

/**
 * Records a decision about a gate as a page showed it, and continues the run. Resolves when the decision is
 * recorded; `ended` when the run waits again or has ended.
 *
 * @throws {ApprovalRefusedError} if the view or the browser may not decide, or the gate asks for more
 * @throws {RunStateError} if the run waits for something else than what was shown
 */
export async function decideAsShown(
  project: ChainProject,
  { runId, approved, reason, ...shownGate }: ShownDecision,
  programs: ViewPrograms & { browser: Ancestry },
): Promise<{ ended: Promise<unknown> }> {
  const { context, line } = project
  const { runtime } = context
  const { journal } = await readUpToDate(project, runId)
  const gate = (await waitingGates(journal, runtime)).find(({ key }) => key === shownGate.key)
  const result = await readResult(journal, runtime)
  const shown = shownRecord(shownResults(result))
  const isWaiting = result.status === 'waiting'
  if (!gate || !isWaiting || !isSame(gate, shown.shownDigest, shownGate))
    throw gateChanged(project, runId)
  const refusal = refusalOf(journal, waitingApproval(project, journal, gate), programs)
  if (refusal) throw refusal
  const continuation = await continuationAfter(project, journal, gate, approved)
  const means = { channel: 'view', strength: 'attended' } as const
  if (approved) {
    const about = { plan: continuation.plan, runId, step: gate.step, line }
    refuseWeakApproval(context, about, means)
  }
  const at = new Date(runtime.now()).toISOString()
  const decision = { approved, at, ...means, user: runtime.user(), ...shown, reason }
  const resumption = {
    runId,
    ...continuation,
    prepare: recordDecision(gate, decision, line),
    command: 'approve',
    refusesCancelled: true,
  } as const
  let ended: Promise<unknown> = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    ended = continueDecided(project, journal, resumption, {}, resolve)
    ended.then(() => resolve(), reject)
  })
  return { ended }
}

function isSame(
  { planDigest, stateDigest }: GateRecord,
  shownDigest: string,
  shown: GateIdentity,
): boolean {
  return (
    planDigest === shown.planDigest &&
    stateDigest === shown.stateDigest &&
    shownDigest === shown.shownDigest
  )
}

function gateChanged({ line }: ChainProject, runId: string): RunStateError {
  return new RunStateError(
    'gate-changed',
    `the run ${runId} does not wait any more for what this page showed; nothing was decided`,
    `Look again, here or with: ${line('runs show', runId)}`,
  )
}

/** Why this view must not decide; undefined if it may. */
function refusalOf(
  journal: RunJournal,
  { approveWith }: WaitingApproval,
  { view, browser, isDriven = false }: ViewPrograms,
): ApprovalRefusedError | undefined {
  const lines = approveWith.flatMap((one) => {
    if (one.channel === 'view') return []
    const place =
      one.channel === 'session' ? `as a prompt in ${one.client}` : 'in a terminal of your own'
    return [`${place}: ${one.line}`]
  })
  const refused = (code: string, message: string, decide = 'Decide'): ApprovalRefusedError =>
    new ApprovalRefusedError(code, message, `${decide} ${lines.join('; or ')}`)
  const ownView = 'Start skillrail view in a terminal that no agent client has started, or decide'
  if (view.kind === 'agent') {
    const message = `this view decides about no gate: ${view.client} has started it`
    return refused('below-agent-client', message, ownView)
  }
  if (view.kind === 'unknown') {
    const message = 'this view decides about no gate: the processes that started it cannot be read'
    return refused('starter-unknown', message)
  }
  if (hasGrants(journal)) {
    const message =
      'this run was started with rights for its sandbox, which only a command can give again'
    return refused('grants-needed', message)
  }
  if (!keepsArguments(journal)) {
    const message = 'the arguments of this run hold a secret, so only a command can give them again'
    return refused('arguments-needed', message)
  }
  if (isDriven) {
    return refused('browser-driven', 'this browser decides about no gate: a program drives it')
  }
  if (browser?.kind === 'agent') {
    const message = `this browser decides about no gate: ${browser.client} has started it`
    return refused(
      'below-agent-client',
      message,
      'Open the view in a browser that you started, or decide',
    )
  }
  if (browser?.kind === 'unknown') {
    const message =
      'the request decides about no gate: the program that sent it cannot be identified'
    return refused('browser-unknown', message)
  }
  return undefined
}
