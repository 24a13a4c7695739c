import { exitCode, type ExitCode, safeLine } from '../base/index.ts'
import type { JsonValue } from '../skill/index.ts'
import {
  type BatchResult,
  type CallContext,
  type ChainResult,
  type DirectiveReading,
  definitionOf,
  findTool,
  readsOnly,
  type JsonObject,
  partialText,
  referencedNames,
  type SavePlace,
  type StepListener,
  summariseValue,
  ToolRequestError,
  type ToolStep,
} from '../tools/index.ts'
import { boundedValue } from './_call-answer.ts'
import { amount } from './_cells.ts'
import type { CommandContext } from './command.ts'

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
    const failed = result?.status === 'error' || report?.status === 'error'
    if (result === undefined && report === undefined) {
      output.live(`… ${count} ${name}`.slice(0, output.width - 1))
      return
    }
    output.live('')
    const mark = failed ? output.style('red', '✗') : output.style('green', '✓')
    const time = report === undefined ? '' : `  ${report.durationMs} ms`
    output.styled(`${mark} ${count} ${name}${time}`)
  }
}

/** What would be called, without calling it. */
export async function answerDryRun(
  kind: 'batch' | 'chain',
  steps: readonly ToolStep[],
  calls: CallContext,
  context: CommandContext,
): Promise<ExitCode> {
  const { output, options } = context
  const plan: PlannedStep[] = []
  const known = new Set<string>()
  for (const { tool, params, outputAs } of steps) {
    const definition = await definitionOf(await findTool(tool, calls), calls)
    const readOnly = readsOnly(definition, calls.rules(definition.server).trusted)
    const named = outputAs === undefined ? {} : { outputAs }
    const names = kind === 'chain' ? referencedNames(params) : []
    const unknown = names.filter((name) => !known.has(name))
    plan.push({ tool: definition.id, params, ...named, readOnly, unknown })
    if (outputAs !== undefined) known.add(outputAs)
  }
  if (options.json) output.json({ steps: plan })
  else {
    plan.forEach(({ tool, params, outputAs, readOnly, unknown }, index) => {
      const kept = outputAs === undefined ? '' : ` → $${outputAs}`
      const may = readOnly ? 'reads' : 'may change something'
      const fails = unknown.map((name) => `; $${name} is unknown here`).join('')
      const call = `${tool} ${JSON.stringify(params)}${kept}`
      output.line(safeLine(`${index + 1}. ${call} (${may}${fails})`))
    })
    output.note(`${amount(plan.length, 'call')} planned; nothing was called.`)
  }
  return exitCode.done
}

interface PlannedStep {
  tool: string
  params: JsonObject
  outputAs?: string
  readOnly: boolean
  /** References to what no earlier step keeps. */
  unknown: readonly string[]
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
  const { completed, failed, skipped } = chain
  if (options.json) {
    const bounded: ChainResult['completed'] = []
    for (const entry of completed) bounded.push(await boundedResult(entry, place))
    output.json({ ...chain, completed: bounded })
  } else {
    completed.forEach((result, index) =>
      printResult({ ...result, status: 'success' }, index, context),
    )
    if (failed !== undefined) {
      printResult({ ...failed, status: 'error' }, completed.length, context)
      if (skipped.length > 0) output.line(`Skipped: ${safeLine(skipped.join(', '))}`)
    }
  }
  return failed === undefined ? exitCode.done : exitCode.badAnswer
}

function printResult(result: BatchResult, index: number, { output }: CommandContext): void {
  const said =
    result.status === 'success' ? summariseValue(result.result) : `Error: ${safeLine(result.error)}`
  const note = result.note === undefined ? '' : ` (${safeLine(result.note)})`
  output.line(`${index + 1}. ${safeLine(result.tool)}: ${said.slice(0, 400)}${note}`)
}
