import type { Diagnostic } from '#core/errors'
import { amount, cutText, safeLine } from '#core/text'
import type { StepOutput } from '#exec/output-protocol'
import { type PlannedStep, stepOfKey } from '#chain/plan-model'
import type { RunJournal } from '#chain/run-journal'
import type { RunAnswer } from '#chain/run-answer'
import { guardedCalls } from '#skill/guard-words'
import type { Gate } from '#skill/model'
import { adapters } from '#hooks/adapters'
import { chainCalls } from '#hooks/rail-facts'
import type { RailAnswer } from '#hooks/rail-hook'
import type { NextStep } from '#project/stepper'
import type { AskedGate, Guard, RailSession, RailStep } from './session.ts'

/** Returns the text of a step for an agent: the task, the end of the step, and the calls not allowed yet. */
export function stepText(about: {
  rail: RailSession
  planned: PlannedStep | undefined
  next: NextStep
  guards: readonly Guard[]
  delivery: { isFirst?: boolean; news?: string | undefined }
}): string {
  const { rail, planned, next, guards, delivery } = about
  const { chain, steps } = rail
  const place = `${steps.indexOf(next.step) + 1} of ${steps.length}`
  const overview = delivery.isFirst
    ? `The chain \`${chain}\` runs as a rail: Skillrail gives you one step after the other and checks each. The text of \`${chain}\` itself is only the overview.`
    : undefined
  return paragraphs([
    overview,
    delivery.news,
    `Do only this step now: \`${next.step}\` (${place}). ${endOfStep(planned)}`,
    notAllowedYet(guards),
    next.content,
  ])
}

function endOfStep(planned: PlannedStep | undefined): string {
  const checks = [
    ...(planned?.check === undefined ? [] : [`\`${planned.check}\``]),
    ...(planned?.verify === undefined ? [] : [`\`${planned.verify}\` of its skill`]),
  ]
  if (checks.length === 0) return 'When it is done, end your turn.'
  return `When it is done, end your turn: the step counts only if ${checks.join(' and ')} succeeds.`
}

function notAllowedYet(guards: readonly Guard[]): string | undefined {
  const lines = guards
    .filter(({ isOpen }) => !isOpen)
    .map(({ step, calls }) => `${guardedCalls(calls).join(' and ')} (step \`${step}\`)`)
  return lines.length === 0 ? undefined : `Not allowed yet: ${lines.join('; ')}.`
}

/** Returns the text of a step after a compaction removed it from the context. */
export function recalledText(rail: RailSession, step: RailStep, content: string): string {
  return paragraphs([
    `The chain \`${rail.chain}\` runs as a rail. Your context may have been shortened; this is the current step \`${step.step}\` again. Do only this step, then end your turn.`,
    notAllowedYet(rail.guards),
    content,
  ])
}

export function reportText(rail: RailSession, { step, attempt }: RailStep): string {
  const command = `skillrail chain report ${rail.runId} --step ${step} --attempt ${attempt}`
  return `Is the step \`${step}\` of the chain \`${rail.chain}\` done? If not, continue with it. If it is, say in one sentence what was done, and end your turn. If it failed, run: ${command} --status failure --error "why". If you need an answer from the user, run: ${command} --status question --result "the question".`
}

export function failedCheckText(
  rail: RailSession,
  { step, failedChecks, maxBlocks }: RailStep,
  why: string,
  log: string,
): string {
  const left = maxBlocks - failedChecks
  return paragraphs([
    `The step \`${step}\` of the chain \`${rail.chain}\` is not done: ${why}.`,
    log === '' ? undefined : `The end of what it printed:\n${log}`,
    `Correct it, then end your turn; the check runs again (${left === 0 ? 'for the last time' : `${left} more ${left === 1 ? 'time' : 'times'} after that`}). Do not change the check.`,
  ])
}

export function givenUpText(
  { chain }: RailSession,
  { step, failedChecks }: RailStep,
  why: string,
): string {
  return `${chain}: the check of ${step} failed ${amount(failedChecks, 'time')} (${why}). Type "rail retry" for new attempts, or "rail accept ${step} WHY" to continue without it.`
}

/** Why a check that passed after its hook does not count: nobody can say which files it checked. */
export function unreadableTreeText({ chain }: RailSession, { step }: RailStep): string {
  return `${chain}: the check of ${step} succeeded after the client had stopped to wait, and the files of the project cannot be compared (too many, or not readable), so it does not count. Type "rail retry" to check again, or "rail accept ${step} WHY" to continue without it.`
}

export function gateText(
  { chain, runId }: RailSession,
  {
    step,
    required,
    gate,
    rework,
    onOtherFiles,
  }: {
    step: string
    required: Gate
    gate?: AskedGate | undefined
    rework?: string | undefined
    /** The steps that succeeded on other files than the project has now. */
    onOtherFiles: readonly string[]
  },
): string {
  const changed =
    onOtherFiles.length === 0
      ? ''
      : ` FILES CHANGED since these steps ran: ${onOtherFiles.map(safeLine).join(', ')}.`
  const back = `${changed}${rework === undefined ? '' : ` A rejection leads back to ${rework}.`}`
  if (required === true) {
    return `${chain} waits for your approval of ${step}. Type "rail approve", or "rail reject WHY".${back}`
  }
  const wanted = `${chain} waits for an approval of ${step} that is ${required}.${back}`
  if (gate) {
    return `${wanted} Type "go on": the agent makes its call, and the client asks you. Or in a terminal of your own: skillrail runs approve ${runId}`
  }
  const sign = required === 'signed' ? ' --sign' : ''
  return `${wanted} In a terminal of your own: skillrail runs approve ${runId}${sign}`
}

/** Returns the client's question about a guarded call. */
export function questionText(
  { chain, runId }: RailSession,
  step: string,
  calls: readonly string[],
  { done }: RunJournal,
): string {
  const ended = Array.from(done, ([key, { outcome }]) => {
    const name = stepOfKey(key)
    if (outcome.kind !== 'finished') return `${name}: cancelled`
    return `${name}: ${outcome.output.status} (${outcome.output.evidence})`
  })
  const before = ended.length === 0 ? '' : ` Before it: ${ended.join(', ')}.`
  return safeLine(
    `Skillrail: approve the step ${step} of the chain ${chain} (run ${runId})? Yes runs this call, and allows ${calls.join(', ')} until the step ends.${before}`,
  )
}

/** Returns the text that makes the agent call the guarded tool, so that the client asks. */
export function askingText({ chain }: RailSession, gate: AskedGate, content: string): string {
  const calls = gate.guards.flatMap((one) => (one.isOpen ? guardedCalls(one.calls) : []))
  return paragraphs([
    `The step \`${gate.step}\` of the chain \`${chain}\` waits for the approval of the user. If they want to go on, make its guarded call (${calls.join(', ')}): the client asks them. Do nothing else of the step before. This is its text:`,
    content,
  ])
}

/** @param kept guards that outlive the chain, because it ended without success */
export function endText(rail: RailSession, { status }: RunAnswer, kept: readonly Guard[]): string {
  const { chain, runId } = rail
  const guards = kept.length === 0 ? '' : ` ${keptText(rail, kept)}`
  return `The chain ${chain} has ended: ${status}.${guards} To see its steps: skillrail runs show ${runId}`
}

/** The errors of a plan, as `chain plan` says them, and the command that shows them. */
export function problemsText(chain: string, diagnostics: readonly Diagnostic[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error')
  const lines = errors.slice(0, 3).map(({ message, hint }) => {
    return safeLine(hint === undefined ? `${message}.` : `${message}. ${hint}`)
  })
  if (lines.length === 0) return ''
  return ` ${lines.join(' ')} To see its plan: skillrail chain plan ${chain}.`
}

/** How the guards of a chain that has ended without success, or did not start, come to an end. */
export function keptText(
  { chain, client }: Pick<RailSession, 'chain' | 'client'>,
  guards: readonly Guard[],
): string {
  const calls = [...new Set(guards.flatMap((guard) => guardedCalls(guard.calls)))].join(', ')
  return `Its guards still deny ${calls} in this session: start a chain again (${startOf(client, chain)}), or type "rail stop".`
}

function startOf(client: RailSession['client'], chain: string): string {
  return chainCalls[adapters[client].sigil].replace('NAME', () => chain)
}

/** @param failure why the run could not be cancelled */
export function stoppedText(
  { chain, runId, always = [] }: RailSession,
  failure: string | undefined,
): string {
  const run = failure === undefined ? '' : ` Its run ${runId} could not be cancelled: ${failure}.`
  const kept = always.length === 0 ? '' : ' Guards that always apply stay.'
  const steps = runId === '' ? '' : ` To see its steps: skillrail runs show ${runId}`
  return `You stopped the chain ${chain}: its guards deny nothing any more.${kept}${run}${steps}`
}

export function decisionText(isApproved: boolean, why: string | undefined): string {
  if (isApproved) return 'The user approved.'
  if (why === undefined) return 'The user rejected.'
  return /[.!?]$/.test(why) ? `The user rejected: ${why}` : `The user rejected: ${why}.`
}

export function doneText(step: string, output: StepOutput): string {
  const { status, evidence, changedFiles = [] } = output
  const ended = `The step \`${safeLine(step)}\` ended: ${status}${status === 'success' ? ` (${evidence})` : ''}.`
  if (changedFiles.length === 0) return ended
  return `${ended} Its check uses files that changed since the chain started: ${changedFiles.map(safeLine).join(', ')}.`
}

export function standingLine({ chain, reason, standing }: RailSession): string {
  if (standing === 'failed') return reason
  return `The chain \`${chain}\` runs as a rail. ${reason}`
}

export function statusAnswer(rail: RailSession): RailAnswer {
  const tell = statusLine(rail)
  return { kind: 'context', text: `Tell the user where the chain stands: ${tell}`, tell }
}

export function statusLine(rail: RailSession): string {
  const { chain, runId, standing, reason, step, steps } = rail
  const place = step ? `step ${step.step}, ${steps.indexOf(step.step) + 1} of ${steps.length}` : ''
  const run = runId === '' ? '' : `run ${runId}`
  const parts = [`${chain}: ${standing}`, place, reason, run]
  return parts.filter((part) => part !== '').join('; ')
}

const longestMessage = 500

/** Returns the agent's last message as the result of a step without a report. */
export function shortMessage(message: string): string {
  return cutText(message, longestMessage)
}

function paragraphs(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join('\n\n')
}
