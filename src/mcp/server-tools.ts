import { callFailureText, partialText } from '../tools/call/failure-text.ts'
import type { CallReport } from '../tools/call/context.ts'
import { callTool } from '../tools/call/call-tool.ts'
import {
  type ChainResult,
  checkBatch,
  checkChain,
  runBatch,
  runToolChain,
} from '../tools/call/steps.ts'
import { definitionOf, findTool } from '../tools/call/find-tool.ts'
import { doRequest, type RequestAnswer, type RequestWorld } from '../tools/call/do-request.ts'
import { foreseeCall, foreseeGuard, foreseeSteps } from '../tools/call/foresee.ts'
import type { JsonObject, ToolDefinition } from '../tools/model.ts'
import { parseBatchText, parseChainText, type ToolStep } from '../tools/call/directive-text.ts'
import { requireNamedPaths, requireYes } from '../tools/call/consent.ts'
import { ToolRequestError } from '../tools/call/errors.ts'
import {
  type ClientCall,
  failureText,
  type OfferedAnnotations,
  type OfferedTool,
  type ToolAnswer,
} from './model.ts'
import {
  acts,
  inputOf,
  longestText,
  nameOf,
  numberIn,
  objectIn,
  optionalTextIn,
  plainJson,
  textIn,
  wordsOf,
} from './input.ts'
import { askWhetherToRun, askWithinBounds, howToAllow, personBehind } from './ask-user.ts'
import type { McpWorld, OpenCalls } from './world.ts'

/**
 * They change nothing that is the user's. Where nothing is known yet they start the servers to ask them,
 * and a request in words goes to the endpoint for embeddings, if one is configured.
 */
const asks: OfferedAnnotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
}

const tool = nameOf('As find_tools gives it.')
const params = { type: 'object', description: 'The parameters of the tool.' }
const request = {
  type: 'string',
  maxLength: longestText,
  description:
    'What the user asked for, as it was typed: workflows that go by keywords look at it.',
}

const guarded =
  'What a project wants to come first (a workflow) runs first. A tool that may change something needs the yes of the user.'

/** The tools of other servers, found by words and called behind the gate of the project. */
export function serverTools(world: McpWorld): OfferedTool[] {
  const { tools } = world
  return [
    {
      name: 'find_tools',
      title: 'Find tools',
      description:
        'Finds the tool of the MCP servers of this project for a request in words, with the parameters that the words give it. Decision: answer (one fits), shortlist (several may), ask (none fits).',
      inputSchema: inputOf(
        {
          request: wordsOf('What to do, in words.'),
          limit: { type: 'integer', minimum: 1, maximum: 50, description: 'Default 5.' },
        },
        ['request'],
      ),
      outputSchema: {
        type: 'object',
        properties: {
          decision: { type: 'string', enum: ['answer', 'shortlist', 'ask'] },
          tool: { type: 'string' },
          params: { type: 'object' },
          missing: { type: 'array', items: { type: 'string' } },
          margin: { type: 'number' },
          candidates: {
            type: 'array',
            items: {
              type: 'object',
              properties: { tool: { type: 'string' }, score: { type: 'number' } },
              required: ['tool', 'score'],
            },
          },
        },
        required: ['decision', 'candidates'],
      },
      annotations: asks,
      async run(input, { signal }) {
        const value = await tools.route(
          textIn(input, 'request'),
          numberIn(input, 'limit', 5),
          signal,
        )
        return { text: JSON.stringify(value), value }
      },
    },
    {
      name: 'describe_tool',
      title: 'Describe a tool',
      description:
        'Gives the parameters of a tool, what its server says of it, and the workflows that stand before it.',
      inputSchema: inputOf({ tool }, ['tool']),
      annotations: asks,
      async run(input, { signal }) {
        return { text: JSON.stringify(await tools.describe(textIn(input, 'tool'), signal)) }
      },
    },
    {
      name: 'call_tool',
      title: 'Call a tool',
      description: `Calls one tool of a server of this project. ${guarded}`,
      inputSchema: inputOf(
        {
          tool,
          params,
          request,
        },
        ['tool'],
      ),
      annotations: acts,
      run: (input, call) =>
        callOne(
          world,
          {
            tool: textIn(input, 'tool'),
            params: objectIn(input, 'params'),
            request: optionalTextIn(input, 'request'),
          },
          call,
        ),
    },
    {
      name: 'do_request',
      title: 'Do a request',
      description: `Finds the right tool for a request in words, and calls it. ${guarded}`,
      inputSchema: inputOf(
        {
          request: wordsOf('What to do, in words.'),
        },
        ['request'],
      ),
      annotations: acts,
      run: (input, call) => doInWords(world, textIn(input, 'request'), call),
    },
    {
      name: 'batch_tools',
      title: 'Call several tools',
      description: `Calls up to 10 tools, one after the other; one that fails does not stop the others. ${guarded}`,
      inputSchema: inputOf({ tools: stepsSchema(false, 10), request }, ['tools']),
      annotations: acts,
      run: (input, call) => batchTools(world, input, call),
    },
    {
      name: 'chain_tools',
      title: 'Chain tools',
      description: `Calls up to 5 tools in order, each with the answers of those before: a parameter "$name" or "$name.field" takes the answer that an earlier one keeps as output_as. It ends at the first failure. ${guarded}`,
      inputSchema: inputOf({ tools: stepsSchema(true, 5), request }, ['tools']),
      annotations: acts,
      run: (input, call) => chainTools(world, input, call),
    },
  ]
}

function stepsSchema(keeps: boolean, most: number): OfferedTool['inputSchema'] {
  const kept = { type: 'string', description: 'A name for its answer.' }
  return {
    type: 'array',
    minItems: 1,
    description: `At most ${most}.`,
    items: inputOf({ tool, params, ...(keeps ? { output_as: kept } : {}) }, ['tool']),
  }
}

/** A call as a model asks for it. */
interface AskedCall {
  tool: string
  params: JsonObject
  /** What the user wrote. */
  request: string | undefined
}

/** Calls one tool that was named, behind the gate; what only reads needs no yes. */
async function callOne(
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
async function batchTools(
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
async function chainTools(
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
async function doInWords(world: McpWorld, request: string, call: ClientCall): Promise<ToolAnswer> {
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
  // What is said of the project as a whole is not part of this answer.
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
