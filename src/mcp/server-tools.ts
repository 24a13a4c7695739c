import { z } from 'zod'
import type { Context } from '../core/command.ts'
import type { ToolIndex } from '../tools/cache/tool-index.ts'
import { callTool } from '../tools/call/call-tool.ts'
import { requireNamedPaths, requireYes } from '../tools/call/consent.ts'
import { parseBatchText, parseChainText, type ToolStep } from '../tools/call/directive-text.ts'
import { doRequest, type RequestAnswer, type RequestWorld } from '../tools/call/do-request.ts'
import { ToolRequestError } from '../tools/call/errors.ts'
import { callFailureText, partialText } from '../tools/call/failure-text.ts'
import { definitionOf, findTool, namedTool } from '../tools/call/find-tool.ts'
import { foreseeCall, foreseeGuard, foreseeSteps } from '../tools/call/foresee.ts'
import {
  type ChainResult,
  checkBatch,
  checkChain,
  runBatch,
  runToolChain,
  type StepOptions,
} from '../tools/call/steps.ts'
import { callResult, type CallResult, valueOfReport } from '../tools/commands/call.ts'
import { foundAmongAsked } from '../tools/commands/project-tools.ts'
import { requestRouter, routeIn, routingOf } from '../tools/commands/route.ts'
import { toolFacts } from '../tools/commands/show.ts'
import { openCalls, type ToolCalls } from '../tools/commands/tool-calls.ts'
import type { JsonObject, ToolDefinition } from '../tools/model.ts'
import { askWhetherToRun, askWithinBounds, howToAllow, personBehind } from './ask-user.ts'
import type { ServedProject } from './served-project.ts'
import {
  acts,
  type ClientCall,
  defineTool,
  failureText,
  nameOf,
  objectOf,
  type OfferedTool,
  plainJson,
  textOf,
  type ToolAnswer,
  wordsOf,
} from './tool.ts'

/**
 * These change nothing of the user's. Where nothing is known yet they start the servers to ask them,
 * and a request in words goes to the endpoint for embeddings, if one is configured.
 */
const asks: OfferedTool['annotations'] = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
}

const guarded =
  'What a project wants to come first (a workflow) runs first. A tool that may change something needs the yes of the user.'

const tool = nameOf('As find_tools gives it.')
const params = objectOf('The parameters of the tool.').default({})
const request = wordsOf('What to do, in words.')
const typedRequest = textOf(
  'What the user asked for, as it was typed: workflows that go by keywords look at it.',
).optional()
const step = z.strictObject({ tool, params })
const keptStep = step.extend({
  output_as: z.string().describe('A name for its answer.').optional(),
})

const routed = z.object({
  decision: z.enum(['answer', 'shortlist', 'ask']),
  tool: z.string().optional(),
  params: z.object({}).optional(),
  missing: z.array(z.string()).optional(),
  margin: z.number().optional(),
  candidates: z.array(z.object({ tool: z.string(), score: z.number() })),
})

/** The tools of other servers, found by words and called behind the gate of the project. */
export function serverTools(project: ServedProject): OfferedTool[] {
  return [
    defineTool({
      name: 'find_tools',
      title: 'Find tools',
      description:
        'Finds the tool of the MCP servers of this project for a request in words, with the parameters that the words give it. Decision: answer (one fits), shortlist (several may), ask (none fits).',
      input: z.strictObject({
        request,
        limit: z.int().min(1).max(50).default(5).describe('Maximum number of tools.'),
      }),
      output: routed,
      annotations: asks,
      run: (input, { signal }) => findTools(project, input, signal),
    }),
    defineTool({
      name: 'describe_tool',
      title: 'Describe a tool',
      description:
        'Gives the parameters of a tool, what its server says of it, and the workflows that stand before it.',
      input: z.strictObject({ tool }),
      annotations: asks,
      run: (input, { signal }) => describeTool(project, input.tool, signal),
    }),
    defineTool({
      name: 'call_tool',
      title: 'Call a tool',
      description: `Calls one tool of a server of this project. ${guarded}`,
      input: z.strictObject({ tool, params, request: typedRequest }),
      annotations: acts,
      run: (input, call) => callOne(project, input, call),
    }),
    defineTool({
      name: 'do_request',
      title: 'Do a request',
      description: `Finds the right tool for a request in words, and calls it. ${guarded}`,
      input: z.strictObject({ request }),
      annotations: acts,
      run: (input, call) => doInWords(project, input.request, call),
    }),
    defineTool({
      name: 'batch_tools',
      title: 'Call several tools',
      description: `Calls up to 10 tools, one after the other; one that fails does not stop the others. ${guarded}`,
      input: z.strictObject({
        tools: z.array(step).min(1).describe('At most 10.'),
        request: typedRequest,
      }),
      annotations: acts,
      run: (input, call) => batchTools(project, input, call),
    }),
    defineTool({
      name: 'chain_tools',
      title: 'Chain tools',
      description: `Calls up to 5 tools in order, each with the answers of those before: a parameter "$name" or "$name.field" takes the answer that an earlier one keeps as output_as. It ends at the first failure. ${guarded}`,
      input: z.strictObject({
        tools: z.array(keptStep).min(1).describe('At most 5.'),
        request: typedRequest,
      }),
      annotations: acts,
      run: (input, call) => chainTools(project, input, call),
    }),
  ]
}

async function findTools(
  project: ServedProject,
  { request, limit }: { request: string; limit: number },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const context = project.during(signal)
  return await foundAmongAsked(context, async () => {
    const index = await toolIndex(project, undefined, signal)
    const routing = await routingOf(request, index, project.workspace, context)
    const value = plainJson(routeIn(routing, request, limit))
    return { text: JSON.stringify(value), value }
  })
}

async function describeTool(
  project: ServedProject,
  name: string,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  return await foundAmongAsked(project.during(signal), async () => {
    const index = await toolIndex(project, name, signal)
    const { tool: found, note } = namedTool(name, index.tools)
    return { text: JSON.stringify({ ...toolFacts(found, index, project.workspace), note }) }
  })
}

/** Without a cache, or for a name that it does not know, the servers are asked. */
async function toolIndex(
  project: ServedProject,
  name: string | undefined,
  signal: AbortSignal,
): Promise<ToolIndex> {
  const { workspace, servers } = project
  const quiet = { ask: undefined, progress: (): void => undefined }
  const { calls, index } = openCalls(project.during(signal), {}, workspace, servers, quiet)
  const known = index().tools
  const isKnown = name === undefined ? known.length > 0 : known.some((one) => one.id === name)
  if (!isKnown) await calls.discover?.(signal)
  return index()
}

interface OneCall {
  tool: string
  params: JsonObject
  request?: string | undefined
}

async function callOne(
  project: ServedProject,
  { tool: name, params: given, request: typed }: OneCall,
  call: ClientCall,
): Promise<ToolAnswer> {
  return await withCalls(project, call, async ({ calls, place }, consent) => {
    const definition = await definitionOf(await findTool(name, calls), calls)
    const texts = `${typed ?? ''} ${textsIn(given)}`
    await requireCall({ tool: definition, params: given }, { typed, texts }, consent)
    const one = { tool: definition.id, params: given, requestText: typed }
    const report = await callTool(one, calls)
    if (report.status === 'error') return { text: callFailureText(report), isError: true }
    return { text: JSON.stringify(await callResult(report, place)) }
  })
}

/** What a request says, and all texts in it: they name the paths that may be written to. */
interface RequestTexts {
  typed: string | undefined
  texts: string
}

/** Needs a yes, unless the call is refused anyway; one with wrong parameters is never made. */
async function requireCall(
  call: { tool: ToolDefinition; params: JsonObject },
  { typed, texts }: RequestTexts,
  consent: Consent,
): Promise<void> {
  const { refused } = await foreseeGuard(call.tool, call.params, consent.context, typed)
  if (refused !== undefined) throw refused
  const { problems } = await foreseeCall(call.tool, call.params, [], consent.context)
  if (problems.length === 0) await requireYes([call], texts, consent)
}

interface StepsInput {
  tools: readonly object[]
  request?: string | undefined
}

async function batchTools(
  project: ServedProject,
  { tools, request: typed }: StepsInput,
  call: ClientCall,
): Promise<ToolAnswer> {
  const steps = stepsIn(tools, 'batch')
  const texts = textsIn({ tools, typed: typed ?? '' })
  return await withCalls(project, call, async ({ calls, place }, consent) => {
    await checkBatch(steps, calls)
    const callable: { tool: ToolDefinition; params: JsonObject }[] = []
    for (const one of await foreseeSteps('batch', steps, calls)) {
      const { refused } = await foreseeGuard(one.tool, one.params, calls, typed)
      // A call that is never made needs no yes.
      if (refused === undefined && one.problems.length === 0) callable.push(one)
    }
    await requireYes(callable, texts, consent)
    const allowed = new Set(callable.map((one) => callText(one.tool.id, one.params)))
    const results = await runBatch(steps, calls, {
      requestText: typed,
      toValue: (report) => valueOfReport(report, place),
      // A server that is asked meanwhile may make a call possible that was not when the yes was given.
      async beforeCall({ tool: name, params: given }) {
        const definition = await definitionOf(await findTool(name, calls), calls)
        if (allowed.has(callText(definition.id, given))) return
        await requireCall({ tool: definition, params: given }, { typed, texts }, consent)
      },
    })
    return answerOfBatch(results)
  })
}

function callText(id: string, given: JsonObject): string {
  return `${id} ${JSON.stringify(given)}`
}

async function chainTools(
  project: ServedProject,
  { tools, request: typed }: StepsInput,
  call: ClientCall,
): Promise<ToolAnswer> {
  const steps = stepsIn(tools, 'chain')
  const texts = textsIn({ tools, typed: typed ?? '' })
  return await withCalls(project, call, async ({ calls, place }, consent) => {
    await checkChain(steps, calls)
    const planned = await foreseeSteps('chain', steps, calls)
    for (const one of planned) {
      const { refused } = await foreseeGuard(one.tool, one.params, calls, typed)
      if (refused !== undefined) throw refused
    }
    // With a wrong first call the chain ends before it calls anything.
    if (planned[0]?.problems.length === 0) await requireYes(planned, texts, consent)
    const chain = await runToolChain(steps, calls, {
      requestText: typed,
      toValue: (report) => valueOfReport(report, place),
      // The yes was to the plan: a path that only an earlier answer names is asked for.
      async beforeCall({ tool: name, params: given }) {
        const definition = await definitionOf(await findTool(name, calls), calls)
        await requireNamedPaths(definition, given, texts, consent)
      },
    })
    return answerOfChain(chain)
  })
}

function stepsIn(tools: readonly object[], kind: 'batch' | 'chain'): readonly ToolStep[] {
  const text = JSON.stringify(tools)
  const reading = kind === 'batch' ? parseBatchText(text) : parseChainText(text)
  if (reading.kind === kind) return reading.steps
  const message = reading.kind === 'broken' ? reading.message : `there is no ${kind} in it`
  throw new ToolRequestError({ code: `${kind}-syntax`, message })
}

/** Words of a model teach the router nothing. */
async function doInWords(
  project: ServedProject,
  words: string,
  call: ClientCall,
): Promise<ToolAnswer> {
  if (words.trim() === '') {
    throw new ToolRequestError({ code: 'request-empty', message: 'the request says nothing' })
  }
  return await withCalls(project, call, async ({ context, index, place }, consent) => {
    const toValue: StepOptions['toValue'] = (report) => valueOfReport(report, place)
    const router = async (): ReturnType<typeof requestRouter> =>
      await requestRouter(words, index(), project.workspace, context)
    return await answerRequest(await doRequest(words, { ...consent, router, toValue }), place)
  })
}

async function answerRequest(
  answer: RequestAnswer,
  place: ToolCalls['place'],
): Promise<ToolAnswer> {
  switch (answer.kind) {
    case 'batch':
      return answerOfBatch(answer.results)
    case 'chain':
      return answerOfChain(answer.result)
    case 'called': {
      const { status, cancelled, tried } = answer
      const calls: CallResult[] = []
      for (const { report } of answer.calls) calls.push(await callResult(report, place))
      const text = JSON.stringify({ status, calls, cancelled, tried })
      return { text, isError: status !== 'success' }
    }
    case 'unsure': {
      const { reason, route, tool: id, missing, tried } = answer
      const candidates = route?.candidates.map((one) => one.tool) ?? []
      const lines = [
        `Error: ${reason}`,
        ...(id === undefined ? [] : [`Tool: ${id}`]),
        ...(missing === undefined ? [] : [`Missing: ${missing.join(', ')}`]),
        ...(candidates.length === 0 ? [] : [`Candidates: ${candidates.join(', ')}`]),
        ...tried.map((one) => `Tried: ${one.tool}: ${one.why}`),
        'Next: say it with the name of a tool, or use call_tool.',
      ]
      return { text: lines.join('\n'), isError: true }
    }
  }
}

function answerOfBatch(results: Parameters<typeof partialText>[0]): ToolAnswer {
  return { text: JSON.stringify(results), isError: partialText(results) !== undefined }
}

function answerOfChain(chain: ChainResult): ToolAnswer {
  const isError = chain.failed !== undefined || chain.cancelled !== undefined
  return { text: JSON.stringify(chain), isError }
}

type Consent = Pick<RequestWorld, 'context' | 'yes' | 'person' | 'toAllow'>

/**
 * Opens everything that the calls of one request need. What workflows and attempts have to say comes
 * with the answer, and with an error too: a model that is not told what ran first would do it again.
 */
async function withCalls(
  project: ServedProject,
  { signal, connection, ask: askUser, progress: tell }: ClientCall,
  work: (tools: ToolCalls & { context: Context }, consent: Consent) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const ask = askWithinBounds(askUser)
  const notes: string[] = []
  let count = 0
  const context = project.during(signal, (line) => notes.push(line))
  const { workspace, servers, yes } = project
  const tools = openCalls(context, { session: connection.session }, workspace, servers, {
    ask: askWhetherToRun(ask),
    progress(id, { progress, total, message }) {
      // Several tools may be called for one request, and progress must grow.
      count = Math.max(count + 0.001, progress)
      tell({ progress: count, total, message: message === undefined ? id : `${id}: ${message}` })
    },
  })
  // What is said of the project as a whole is not part of this answer.
  notes.length = 0
  const { calls } = tools
  const { log } = calls
  const made: string[] = []
  calls.log = async (record) => {
    made.push(`${record.tool} (${record.outcome === 'success' ? 'success' : 'failed'})`)
    await log?.(record)
  }
  const toAllow = howToAllow(ask, yes, 'skillrail tools call')
  try {
    const consent = { context: calls, yes, person: personBehind(ask), toAllow }
    return { ...(await work({ ...tools, context }, consent)), notes }
  } catch (error) {
    if (signal.aborted) throw error
    if (made.length > 0) notes.push(`Called before that: ${made.join(', ')}.`)
    return { text: failureText(error), notes, isError: true }
  }
}

/** Every key and text in a value. What a model wrote itself names the paths in it. */
function textsIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([key, member]) => `${key} ${textsIn(member)}`)
    .join(' ')
}
