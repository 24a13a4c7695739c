import { exitCode, type ExitCode, safeLine } from '../base/index.ts'
import {
  type CallContext,
  type PlannedCall,
  readsOnly,
  type RequestMeaning,
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
  const planned = steps.map((step) => ({ ...step, readOnly: isReading(step, calls) }))
  if (context.options.json) output.json({ ...routeJson(route), steps: planned, missing })
  else {
    planned.forEach((step, index) => output.line(safeLine(`${index + 1}. ${stepText(step)}`)))
    output.note('Nothing was called.')
  }
  return missing.length === 0 ? exitCode.done : exitCode.notFound
}

function stepText({
  tool,
  params,
  bindings,
  missing,
  reason,
  readOnly,
}: PlannedCall & { readOnly: boolean }): string {
  const taken = bindings.map(({ parameter, from }) => `${parameter} from ${from}`)
  const open = missing.map((name) => `${name} is missing`)
  const facts = [reason, ...taken, ...open, readOnly ? 'reads' : 'may change something']
  return `${tool} ${JSON.stringify(params)} (${facts.join('; ')})`
}

function isReading({ tool }: PlannedCall, calls: CallContext): boolean {
  const definition = calls.index.definition(tool)
  return definition !== undefined && readsOnly(definition, calls.rules(definition.server).trusted)
}
