import { type Context, defineCommand, type Note, option } from '../../core/command.ts'
import { exitCode, type ExitCode } from '../../core/errors.ts'
import { inputText } from '../../core/input-text.ts'
import { safeLine } from '../../core/text.ts'
import { describeParameters } from '../cache/describe-parameters.ts'
import { planLine, proposalText } from '../call/consent.ts'
import type { SavePlace } from '../call/content.ts'
import type { CallContext } from '../call/context.ts'
import {
  doRequest,
  type RequestAnswer,
  type RequestMeaning,
  type RequestSetup,
  understandRequest,
} from '../call/do-request.ts'
import { ToolRequestError } from '../call/errors.ts'
import { bareMessage } from '../call/failure-text.ts'
import { definitionOf, findTool } from '../call/find-tool.ts'
import { foreseeCall, foreseeGuard } from '../call/foresee.ts'
import { unsaid } from '../call/run-plan.ts'
import type { PlannedCall } from '../parameters/plan-request.ts'
import { confirmedRequests, learnExample, readLearned } from '../route/learned.ts'
import type { Route } from '../route/router.ts'
import { callNotes, callText, shownCall, type ShownCall, valueOfReport } from './call.ts'
import { answerOf, sayUnasked } from './project-tools.ts'
import { requestRouter } from './route.ts'
import {
  boundedBatch,
  boundedChain,
  dryRun,
  type GuardResult,
  guardResult,
  guardText,
  isBatch,
  stepsCode,
  stepsNotes,
  type StepsResult,
  stepsText,
} from './steps.ts'
import {
  type CallEvent,
  callOptions,
  callProgress,
  dryRunOption,
  isCancelled,
  rawOption,
  stepListener,
  withToolCalls,
} from './tool-calls.ts'

type RouteFacts = Partial<Pick<Route, 'decision' | 'category' | 'margin' | 'candidates' | 'intent'>>

interface CalledResult extends RouteFacts {
  status: 'success' | 'error' | 'cancelled'
  calls: readonly (ShownCall & { reason: string })[]
  cancelled?: readonly string[] | undefined
  tried: readonly { tool: string; why: string }[]
}

interface UnclearResult extends RouteFacts {
  error: { code: 'request-unclear'; message: string; hint: string }
  tool?: string | undefined
  missing?: readonly string[] | undefined
  unplaced?: readonly string[] | undefined
  params?: PlannedCall['params'] | undefined
  tried: readonly { tool: string; why: string }[]
  exitCode?: ExitCode | undefined
}

interface PlanResult extends RouteFacts {
  steps: readonly (PlannedCall & {
    readOnly: boolean
    problems: readonly string[]
    notes: readonly string[]
  } & GuardResult)[]
  missing: readonly string[]
  unplaced: readonly string[]
  complete?: string | undefined
  exitCode?: ExitCode | undefined
}

type RequestResult = PlanResult | CalledResult | UnclearResult
type Result = StepsResult | RequestResult

export const command = defineCommand<Result, CallEvent>()({
  arguments: { '<request...>': 'what to do, in words; - for stdin' },
  options: {
    ...callOptions,
    yes: option.flag('--yes', 'call tools that may change something without asking'),
    dryRun: dryRunOption,
    raw: rawOption,
  },
  examples: [
    'tools do "list the open issues of octo/hello"',
    'tools do --yes "take a screenshot of http://127.0.0.1:8080"',
  ],
  async run(context, { arguments: words, ...options }) {
    const given = words.join(' ')
    const request = given === '-' ? await inputText(given, context) : given
    if (request.trim() === '') {
      throw new ToolRequestError({ code: 'request-empty', message: 'the request says nothing' })
    }
    return await withToolCalls(context, options, async ({ calls, index, place, project }) => {
      const learnedIn = { project, runtime: context.runtime }
      const setup: RequestSetup = {
        context: calls,
        router: async () => await requestRouter(request, index(), project, context),
        yes: options.yes,
        user: userAt(context),
        async learn(said, tool) {
          await learnExample(learnedIn, { request: said, tool })
        },
        examples: confirmedRequests(readLearned(learnedIn).examples),
        onStep: stepListener(context),
        toValue: async (report) => await valueOfReport(report, place),
      }
      const result = options.dryRun
        ? await planOf(await understandRequest(request, setup), request, calls)
        : await resultOf(await doRequest(request, setup), place, options.raw)
      const code = codeOf(result)
      if (code !== exitCode.notFound || isBatch(result)) return result
      const unasked = sayUnasked(context)
      return unasked === code ? result : { ...result, exitCode: unasked }
    })
  },
  exitCode: codeOf,
  render: textOf,
  notes: notesOf,
  progress: callProgress,
})

function isRequest(result: Result): result is RequestResult {
  if (isBatch(result) || isCancelled(result)) return false
  return 'status' in result || 'error' in result || 'missing' in result
}

function codeOf(result: Result): ExitCode {
  if (!isRequest(result)) return stepsCode(result)
  if ('status' in result) {
    const codes = {
      success: exitCode.done,
      error: exitCode.badAnswer,
      cancelled: exitCode.interrupted,
    } as const
    return codes[result.status]
  }
  if ('error' in result) return result.exitCode ?? exitCode.notFound
  if (result.missing.length > 0 || result.unplaced.length > 0) {
    return result.exitCode ?? exitCode.notFound
  }
  const hasProblems = result.steps.some(({ problems }) => problems.length > 0)
  return hasProblems ? exitCode.usage : exitCode.done
}

function textOf(result: Result): string {
  if (!isRequest(result)) return stepsText(result)
  if ('error' in result) return ''
  return 'status' in result ? shown(result).map(callText).join('') : planText(result)
}

function notesOf(result: Result): readonly Note[] {
  if (!isRequest(result)) return stepsNotes(result)
  if ('error' in result) return unclearNotes(result)
  if ('status' in result) {
    const { cancelled } = result
    const stopped = cancelled === undefined ? [] : [`Cancelled: [${cancelled.join(', ')}]`]
    return [...shown(result).flatMap(callNotes), ...stopped.map((failure) => ({ failure }))]
  }
  const { complete } = result
  const next = complete === undefined ? [] : [`Next: complete it: ${complete}`]
  return ['Nothing was called.', ...next]
}

async function resultOf(answer: RequestAnswer, place: SavePlace, raw: boolean): Promise<Result> {
  if (answer.kind === 'batch') return await boundedBatch(answer.results, place)
  if (answer.kind === 'chain') return await boundedChain(answer.result, place)
  if (answer.kind === 'unsure') return unclear(answer)
  const { status, route, cancelled, tried } = answer
  const calls: (ShownCall & { reason: string })[] = []
  for (const { call, report } of answer.calls) {
    calls.push({ ...(await shownCall(report, place, raw)), reason: call.reason })
  }
  return { ...routeFacts(route), status, calls, cancelled, tried }
}

function shown({ calls }: CalledResult): readonly ShownCall[] {
  const last = calls.at(-1)
  const asked = calls.filter((call) => call.reason === 'asked for' || call === last)
  return asked
}

function unclear({
  reason,
  route,
  tool,
  params,
  missing,
  unplaced,
  complete,
  tried,
}: RequestAnswer & { kind: 'unsure' }): UnclearResult {
  const hint =
    complete === undefined
      ? 'say it with the name of the tool, or run skillrail tools call.'
      : `complete it: ${complete}`
  const error = { code: 'request-unclear', message: reason, hint } as const
  const facts = { ...routeFacts(route), candidates: route?.candidates ?? [] }
  return { error, ...facts, tool, params, missing, unplaced, tried }
}

function unclearNotes({ error, tool, params, candidates = [], tried }: UnclearResult): Note[] {
  return [
    error.message,
    ...(tool === undefined ? [] : [`Tool: ${safeLine(tool)}`]),
    ...(Object.keys(params ?? {}).length === 0
      ? []
      : [`Params: ${safeLine(JSON.stringify(params))}`]),
    ...(candidates.length === 0
      ? []
      : [`Candidates: ${candidates.map((one) => one.tool).join(', ')}`]),
    ...tried.map((one) => `Tried: ${safeLine(one.tool)}: ${safeLine(bareMessage(one.why))}`),
    `Next: ${error.hint}`,
  ].map((failure) => ({ failure }))
}

function routeFacts(route: Route | undefined): RouteFacts {
  if (route === undefined) return {}
  const { decision, category, margin, candidates, intent } = route
  return { decision, category, margin, candidates, intent }
}

/**
 * What a request would call; nothing is called. Throws {@link ToolRefusedError} where the real call
 * would be refused.
 */
async function planOf(meaning: RequestMeaning, request: string, calls: CallContext) {
  if (meaning.kind === 'batch' || meaning.kind === 'chain') {
    return await dryRun(meaning.kind, meaning.steps, calls, request)
  }
  if (meaning.kind === 'unsure') return unclear({ ...meaning, tried: [] })
  const { proposal } = meaning
  const steps: PlanResult['steps'][number][] = []
  for (const step of proposal.steps) steps.push(await foreseen(step, request, calls))
  const lacking = proposal.steps.find(
    ({ missing, unplaced }) => missing.length > 0 || unplaced.length > 0,
  )
  return {
    ...routeFacts(meaning.kind === 'routed' ? meaning.route : undefined),
    steps,
    missing: proposal.missing,
    unplaced: proposal.unplaced,
    complete: lacking && unsaid(lacking, calls.index).complete,
  }
}

async function foreseen(step: PlannedCall, request: string, calls: CallContext) {
  const definition = await definitionOf(await findTool(step.tool, calls), calls)
  const guard = await foreseeGuard(definition, step.params, calls, request)
  if (guard.refused !== undefined) throw guard.refused
  const later = [...step.missing, ...step.bindings.map(({ parameter }) => parameter)]
  const paths = later.map((name) => [name])
  const { readOnly, problems, notes } = await foreseeCall(definition, step.params, paths, calls)
  return { ...step, readOnly, problems, notes, ...guardResult(guard) }
}

function planText({ steps }: PlanResult): string {
  return steps
    .map(({ missing, unplaced, problems, notes, before, refused, ...step }, index) => {
      const open = [
        ...missing.map((name) => `${name} is missing`),
        ...unplaced.map((text) => `${JSON.stringify(text)} has no place`),
      ]
      const line = planLine({ ...step, facts: [...open, ...problems, ...notes] })
      return `${safeLine(`${index + 1}. ${line}`)}\n${guardText({ before, refused })}`
    })
    .join('')
}

function userAt(context: Pick<Context, 'interactive' | 'ask'>): RequestSetup['user'] {
  if (!context.interactive) return undefined
  return {
    async confirm(plan) {
      const question = plan.length === 1 ? 'Call it?' : `Make these ${plan.length} calls?`
      const answer = await answerOf(context, `${question} [y/N] `, `${proposalText(plan)}\n`)
      return answer !== undefined && /^y(?:es)?$/i.test(answer.trim())
    },
    async choose(candidates) {
      const list = candidates.map(({ tool }, index) => `${index + 1}. ${safeLine(tool)}\n`)
      const question = `Which one? [1-${candidates.length}, empty for none] `
      const answer = await answerOf(context, question, list.join(''))
      return candidates[Number(answer?.trim() || 0) - 1]?.tool
    },
    async provide(tool, name, problem) {
      const parameter = describeParameters(tool.inputSchema).find((one) => one.name === name)
      const about = parameter?.description ?? ''
      const hint = about === '' ? '' : ` (${safeLine(about).slice(0, 200)})`
      const again = problem === undefined ? '' : `${safeLine(problem)}\n`
      const question = `${safeLine(tool.name)} needs ${safeLine(name)}${hint}: `
      return (await answerOf(context, question, again))?.trim()
    },
  }
}
