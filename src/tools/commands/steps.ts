import { type AnyCommand, defineCommand, type Note } from '../../core/command.ts'
import { exitCode, type ExitCode } from '../../core/errors.ts'
import { inputText } from '../../core/input-text.ts'
import { amount, safeLine } from '../../core/text.ts'
import type { JsonValue } from '../../skill/model.ts'
import { planLine } from '../call/consent.ts'
import type { SavePlace } from '../call/content.ts'
import type { CallContext, CallReport } from '../call/context.ts'
import {
  type DirectiveReading,
  parseBatchText,
  parseChainText,
  type ToolStep,
} from '../call/directive-text.ts'
import { ToolRequestError } from '../call/errors.ts'
import { bareMessage, partialText } from '../call/failure-text.ts'
import {
  foreseeGuard,
  type ForeseenCall,
  type ForeseenGuard,
  foreseeSteps,
} from '../call/foresee.ts'
import {
  type BatchResult,
  type ChainResult,
  checkBatch,
  checkChain,
  runBatch,
  runToolChain,
} from '../call/steps.ts'
import { summariseValue } from '../call/summarise.ts'
import { boundedValue, valueOfReport } from './call.ts'
import {
  type CallEvent,
  callOptions,
  callProgress,
  type Cancelled,
  dryRunOption,
  isCancelled,
  stepListener,
  withToolCalls,
} from './tool-calls.ts'

type PlannedStep = Omit<ForeseenCall, 'tool'> & { tool: string } & GuardResult

export interface DryRun {
  steps: readonly PlannedStep[]
}

export type StepsResult = readonly BatchResult[] | ChainResult | DryRun | Cancelled

export const batch = stepsCommand(
  'batch',
  '[{"tool": "get_issue", "params": {"issue_number": 1}}, {"tool": "list_pages"}]',
)

export const chain = stepsCommand(
  'chain',
  '[{"tool": "get_element", "params": {"selector": "#btn"}, "output_as": "element"}, {"tool": "click", "params": {"target": "$element"}}]',
)

function stepsCommand(kind: 'batch' | 'chain', example: string): AnyCommand {
  const word = kind.toUpperCase()
  return defineCommand<StepsResult, CallEvent>()({
    arguments: {
      [`[${kind}]`]: `${word}: […] or the list alone, @FILE, or - for stdin (default: "-")`,
    },
    options: { ...callOptions, dryRun: dryRunOption },
    examples: [`tools ${kind} '${word}: ${example}'`],
    async run(context, { arguments: [given = '-'], ...options }) {
      const parse = kind === 'batch' ? parseBatchText : parseChainText
      const steps = stepsIn(parse(await inputText(given, context)), kind)
      return await withToolCalls(context, options, async ({ calls, place }) => {
        await (kind === 'batch' ? checkBatch : checkChain)(steps, calls)
        if (options.dryRun) return await dryRun(kind, steps, calls)
        const listened = {
          onStep: stepListener(context, steps.length),
          toValue: (report: CallReport & { status: 'success' }) => valueOfReport(report, place),
        }
        return kind === 'batch'
          ? await boundedBatch(await runBatch(steps, calls, listened), place)
          : await boundedChain(await runToolChain(steps, calls, listened), place)
      })
    },
    exitCode: stepsCode,
    render: stepsText,
    notes: stepsNotes,
    progress: callProgress,
  })
}

export function stepsCode(result: StepsResult): ExitCode {
  if (isBatch(result)) return batchCode(result)
  if (isCancelled(result)) return exitCode.interrupted
  return 'steps' in result ? dryRunCode(result) : chainCode(result)
}

export function stepsText(result: StepsResult): string {
  if (isBatch(result)) return result.map(resultText).join('')
  if (isCancelled(result)) return ''
  return 'steps' in result ? dryRunText(result) : chainText(result)
}

export function stepsNotes(result: StepsResult): readonly Note[] {
  if (isBatch(result)) return [partialText(result)].filter((line) => line !== undefined)
  if (isCancelled(result)) return ['Cancelled.']
  return 'steps' in result ? dryRunNotes(result) : []
}

/** @throws {ToolRequestError} for a text that cannot be read */
function stepsIn(reading: DirectiveReading, what: 'batch' | 'chain'): readonly ToolStep[] {
  if (reading.kind === what) return reading.steps
  const message =
    reading.kind === 'broken'
      ? reading.message
      : `there is no ${what} in the text: it needs ${what.toUpperCase()}: [{"tool": "name", "params": {}}], or the JSON list alone`
  throw new ToolRequestError({ code: `${what}-syntax`, message })
}

export function isBatch(result: object): result is readonly BatchResult[] {
  return Array.isArray(result)
}

export async function boundedBatch(
  results: readonly BatchResult[],
  place: SavePlace,
): Promise<BatchResult[]> {
  const bounded: BatchResult[] = []
  for (const result of results) bounded.push(await boundedResult(result, place))
  return bounded
}

export async function boundedChain(result: ChainResult, place: SavePlace): Promise<ChainResult> {
  const completed: ChainResult['completed'] = []
  for (const entry of result.completed) completed.push(await boundedResult(entry, place))
  return { ...result, completed }
}

async function boundedResult<T extends { tool: string; result?: JsonValue }>(
  entry: T,
  place: SavePlace,
): Promise<T> {
  if (entry.result === undefined) return entry
  return { ...entry, result: await boundedValue(entry.result, entry.tool, place) }
}

function batchCode(results: readonly BatchResult[]): ExitCode {
  if (results.some(({ status }) => status === 'cancelled')) return exitCode.interrupted
  return results.every(({ status }) => status === 'success') ? exitCode.done : exitCode.badAnswer
}

function chainText({ completed, failed, cancelled, skipped }: ChainResult): string {
  const results: BatchResult[] = [
    ...completed.map((result) => ({ ...result, status: 'success' as const })),
    ...(failed === undefined ? [] : [{ ...failed, status: 'error' as const }]),
    ...(cancelled === undefined ? [] : [{ ...cancelled, status: 'cancelled' as const }]),
  ]
  const rest = skipped.length === 0 ? '' : `Skipped: ${safeLine(skipped.join(', '))}\n`
  return results.map(resultText).join('') + rest
}

function chainCode({ failed, cancelled }: ChainResult): ExitCode {
  if (cancelled !== undefined) return exitCode.interrupted
  return failed === undefined ? exitCode.done : exitCode.badAnswer
}

function resultText(result: BatchResult, index: number): string {
  const note = result.note === undefined ? '' : ` (${safeLine(result.note)})`
  const hint = 'hint' in result ? (result.hint ?? '') : ''
  const lines = hint.split('\n').filter((line) => line !== '')
  return [
    `${index + 1}. ${safeLine(result.tool)}: ${outcomeOf(result).slice(0, 400)}${note}\n`,
    ...lines.map((line) => `   ${safeLine(line)}\n`),
  ].join('')
}

function outcomeOf(result: BatchResult): string {
  if (result.status === 'success') return summariseValue(result.result)
  if (result.status === 'cancelled') return result.error
  return `Error: ${safeLine(bareMessage(result.error))}`
}

/**
 * What would be called, without calling it. Parameters that the schema refuses and references to
 * unknown variables are wrong use; a call that would be refused makes it refused.
 */
export async function dryRun(
  kind: 'batch' | 'chain',
  steps: readonly ToolStep[],
  calls: CallContext,
  requestText?: string,
): Promise<DryRun> {
  const planned: PlannedStep[] = []
  for (const { tool, ...call } of await foreseeSteps(kind, steps, calls)) {
    const guard = await foreseeGuard(tool, call.params, calls, requestText)
    planned.push({ tool: tool.id, ...call, ...guardResult(guard) })
  }
  return { steps: planned }
}

function dryRunText({ steps }: DryRun): string {
  return steps
    .map(({ unknown, problems, notes, before, refused, ...call }, index) => {
      const fails = unknown.map((name) => `$${name} is unknown here`)
      const line = planLine({ ...call, facts: [...fails, ...problems, ...notes] })
      return `${safeLine(`${index + 1}. ${line}`)}\n${guardText({ before, refused })}`
    })
    .join('')
}

function dryRunNotes({ steps }: DryRun): Note[] {
  const wrong = steps.filter((step) => isWrong(step) || step.refused !== undefined).length
  const faulty = wrong === 0 ? '' : ` ${amount(wrong, 'call')} cannot be made so.`
  return [`${amount(steps.length, 'call')} planned; nothing was called.${faulty}`]
}

function dryRunCode({ steps }: DryRun): ExitCode {
  if (steps.some(({ refused }) => refused !== undefined)) return exitCode.refused
  return steps.some(isWrong) ? exitCode.usage : exitCode.done
}

function isWrong({ unknown, problems }: PlannedStep): boolean {
  return unknown.length + problems.length > 0
}

export interface GuardResult {
  before?: ForeseenGuard['before']
  refused?: { code: string; message: string; hint?: string | undefined } | undefined
}

export function guardResult({ before, refused }: ForeseenGuard): GuardResult {
  if (refused === undefined) return before === undefined ? {} : { before }
  const { code, message, hint } = refused
  return { refused: { code, message, hint } }
}

export function guardText({ before, refused }: GuardResult): string {
  return guardLines({ before, refused })
    .map((line) => `   ${safeLine(line)}\n`)
    .join('')
}

function guardLines({ before, refused }: GuardResult): string[] {
  if (refused !== undefined) {
    return `Refused: ${refused.message}\n${refused.hint ?? ''}`.trimEnd().split('\n')
  }
  if (before === undefined) return []
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
