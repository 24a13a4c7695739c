import { exitCode, type ExitCode, safeLine } from '../base/index.ts'
import {
  type CallContext,
  definitionOf,
  findTool,
  foreseeCall,
  foreseeGuard,
  type ForeseenGuard,
  type PlannedCall,
  planLine,
  type RequestMeaning,
  unsaid,
} from '../tools/index.ts'
import { guardJson, guardLines } from './_foreseen-guard.ts'
import { answerUnsure, routeJson } from './_request-answer.ts'
import { answerDryRun } from './_tool-steps.ts'
import type { CommandContext } from './command.ts'

/**
 * Prints what a request would come to; nothing was called.
 *
 * @throws {ToolRefusedError} where the real call would be refused before it is made
 */
export async function answerMeaning(
  meaning: RequestMeaning,
  request: string,
  calls: CallContext,
  context: CommandContext,
): Promise<ExitCode> {
  if (meaning.kind === 'batch' || meaning.kind === 'chain') {
    return await answerDryRun(meaning.kind, meaning.steps, calls, context, request)
  }
  if (meaning.kind === 'unsure') return answerUnsure({ ...meaning, tried: [] }, context)
  const { output } = context
  const { steps, missing } = meaning.proposal
  const route = meaning.kind === 'routed' ? meaning.route : undefined
  const planned: PlannedLine[] = []
  for (const step of steps) planned.push(await foreseen(step, request, calls))
  const lacking = steps.find((step) => step.missing.length > 0)
  const complete = lacking && unsaid(lacking, calls.index).complete
  if (context.options.json) {
    const steps = planned.map(({ guard, ...step }) => ({ ...step, ...guardJson(guard) }))
    output.json({ ...routeJson(route), steps, missing, complete })
  } else {
    planned.forEach((step, index) => {
      output.line(safeLine(`${index + 1}. ${stepText(step)}`))
      for (const line of guardLines(step.guard)) output.line(`   ${line}`)
    })
    output.note('Nothing was called.')
    if (complete !== undefined) output.note(`Next: complete it: ${complete}`)
  }
  if (missing.length > 0) return exitCode.notFound
  return planned.some(({ problems }) => problems.length > 0) ? exitCode.usage : exitCode.done
}

type PlannedLine = PlannedCall & {
  readOnly: boolean
  problems: readonly string[]
  /** Parameters that mean nothing to the tool, misspelt perhaps. */
  notes: readonly string[]
  guard: ForeseenGuard
}

async function foreseen(
  step: PlannedCall,
  request: string,
  calls: CallContext,
): Promise<PlannedLine> {
  const definition = await definitionOf(await findTool(step.tool, calls), calls)
  const guard = await foreseeGuard(definition, step.params, calls, request)
  if (guard.refused !== undefined) throw guard.refused
  const later = [...step.missing, ...step.bindings.map(({ parameter }) => parameter)]
  const paths = later.map((name) => [name])
  const { readOnly, problems, notes } = await foreseeCall(definition, step.params, paths, calls)
  return { ...step, readOnly, problems, notes, guard }
}

function stepText({ missing, problems, notes, guard: _guard, ...step }: PlannedLine): string {
  const open = missing.map((name) => `${name} is missing`)
  return planLine({ ...step, facts: [...open, ...problems, ...notes] })
}
