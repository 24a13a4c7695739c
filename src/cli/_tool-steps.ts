import { exitCode, type ExitCode, safeLine } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import {
  bareMessage,
  type BatchResult,
  type CallContext,
  type ChainResult,
  type DirectiveReading,
  foreseeGuard,
  type ForeseenCall,
  type ForeseenGuard,
  foreseeSteps,
  partialText,
  planLine,
  type SavePlace,
  type StepListener,
  summariseValue,
  ToolRequestError,
  type ToolStep,
} from '../tools/index.ts'
import { boundedValue } from './_call-answer.ts'
import { amount } from '../base/text.ts'
import { guardJson, guardLines } from './_foreseen-guard.ts'
import type { CommandContext } from './command.ts'
import type { Output } from './output.ts'

/** @throws {ToolRequestError} for a text that cannot be read */
export function stepsIn(reading: DirectiveReading, what: 'batch' | 'chain'): readonly ToolStep[] {
  if (reading.kind === what) return reading.steps
  const message =
    reading.kind === 'broken'
      ? reading.message
      : `there is no ${what} in the text: it needs ${what.toUpperCase()}: [{"tool": "name", "params": {}}], or the JSON list alone`
  throw new ToolRequestError({ code: `${what}-syntax`, message })
}

/** One line on standard error for each tool when it is done. */
export function showSteps(context: CommandContext, total?: number): StepListener {
  const { output } = context
  return ({ index, tool, result, report }) => {
    const name = safeLine(tool)
    const count = total === undefined ? `${index + 1}.` : `${index + 1}/${total}`
    const failed = (result ?? report)?.status !== 'success'
    if (result === undefined && report === undefined) {
      output.live(`… ${count} ${name}`)
      return
    }
    output.live('')
    const mark = failed ? output.style('red', '✗') : output.style('green', '✓')
    const time = report === undefined ? '' : `  ${report.durationMs} ms`
    output.styled(`${mark} ${count} ${name}${time}`)
  }
}

/**
 * What would be called, without calling it. Parameters that the schema of their tool refuses are
 * wrong use, as they are for `tools call`; so is a reference to what no earlier step keeps. A call
 * that would be refused makes it refused.
 */
export async function answerDryRun(
  kind: 'batch' | 'chain',
  steps: readonly ToolStep[],
  calls: CallContext,
  context: CommandContext,
  requestText?: string,
): Promise<ExitCode> {
  const { output, options } = context
  const plan: (ForeseenCall & { guard: ForeseenGuard })[] = []
  for (const call of await foreseeSteps(kind, steps, calls)) {
    plan.push({ ...call, guard: await foreseeGuard(call.tool, call.params, calls, requestText) })
  }
  const wrong = plan.filter(({ unknown, problems, guard }) => {
    return unknown.length + problems.length > 0 || guard.refused !== undefined
  })
  if (options.json) {
    output.json({
      steps: plan.map(({ guard, ...call }) => ({
        ...call,
        tool: call.tool.id,
        ...guardJson(guard),
      })),
    })
  } else {
    plan.forEach((call, index) => printForeseen(call, index, output))
    const faulty = wrong.length === 0 ? '' : ` ${amount(wrong.length, 'call')} cannot be made so.`
    output.note(`${amount(plan.length, 'call')} planned; nothing was called.${faulty}`)
  }
  if (plan.some(({ guard }) => guard.refused !== undefined)) return exitCode.refused
  return wrong.length === 0 ? exitCode.done : exitCode.usage
}

function printForeseen(
  call: ForeseenCall & { guard: ForeseenGuard },
  index: number,
  output: Output,
): void {
  const { tool, unknown, problems, notes, guard, ...rest } = call
  const fails = unknown.map((name) => `$${name} is unknown here`)
  const line = planLine({ ...rest, tool: tool.id, facts: [...fails, ...problems, ...notes] })
  output.line(safeLine(`${index + 1}. ${line}`))
  for (const said of guardLines(guard)) output.line(`   ${said}`)
}

export async function answerBatch(
  results: readonly BatchResult[],
  place: SavePlace,
  context: CommandContext,
): Promise<ExitCode> {
  const { output, options } = context
  const partial = partialText(results)
  if (options.json) {
    const bounded: BatchResult[] = []
    for (const result of results) bounded.push(await boundedResult(result, place))
    output.json(bounded)
  } else {
    results.forEach((result, index) => printResult(result, index, context))
    if (partial !== undefined) output.note(partial)
  }
  if (results.some(({ status }) => status === 'cancelled')) return exitCode.interrupted
  return partial === undefined ? exitCode.done : exitCode.badAnswer
}

async function boundedResult<T extends { tool: string; result?: JsonValue }>(
  entry: T,
  place: SavePlace,
): Promise<T> {
  if (entry.result === undefined) return entry
  return { ...entry, result: await boundedValue(entry.result, entry.tool, place) }
}

export async function answerChain(
  chain: ChainResult,
  place: SavePlace,
  context: CommandContext,
): Promise<ExitCode> {
  const { output, options } = context
  const { completed, failed, cancelled, skipped } = chain
  if (options.json) {
    const bounded: ChainResult['completed'] = []
    for (const entry of completed) bounded.push(await boundedResult(entry, place))
    output.json({ ...chain, completed: bounded })
  } else {
    completed.forEach((result, index) =>
      printResult({ ...result, status: 'success' }, index, context),
    )
    const at = completed.length
    if (failed !== undefined) printResult({ ...failed, status: 'error' }, at, context)
    if (cancelled !== undefined) printResult({ ...cancelled, status: 'cancelled' }, at, context)
    if (skipped.length > 0) output.line(`Skipped: ${safeLine(skipped.join(', '))}`)
  }
  if (cancelled !== undefined) return exitCode.interrupted
  return failed === undefined ? exitCode.done : exitCode.badAnswer
}

function printResult(result: BatchResult, index: number, { output }: CommandContext): void {
  const note = result.note === undefined ? '' : ` (${safeLine(result.note)})`
  output.line(`${index + 1}. ${safeLine(result.tool)}: ${saidOf(result).slice(0, 400)}${note}`)
  const hint = 'hint' in result ? (result.hint ?? '') : ''
  for (const line of hint.split('\n')) if (line !== '') output.line(`   ${safeLine(line)}`)
}

function saidOf(result: BatchResult): string {
  if (result.status === 'success') return summariseValue(result.result)
  if (result.status === 'cancelled') return result.error
  return `Error: ${safeLine(bareMessage(result.error))}`
}
