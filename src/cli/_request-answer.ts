import { exitCode, type ExitCode, safeLine } from '../base/index.ts'
import { bareMessage, type CallReport, type RequestAnswer, type SavePlace } from '../tools/index.ts'
import { answerCall, type AnswerOptions, reportJson } from './_call-answer.ts'
import { answerBatch, answerChain } from './_tool-steps.ts'
import type { CommandContext } from './command.ts'

/** Prints what came of a request in words. */
export async function answerRequest(
  answer: RequestAnswer,
  place: SavePlace,
  context: CommandContext,
  options: AnswerOptions,
): Promise<ExitCode> {
  switch (answer.kind) {
    case 'batch':
      return await answerBatch(answer.results, place, context)
    case 'chain':
      return await answerChain(answer.result, place, context)
    case 'called':
      return await answerCalled(answer, place, context, options)
    case 'unsure':
      return answerUnsure(answer, context)
  }
}

/** Steps that only gave the last one what it needed were shown while they ran. */
async function answerCalled(
  answer: RequestAnswer & { kind: 'called' },
  place: SavePlace,
  context: CommandContext,
  options: AnswerOptions,
): Promise<ExitCode> {
  const { calls, status, tried, route, cancelled } = answer
  if (context.options.json) {
    const reports: object[] = []
    for (const { report } of calls) reports.push(await reportJson(report, place, options))
    context.output.json({ ...routeJson(route), status, calls: reports, cancelled, tried })
    return codes[status]
  }
  for (const report of shown(answer)) await answerCall(report, place, context, options)
  if (cancelled !== undefined) context.output.failure(`Cancelled: [${cancelled.join(', ')}]`)
  return codes[status]
}

const codes = {
  success: exitCode.done,
  error: exitCode.badAnswer,
  cancelled: exitCode.interrupted,
} as const

function shown({ calls }: RequestAnswer & { kind: 'called' }): CallReport[] {
  const asked = calls.filter(({ call }) => call.reason === 'asked for')
  const last = calls.slice(-1)
  return (asked.length > 0 ? [...new Set([...asked, ...last])] : last).map(({ report }) => report)
}

export function answerUnsure(
  { reason, route, tool, missing, complete, tried }: RequestAnswer & { kind: 'unsure' },
  { output, options }: CommandContext,
): ExitCode {
  const candidates = route?.candidates ?? []
  const hint = complete === undefined ? unsureHint : `complete it: ${complete}`
  if (options.json) {
    const error = { code: 'request-unclear', message: reason, hint }
    output.json({ error, ...routeJson(route), tool, missing, tried, candidates })
    return exitCode.notFound
  }
  output.failure(reason)
  if (tool !== undefined) output.failure(`Tool: ${safeLine(tool)}`)
  if (candidates.length > 0) {
    output.failure(`Candidates: ${candidates.map((one) => one.tool).join(', ')}`)
  }
  for (const one of tried)
    output.failure(`Tried: ${safeLine(one.tool)}: ${safeLine(bareMessage(one.why))}`)
  output.failure(`Next: ${hint}`)
  return exitCode.notFound
}

const unsureHint = 'say it with the name of the tool, or run skillrail tools call.'

export function routeJson(route: (RequestAnswer & { kind: 'unsure' })['route']): object {
  if (route === undefined) return {}
  const { decision, category, margin, candidates, intent } = route
  return { decision, category, margin, candidates, intent }
}
