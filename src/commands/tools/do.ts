import { type Context, defineCommand, type Notes, option } from '#core/command'
import { exitCode, type ExitCode } from '#core/errors'
import { inputText } from '#core/input-text'
import { safeLine } from '#core/text'
import { shownCall, type ShownCall, valueOfReport } from '#tools/call/call-result'
import type { SavePlace } from '#tools/call/content'
import type { CallContext } from '#tools/call/context'
import {
  doRequest,
  openMeaning,
  type RequestAnswer,
  type RequestMeaning,
  type RequestSetup,
  type ToolModel,
  understandRequest,
} from '#tools/call/do-request'
import { ToolRequestError } from '#tools/errors'
import { findDefinition } from '#tools/call/find-tool'
import { type CallForecast, foreseeCall, foreseeGuard } from '#tools/call/foresee'
import { unsetText } from '#tools/call/consent'
import { openCall } from '#tools/call/run-plan'
import { isBatch } from '#tools/call/steps'
import type { PlannedCall } from '#tools/parameters/plan-request'
import type { Route } from '#tools/route/router'
import {
  type CallEvent,
  callOptions,
  callProgress,
  callView,
  dryRunOption,
  rawOption,
  type ResultView,
  stepListener,
  viewedBy,
  withToolCalls,
  yesOption,
} from './call.ts'
import { sayUnasked } from '#tools/project-tools'
import { requestRouter } from '#tools/route/project-routing'
import { userAt } from './ask-at-terminal.ts'
import {
  boundedSteps,
  dryRun,
  type GuardResult,
  guardResult,
  plannedText,
  type ShownSteps,
  stepsView,
} from './steps.ts'

interface RouteFacts extends Partial<
  Pick<Route, 'decision' | 'category' | 'margin' | 'candidates' | 'intent'>
> {
  exitCode?: ExitCode | undefined
}

type CalledAnswer = RequestAnswer & { kind: 'called' }
type UnsureAnswer = RequestAnswer & { kind: 'unsure' }

interface Called extends RouteFacts, Pick<CalledAnswer, 'status' | 'decidedBy' | 'cancelled'> {
  calls: readonly (ShownCall & { reason: string })[]
}

interface Unclear extends RouteFacts, Pick<UnsureAnswer, 'decidedBy'> {
  tool: UnsureAnswer['tool']
  params: UnsureAnswer['params']
  missing: UnsureAnswer['missing']
  unplaced: UnsureAnswer['unplaced']
  unset: UnsureAnswer['unset']
  error: { code: 'request-unclear'; message: string; hint: string }
  candidates: UnsureAnswer['candidates']
}

interface Plan extends RouteFacts {
  steps: readonly ForeseenCall[]
  missing: readonly string[]
  unplaced: readonly string[]
  unset: readonly string[]
  /** The command that completes the first call that lacks something. */
  complete: string | undefined
  decidedBy: string
}

interface ForeseenCall
  extends PlannedCall, Pick<CallForecast, 'readOnly' | 'problems' | 'notes'>, GuardResult {}

type Result = ShownSteps | Called | Unclear | Plan

export const command = defineCommand<Result, CallEvent>()({
  arguments: { '<request...>': 'what to do, in words; - for stdin' },
  options: {
    ...callOptions,
    model: option.text('--model <provider:name>', 'the model that chooses; default tools.model'),
    yes: yesOption,
    dryRun: dryRunOption,
    raw: rawOption,
  },
  examples: ['tools do "list the open issues of octo/hello"'],
  async run(context, { arguments: words, ...options }) {
    const argumentText = words.join(' ')
    const request = argumentText === '-' ? await inputText(argumentText, context) : argumentText
    if (request.trim() === '') {
      throw new ToolRequestError({ code: 'request-empty', message: 'the request says nothing' })
    }
    return await withToolCalls(context, options, async ({ calls, index, place }) => {
      const setup: RequestSetup = {
        context: calls,
        router: async () => requestRouter(index()),
        yes: options.yes,
        model: await modelOf(options.model ?? context.settings.tools.model, context),
        user: userAt(context),
        onStep: stepListener(context),
        toValue: async (report) => await valueOfReport(report, place),
      }
      const result = options.dryRun
        ? await dryResult(await understandRequest(request, setup), request, calls)
        : await resultOf(await doRequest(request, setup), place, options.raw)
      const { code } = viewOf(result)
      if (code !== exitCode.notFound || isBatch(result)) return result
      const unasked = sayUnasked(context)
      return unasked === code ? result : { ...result, exitCode: unasked }
    })
  },
  ...viewedBy(viewOf),
  progress: callProgress,
})

async function modelOf(name: string, context: Context): Promise<ToolModel | undefined> {
  if (name === '') return undefined
  const { toolModel } = await import('#agent/choose-tool')
  return await toolModel(name, context)
}

function viewOf(result: Result): ResultView {
  if (isBatch(result)) return stepsView(result)
  if ('error' in result) {
    return { code: result.exitCode ?? exitCode.notFound, text: '', notes: unclearNotes(result) }
  }
  if ('status' in result) return calledView(result)
  return 'missing' in result ? planView(result) : stepsView(result)
}

function calledView({ status, calls, cancelled, decidedBy }: Called): ResultView {
  const last = calls.at(-1)
  const questions = calls
    .filter((call) => call.reason === 'asked for' || call === last)
    .map((call) => viewOfCall(call, decidedBy))
  const stopped = cancelled && { failure: `Cancelled: [${cancelled.join(', ')}]` }
  return {
    code: calledCodes[status],
    text: questions.map(({ text }) => text).join(''),
    notes: [...questions.flatMap(({ notes }) => notes), stopped],
  }
}

/** The call precedes its answer, except for raw answers. */
function viewOfCall(call: ShownCall, decidedBy: string): Pick<ResultView, 'text' | 'notes'> {
  const { text, notes } = callView(call)
  const line = `Called (by ${decidedBy}): ${call.tool} ${JSON.stringify(call.params)}`
  const isRaw = call.status === 'success' && call.raw === true
  return isRaw || call.status === 'error'
    ? { text, notes: [safeLine(line), ...notes] }
    : { text: `${safeLine(line)}\n${text}`, notes }
}

const calledCodes = {
  success: exitCode.done,
  error: exitCode.failed,
  cancelled: exitCode.interrupted,
} as const

function planView({ steps, missing, unplaced, unset, complete, exitCode: code }: Plan): ResultView {
  const isOpen = missing.length + unplaced.length + unset.length > 0
  const hasProblems = steps.some(({ problems }) => problems.length > 0)
  return {
    code: isOpen ? (code ?? exitCode.notFound) : hasProblems ? exitCode.usage : exitCode.done,
    text: plannedText(steps, (step) => [
      ...step.missing.map((name) => `${name} is missing`),
      ...step.unplaced.map((text) => `${JSON.stringify(text)} has no place`),
      ...(step.unset.length > 0 ? [unsetText(step.unset)] : []),
    ]),
    notes: ['Nothing was called.', complete && `Next: ${nextCall(complete, missing)}`],
  }
}

function unclearNotes({ error, tool, params, unplaced = [], candidates }: Unclear): Notes {
  const hasParams = Object.keys(params ?? {}).length > 0
  const tools = candidates.map(
    ({ tool: id, needs }) => `  ${id} needs ${needs.join(', ') || 'nothing'}`,
  )
  return [
    error.message,
    tool === undefined ? [] : `Tool: ${tool}`,
    hasParams ? `Params: ${JSON.stringify(params)}` : [],
    unplaced.length === 0
      ? []
      : `Not placed: ${unplaced.map((text) => JSON.stringify(text)).join(', ')}`,
    tools.length === 0 ? [] : ['Candidates:', ...tools],
    `Next: ${error.hint}`,
  ]
    .flat()
    .map((failure) => ({ failure }))
}

async function resultOf(answer: RequestAnswer, place: SavePlace, raw: boolean): Promise<Result> {
  if (answer.kind === 'steps') return boundedSteps(answer.result, place)
  return answer.kind === 'unsure' ? unclear(answer) : await calledResult(answer, place, raw)
}

async function calledResult(
  { status, route, cancelled, decidedBy, calls: made }: CalledAnswer,
  place: SavePlace,
  raw: boolean,
): Promise<Called> {
  const calls: (ShownCall & { reason: string })[] = []
  for (const { call, report } of made) {
    calls.push({ ...(await shownCall(report, place, raw)), reason: call.reason })
  }
  return { ...routeFacts(route), decidedBy, status, calls, cancelled }
}

function unclear(answer: UnsureAnswer): Unclear {
  const { reason, route, candidates, decidedBy, complete } = answer
  const { tool, params, missing, unplaced, unset } = answer
  const hint =
    complete === undefined
      ? 'say it with the name of the tool, or run skillrail tools call.'
      : nextCall(complete, missing)
  const error = { code: 'request-unclear', message: reason, hint } as const
  const said = { tool, params, missing, unplaced, unset }
  return { error, ...routeFacts(route), decidedBy, candidates, ...said }
}

/** A call that lacks nothing needs only a confirmation. */
function nextCall(call: string, missing: readonly string[] = []): string {
  return missing.length > 0 ? `complete it: ${call}` : `if this call is meant, run ${call}`
}

function routeFacts(route: Route | undefined): RouteFacts {
  if (!route) return {}
  const { decision, category, margin, candidates, intent } = route
  return { decision, category, margin, candidates, intent }
}

async function dryResult(
  meaning: RequestMeaning,
  request: string,
  calls: CallContext,
): Promise<Result> {
  if (meaning.kind === 'call') return await planOf(meaning, request, calls)
  return meaning.kind === 'unsure'
    ? unclear(openMeaning(meaning, calls.index))
    : await dryRun(meaning.kind, meaning.steps, calls, request)
}

async function planOf(
  { steps: planned, route, decidedBy }: RequestMeaning & { kind: 'call' },
  request: string,
  calls: CallContext,
): Promise<Plan> {
  const steps: ForeseenCall[] = []
  for (const step of planned) steps.push(await foreseen(step, request, calls))
  const lacking = planned.find(
    ({ missing, unplaced, unset }) => missing.length + unplaced.length + unset.length > 0,
  )
  return {
    ...routeFacts(route),
    steps,
    missing: planned.flatMap(({ missing }) => missing),
    unplaced: planned.flatMap(({ unplaced }) => unplaced),
    unset: planned.flatMap(({ unset }) => unset),
    complete: lacking && openCall(lacking, calls.index).complete,
    decidedBy,
  }
}

async function foreseen(
  step: PlannedCall,
  request: string,
  calls: CallContext,
): Promise<ForeseenCall> {
  const definition = await findDefinition(step.tool, calls)
  const guard = await foreseeGuard(definition, step.params, calls, request)
  if (guard.refused) throw guard.refused
  const later = [...step.missing, ...step.bindings.map(({ parameter }) => parameter)]
  const { readOnly, problems, notes } = await foreseeCall(definition, step.params, later, calls)
  return { ...step, readOnly, problems, notes, ...guardResult(guard) }
}
