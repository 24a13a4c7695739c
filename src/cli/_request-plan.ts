import { exitCode, type ExitCode, safeLine } from '../base/index.ts'
import {
  type CallContext,
  foreseeCall,
  type PlannedCall,
  planLine,
  type RequestMeaning,
  unsaid,
} from '../tools/index.ts'
import { answerUnsure, routeJson } from './_request-answer.ts'
import { answerDryRun } from './_tool-steps.ts'
import type { CommandContext } from './command.ts'

/** Prints what a request would come to; nothing was called. */
export async function answerMeaning(
  meaning: RequestMeaning,
  calls: CallContext,
  context: CommandContext,
): Promise<ExitCode> {
  if (meaning.kind === 'batch' || meaning.kind === 'chain') {
    return await answerDryRun(meaning.kind, meaning.steps, calls, context)
  }
  if (meaning.kind === 'unsure') return answerUnsure({ ...meaning, tried: [] }, context)
  const { output } = context
  const { steps, missing } = meaning.proposal
  const route = meaning.kind === 'routed' ? meaning.route : undefined
  const planned: PlannedLine[] = []
  for (const step of steps) planned.push(await foreseen(step, calls))
  const lacking = steps.find((step) => step.missing.length > 0)
  const complete = lacking && unsaid(lacking, calls.index).complete
  if (context.options.json) {
    output.json({ ...routeJson(route), steps: planned, missing, complete })
  } else {
    planned.forEach((step, index) => output.line(safeLine(`${index + 1}. ${stepText(step)}`)))
    output.note('Nothing was called.')
    if (complete !== undefined) output.note(`Next: complete it: ${complete}`)
  }
  if (missing.length > 0) return exitCode.notFound
  return planned.some(({ problems }) => problems.length > 0) ? exitCode.usage : exitCode.done
}

type PlannedLine = PlannedCall & { readOnly: boolean; problems: readonly string[] }

async function foreseen(step: PlannedCall, calls: CallContext): Promise<PlannedLine> {
  const definition = calls.index.definition(step.tool)
  if (definition === undefined) return { ...step, readOnly: false, problems: [] }
  const later = [...step.missing, ...step.bindings.map(({ parameter }) => parameter)]
  const paths = later.map((name) => [name])
  const { readOnly, problems } = await foreseeCall(definition, step.params, paths, calls)
  return { ...step, readOnly, problems }
}

function stepText({ missing, problems, ...step }: PlannedLine): string {
  const open = missing.map((name) => `${name} is missing`)
  return planLine({ ...step, facts: [...open, ...problems] })
}
