import { type AnyCommand, defineCommand } from '#core/command'
import { exitCode, type ExitCode } from '#core/errors'
import { inputText } from '#core/input-text'
import { amount, linesText, safeLine } from '#core/text'
import type { JsonValue } from '#core/json'
import { boundedValue, valueOfReport } from '#tools/call/call-result'
import { planLine } from '#tools/call/consent'
import type { SavePlace } from '#tools/call/content'
import type { CallContext } from '#tools/call/context'
import { parseDirective, type ToolStep } from '#tools/call/directive-text'
import { bareMessage, partialText } from '#tools/call/failure-text'
import {
  foreseeGuard,
  type ForeseenCall,
  type ForeseenGuard,
  foreseeSteps,
} from '#tools/call/foresee'
import { makeSteps } from '#tools/call/make-calls'
import {
  type BatchResult,
  type ChainResult,
  checkSteps,
  isBatch,
  type StepOptions,
  type StepsResult,
} from '#tools/call/steps'
import { summariseValue } from '#tools/call/summarise'
import {
  type CallEvent,
  callOptions,
  callProgress,
  dryRunOption,
  type ResultView,
  stepListener,
  viewedBy,
  withToolCalls,
  yesOption,
} from './call.ts'
import { writtenConsent } from './ask-at-terminal.ts'

/** The steps of a batch or a chain that were not called. */
interface DryRun {
  steps: readonly DryStep[]
}

type DryStep = Omit<ForeseenCall, 'tool'> & GuardResult & { tool: string }

export type ShownSteps = StepsResult | DryRun

export const batch = stepsCommand(
  'batch',
  '[{"tool": "get_issue", "params": {"issue_number": 1}}, {"tool": "list_pages"}]',
)

export const chain = stepsCommand(
  'chain',
  '[{"tool": "get_element", "output_as": "element"}, {"tool": "click", "params": {"target": "$element"}}]',
)

function stepsCommand(kind: 'batch' | 'chain', example: string): AnyCommand {
  const word = kind.toUpperCase()
  return defineCommand<ShownSteps, CallEvent>()({
    arguments: {
      [`[${kind}]`]: `${word}: […] or the list alone, @FILE, or - for stdin (default: "-")`,
    },
    options: { ...callOptions, yes: yesOption, dryRun: dryRunOption },
    examples: [`tools ${kind} '${word}: ${example}'`],
    async run(context, { arguments: [directive = '-'], ...options }) {
      const steps = parseDirective(await inputText(directive, context), kind)
      return await withToolCalls(context, options, async ({ calls, place }) => {
        if (options.dryRun) {
          await checkSteps(kind, steps, calls)
          return await dryRun(kind, steps, calls)
        }
        const toValue: StepOptions['toValue'] = (report) => valueOfReport(report, place)
        const listened = { onStep: stepListener(context, steps.length), toValue }
        const consent = writtenConsent(context, calls, options.yes)
        const made = await makeSteps(kind, steps, { texts: '' }, consent, listened)
        return boundedSteps(made, place)
      })
    },
    ...viewedBy(stepsView),
    progress: callProgress,
  })
}

export function stepsView(result: ShownSteps): ResultView {
  if (isBatch(result)) return batchView(result)
  return 'steps' in result ? dryRunView(result) : chainView(result)
}

function batchView(results: readonly BatchResult[]): ResultView {
  const isStopped = results.some(({ status }) => status === 'cancelled')
  const isDone = results.every(({ status }) => status === 'success')
  return {
    code: isStopped ? exitCode.interrupted : isDone ? exitCode.done : exitCode.failed,
    text: results.map(resultText).join(''),
    notes: [partialText(results)],
  }
}

function chainView({ completed, failed, cancelled, skipped }: ChainResult): ResultView {
  const results: BatchResult[] = completed.map((one) => ({ ...one, status: 'success' }))
  if (failed) results.push({ ...failed, status: 'error' })
  if (cancelled) results.push({ ...cancelled, status: 'cancelled' })
  const { code, text } = batchView(results)
  const rest = skipped.length === 0 ? '' : `Skipped: ${safeLine(skipped.join(', '))}\n`
  return { code, text: text + rest, notes: [] }
}

function resultText(result: BatchResult, index: number) {
  const note = result.note === undefined ? '' : ` (${safeLine(result.note)})`
  const hint = 'hint' in result ? (result.hint ?? '') : ''
  const lines = hint.split('\n').filter((line) => line !== '')
  return linesText([
    `${index + 1}. ${safeLine(result.tool)}: ${outcomeOf(result).slice(0, 400)}${note}`,
    ...lines.map((line) => `   ${safeLine(line)}`),
  ])
}

function outcomeOf(result: BatchResult) {
  if (result.status === 'success') return summariseValue(result.result)
  if (result.status === 'cancelled') return result.error
  return `Error: ${safeLine(bareMessage(result.error))}`
}

function boundedResults<T extends { tool: string; result?: JsonValue }>(
  results: readonly T[],
  place: SavePlace,
): T[] {
  return results.map((entry) => {
    if (entry.result === undefined) return entry
    return { ...entry, result: boundedValue(entry.result, entry.tool, place).value }
  })
}

export function boundedSteps(result: StepsResult, place: SavePlace): StepsResult {
  if (isBatch(result)) return boundedResults(result, place)
  return { ...result, completed: boundedResults(result.completed, place) }
}

/**
 * Plans the calls without making them. Parameters that the schema refuses and references to unknown
 * variables are wrong usage; one refused call makes the whole plan refused.
 */
export async function dryRun(
  kind: 'batch' | 'chain',
  steps: readonly ToolStep[],
  calls: CallContext,
  requestText?: string,
): Promise<DryRun> {
  const planned: DryStep[] = []
  for (const { tool, ...call } of await foreseeSteps(kind, steps, calls)) {
    const guard = await foreseeGuard(tool, call.params, calls, requestText)
    planned.push({ tool: tool.id, ...call, ...guardResult(guard) })
  }
  return { steps: planned }
}

function dryRunView({ steps }: DryRun): ResultView {
  const isWrong = ({ unknown, problems }: DryRun['steps'][number]) =>
    unknown.length + problems.length > 0
  const wrong = steps.filter((step) => isWrong(step) || step.refused !== undefined).length
  const faulty = wrong === 0 ? '' : ` ${amount(wrong, 'call')} cannot be made like this.`
  let code: ExitCode = steps.some(isWrong) ? exitCode.usage : exitCode.done
  if (steps.some(({ refused }) => refused !== undefined)) code = exitCode.refused
  return {
    code,
    text: plannedText(steps, ({ unknown }) => unknown.map((name) => `$${name} is unknown here`)),
    notes: [`${amount(steps.length, 'call')} planned; nothing was called.${faulty}`],
  }
}

export interface GuardResult {
  before?: ForeseenGuard['before']
  refused?: { code: string; message: string; hint?: string | undefined } | undefined
}

export function guardResult({ before, refused }: ForeseenGuard): GuardResult {
  if (!refused) return before ? { before } : {}
  const { code, message, hint } = refused
  return { refused: { code, message, hint } }
}

type PlannedCall = Parameters<typeof planLine>[0] &
  GuardResult & { problems: readonly string[]; notes: readonly string[] }

/** Prints planned calls, each with its problems and the steps that run before it. */
export function plannedText<T extends PlannedCall>(
  steps: readonly T[],
  openFacts: (step: T) => readonly string[],
): string {
  const lines = steps.flatMap((step, index) => {
    const facts = [...openFacts(step), ...step.problems, ...step.notes]
    const line = `${index + 1}. ${planLine({ ...step, facts })}`
    return [line, ...guardLines(step).map((guard) => `   ${guard}`)]
  })
  return linesText(lines.map(safeLine))
}

function guardLines({ before, refused }: GuardResult) {
  if (refused) {
    return `Refused: ${refused.message}\n${refused.hint ?? ''}`.trimEnd().split('\n')
  }
  if (!before) return []
  const { workflow, mode, prerequisites } = before
  if (prerequisites.length === 0) return [`Left out: the steps of workflow '${workflow}'`]
  return [
    `${begins[mode]} '${workflow}':`,
    ...prerequisites.map(
      ({ step, tool, id = tool, params }) => `  Step ${step}: ${id} ${JSON.stringify(params)}`,
    ),
  ]
}

const begins = {
  enforce: 'First, for workflow',
  warn: 'First, unless they are left out, for workflow',
  suggest: 'Suggested first by workflow',
} as const
