import {
  callFailureText,
  callTool,
  type CallReport,
  type ChainResult,
  checkBatch,
  checkChain,
  definitionOf,
  doRequest,
  findTool,
  foreseeCall,
  foreseeGuard,
  foreseeSteps,
  type JsonObject,
  parseBatchText,
  parseChainText,
  partialText,
  type RequestAnswer,
  type RequestWorld,
  requireNamedPaths,
  requireYes,
  runBatch,
  runToolChain,
  ToolRequestError,
  type ToolDefinition,
  type ToolStep,
} from '../tools/index.ts'
import { failureText } from './answer.ts'
import { optionalTextIn } from './input.ts'
import type { ClientCall, ToolAnswer } from './model.ts'
import { askWhetherToRun, askWithinBounds, howToAllow, personBehind } from './person.ts'
import { plainJson } from './plain-json.ts'
import type { McpWorld, OpenCalls } from './world.ts'

/** A call as a model asks for it. */
export interface AskedCall {
  tool: string
  params: JsonObject
  /** What the user wrote. */
  request: string | undefined
}

/** Calls one tool that was named, behind the gate; what only reads needs no yes. */
export async function callOne(
  world: McpWorld,
  { tool, params, request }: AskedCall,
  call: ClientCall,
): Promise<ToolAnswer> {
  return await withCalls(world, call, async (open, consent) => {
    const { calls } = open
    const definition = await definitionOf(await findTool(tool, calls), calls)
    const named = namedBy(params, request)
    await requireCall({ tool: definition, params }, { request, named }, consent)
    const report = await callTool({ tool: definition.id, params, requestText: request }, calls)
    return await answerOf(report, open)
  })
}

/** A yes to one call, unless it is refused anyway; with wrong parameters it is never made. */
async function requireCall(
  { tool, params }: { tool: ToolDefinition; params: JsonObject },
  { request, named }: { request: string | undefined; named: string },
  consent: Consent,
): Promise<void> {
  const { refused } = await foreseeGuard(tool, params, consent.context, request)
  if (refused !== undefined) throw refused
  const { problems } = await foreseeCall(tool, params, [], consent.context)
  if (problems.length === 0) await requireYes([{ tool, params }], named, consent)
}

function callText({ id }: ToolDefinition, params: JsonObject): string {
  return `${id} ${JSON.stringify(params)}`
}

/** Calls up to ten tools that were named. */
export async function batchTools(
  world: McpWorld,
  input: JsonObject,
  call: ClientCall,
): Promise<ToolAnswer> {
  const steps = stepsIn(input, 'batch')
  const requestText = optionalTextIn(input, 'request')
  return await withCalls(world, call, async ({ calls, valueOf }, consent) => {
    await checkBatch(steps, calls)
    const planned = await foreseeSteps('batch', steps, calls)
    const named = namedBy(input, undefined)
    const callable: typeof planned = []
    for (const one of planned) {
      const { refused } = await foreseeGuard(one.tool, one.params, calls, requestText)
      // What is never called is nothing to say yes to.
      if (refused === undefined && one.problems.length === 0) callable.push(one)
    }
    await requireYes(callable, named, consent)
    const allowed = new Set(callable.map(({ tool, params }) => callText(tool, params)))
    const results = await runBatch(steps, calls, {
      requestText,
      toValue: valueOf,
      // A server that is asked meanwhile may make a call possible that was not when the yes was given.
      async beforeCall({ tool, params }) {
        const definition = await definitionOf(await findTool(tool, calls), calls)
        if (allowed.has(callText(definition, params))) return
        await requireCall({ tool: definition, params }, { request: requestText, named }, consent)
      },
    })
    const failed = partialText(results)
    return { text: JSON.stringify(results), isError: failed !== undefined }
  })
}

/** Calls up to five tools, each with the answers of those before. */
export async function chainTools(
  world: McpWorld,
  input: JsonObject,
  call: ClientCall,
): Promise<ToolAnswer> {
  const steps = stepsIn(input, 'chain')
  const requestText = optionalTextIn(input, 'request')
  const named = namedBy(input, undefined)
  return await withCalls(world, call, async ({ calls, valueOf }, consent) => {
    await checkChain(steps, calls)
    const planned = await foreseeSteps('chain', steps, calls)
    for (const { tool, params } of planned) {
      const { refused } = await foreseeGuard(tool, params, calls, requestText)
      if (refused !== undefined) throw refused
    }
    // It ends at its first call then, and no call is made.
    const isWrong = planned[0]?.problems.length !== 0
    if (!isWrong) await requireYes(planned, named, consent)
    const chain = await runToolChain(steps, calls, {
      requestText,
      toValue: valueOf,
      // The yes was to what the plan says: a path that only an earlier answer names is asked for.
      async beforeCall({ tool, params }) {
        const definition = await definitionOf(await findTool(tool, calls), calls)
        await requireNamedPaths(definition, params, named, consent)
      },
    })
    return answerOfChain(chain)
  })
}

/** Finds the tool for a request in words, and calls it. Words of a model teach the router nothing. */
export async function doInWords(
  world: McpWorld,
  request: string,
  call: ClientCall,
): Promise<ToolAnswer> {
  if (request.trim() === '') {
    throw new ToolRequestError({ code: 'request-empty', message: 'the request says nothing' })
  }
  return await withCalls(world, call, async (open, consent) => {
    const answer = await doRequest(request, {
      ...consent,
      router: open.router(request),
      toValue: open.valueOf,
    })
    return await answerRequest(answer, open)
  })
}

type Consent = Pick<RequestWorld, 'context' | 'yes' | 'person' | 'toAllow'>

/**
 * The surroundings of one request. What workflows and attempts have to say comes with the answer,
 * and with an error too: a model that is not told what ran first would do it again.
 */
async function withCalls(
  world: McpWorld,
  call: ClientCall,
  work: (open: OpenCalls, consent: Consent) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const { signal, connection } = call
  const ask = askWithinBounds(call.ask)
  const notes: string[] = []
  let count = 0
  const open = world.tools.open({
    session: connection.session,
    signal,
    note: (line) => notes.push(line),
    ask: askWhetherToRun(ask),
    progress(tool, { progress, total, message }) {
      // Several tools may be called for one request, and progress must grow.
      count = Math.max(count + 0.001, progress)
      const said = message === undefined ? tool : `${tool}: ${message}`
      call.progress({ progress: count, total, message: said })
    },
  })
  // What is said of the project as a whole is no part of this answer.
  notes.length = 0
  const { log } = open.calls
  const made: string[] = []
  open.calls.log = async (record) => {
    made.push(`${record.tool} (${record.outcome === 'success' ? 'success' : 'failed'})`)
    await log?.(record)
  }
  const consent = {
    context: open.calls,
    yes: world.yes,
    person: personBehind(ask),
    toAllow: howToAllow(ask, world.yes, 'skillrail tools call'),
  }
  try {
    const answer = await work(open, consent)
    return { ...answer, notes }
  } catch (error) {
    if (signal.aborted) throw error
    if (made.length > 0) notes.push(`Called before that: ${made.join(', ')}.`)
    return { text: failureText(error), notes, isError: true }
  }
}

/** What a model wrote itself names the paths in it; what an earlier answer puts there does not. */
function namedBy(input: JsonObject, request: string | undefined): string {
  return `${request ?? ''} ${textsOf(input).join(' ')}`
}

function textsOf(value: JsonObject[string] | undefined): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsOf(member)])
}

function stepsIn(input: JsonObject, kind: 'batch' | 'chain'): readonly ToolStep[] {
  const text = JSON.stringify(input['tools'])
  const reading = kind === 'batch' ? parseBatchText(text) : parseChainText(text)
  if (reading.kind === kind) return reading.steps
  const message = reading.kind === 'broken' ? reading.message : `there is no ${kind} in it`
  throw new ToolRequestError({ code: `${kind}-syntax`, message })
}

async function answerOf(report: CallReport, { reportJson }: OpenCalls): Promise<ToolAnswer> {
  if (report.status === 'error') return { text: callFailureText(report), isError: true }
  return { text: JSON.stringify(plainJson(await reportJson(report))) }
}

function answerOfChain(chain: ChainResult): ToolAnswer {
  const isError = chain.failed !== undefined || chain.cancelled !== undefined
  return { text: JSON.stringify(chain), isError }
}

async function answerRequest(answer: RequestAnswer, open: OpenCalls): Promise<ToolAnswer> {
  switch (answer.kind) {
    case 'batch':
      return {
        text: JSON.stringify(answer.results),
        isError: partialText(answer.results) !== undefined,
      }
    case 'chain':
      return answerOfChain(answer.result)
    case 'called': {
      const { calls, status, cancelled, tried } = answer
      const reports: object[] = []
      for (const { report } of calls) reports.push(await open.reportJson(report))
      const value = plainJson({ status, calls: reports, cancelled, tried })
      return { text: JSON.stringify(value), isError: status !== 'success' }
    }
    case 'unsure': {
      const { reason, route, tool, missing, tried } = answer
      const candidates = route?.candidates.map((one) => one.tool) ?? []
      const lines = [
        `Error: ${reason}`,
        ...(tool === undefined ? [] : [`Tool: ${tool}`]),
        ...(missing === undefined ? [] : [`Missing: ${missing.join(', ')}`]),
        ...(candidates.length === 0 ? [] : [`Candidates: ${candidates.join(', ')}`]),
        ...tried.map((one) => `Tried: ${one.tool}: ${one.why}`),
        'Next: say it with the name of a tool, or use call_tool.',
      ]
      return { text: lines.join('\n'), isError: true }
    }
  }
}
