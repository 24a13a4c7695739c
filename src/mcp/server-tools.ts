import { z } from 'zod'
import type { Context } from '#core/command'
import type { ToolIndex } from '#tools/cache/tool-index'
import type { ConsentSetup } from '#tools/call/consent'
import { parseDirective } from '#tools/call/directive-text'
import {
  doRequest,
  type RequestAnswer,
  type RequestUser,
  type ToolModel,
} from '#tools/call/do-request'
import { ToolRequestError } from '#tools/errors'
import { callFailureText, partialText } from '#tools/call/failure-text'
import { namedTool } from '#tools/call/find-tool'
import { type CallPurpose, makeCall, makeSteps } from '#tools/call/make-calls'
import { isBatch, type StepOptions, type StepsResult } from '#tools/call/steps'
import { callResult, type CallResult, valueOfReport } from '#tools/call/call-result'
import { openCalls, type ToolCalls } from '#tools/call/open-calls'
import { denials, findAmongServers } from '#tools/project-tools'
import { requestRouter, routeIn, routingOf } from '#tools/route/project-routing'
import { toolFacts } from '#tools/tool-facts'
import type { ToolContent, ToolOutcome } from '#tools/model'
import { isObject, type JsonObject } from '#core/json'
import { askWhetherToRun, askWithinBounds, howToAllow, userBehind } from './ask-user.ts'
import type { ServedProject } from './served-project.ts'
import {
  changeAnnotations,
  type ClientCall,
  defineTool,
  failureText,
  nameOf,
  objectOf,
  type OfferedTool,
  plainJson,
  textOf,
  type ToolAnswer,
} from './tool.ts'

/**
 * For tools that change nothing of the user's. They start the servers if the cache has no tool yet.
 */
const searchAnnotations: OfferedTool['annotations'] = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: true,
}

const guarded =
  'Workflows of the project run first. A tool that may change something needs the yes of the user.'

const tool = nameOf('As find_tools gives it.')
const params = objectOf('The parameters of the tool.').default({})
const request = textOf('What to do, in words.').min(1)
const typedRequest = textOf('What the user typed, for workflows that go by keywords.').optional()
const step = z.strictObject({ tool, params })
const namedStep = step.extend({
  output_as: z.string().describe('A name for its answer.').optional(),
})

const routeSchema = z.object({
  decision: z.enum(['answer', 'shortlist', 'ask']),
  tool: z.string().optional(),
  params: z.object({}).optional(),
  missing: z.array(z.string()).optional(),
  margin: z.number().optional(),
  candidates: z.array(z.object({ tool: z.string(), score: z.number() })),
  heldBack: z.array(z.string()).optional(),
  denied: z.array(z.string()).optional(),
})

export function serverTools(project: ServedProject): OfferedTool[] {
  return [
    defineTool({
      name: 'find_tools',
      title: 'Find tools',
      description:
        'Finds the tool of the MCP servers of this project for a request in words, with its parameters. Decision: answer (one fits), shortlist (several may), ask (none fits). The tools in heldBack and denied cannot be called.',
      input: z.strictObject({
        request,
        limit: z.int().min(1).max(50).default(5).describe('Maximum number of tools.'),
      }),
      output: routeSchema,
      annotations: searchAnnotations,
      run: ({ request: words, limit }, { signal }) =>
        withIndex(project, undefined, signal, async (index, context) => {
          const routed = routeIn(routingOf(index, denials(context)), words, limit)
          const value = plainJson({ ...routed, diagnostics: [] })
          return { text: JSON.stringify(value), value }
        }),
    }),
    defineTool({
      name: 'describe_tool',
      title: 'Describe a tool',
      description: 'Gives the parameters of a tool, its description, and the workflows before it.',
      input: z.strictObject({ tool }),
      annotations: searchAnnotations,
      run: ({ tool: name }, { signal }) =>
        withIndex(project, name, signal, (index) => {
          const { tool: found, note } = namedTool(name, index.tools)
          return { text: JSON.stringify({ ...toolFacts(found, index, project.workspace), note }) }
        }),
    }),
    defineTool({
      name: 'call_tool',
      title: 'Call a tool',
      description: `Calls one tool of a server of this project. ${guarded}`,
      input: z.strictObject({ tool, params, request: typedRequest }),
      annotations: changeAnnotations,
      run: (input, call) =>
        answerRequest(project, call, input.request, (open) =>
          open.callOne(input.tool, input.params),
        ),
    }),
    defineTool({
      name: 'do_request',
      title: 'Do a request',
      description: `Finds the right tool for a request in words, and calls it. ${guarded}`,
      input: z.strictObject({ request }),
      annotations: changeAnnotations,
      run: (input, call) =>
        answerRequest(project, call, input.request, (open) => open.doInWords(input.request)),
    }),
    defineTool({
      name: 'batch_tools',
      title: 'Call several tools',
      description: `Calls up to 10 tools in order; a failure does not stop the others. ${guarded}`,
      input: z.strictObject({
        tools: z.array(step).min(1).describe('At most 10.'),
        request: typedRequest,
      }),
      annotations: changeAnnotations,
      run: (input, call) =>
        answerRequest(project, call, input.request, (open) => open.steps('batch', input.tools)),
    }),
    defineTool({
      name: 'chain_tools',
      title: 'Chain tools',
      description: `Calls up to 5 tools in order, until one fails: "$name" or "$name.field" in a parameter is the answer of an earlier one with that output_as. ${guarded}`,
      input: z.strictObject({
        tools: z.array(namedStep).min(1).describe('At most 5.'),
        request: typedRequest,
      }),
      annotations: changeAnnotations,
      run: (input, call) =>
        answerRequest(project, call, input.request, (open) => open.steps('chain', input.tools)),
    }),
  ]
}

async function withIndex(
  project: ServedProject,
  name: string | undefined,
  signal: AbortSignal,
  answerFrom: (index: ToolIndex, context: Context) => Promise<ToolAnswer> | ToolAnswer,
): Promise<ToolAnswer> {
  const context = project.during(signal)
  return await findAmongServers(context, async () => {
    const quiet = { ask: undefined, progress: (): void => undefined }
    const { calls, index } = openCalls(context, {}, project.workspace, project.servers, quiet)
    const tools = index().tools
    const isKnown = name === undefined ? tools.length > 0 : tools.some((one) => one.id === name)
    if (!isKnown) await calls.discover?.(signal)
    return await answerFrom(index(), context)
  })
}

/** Errors carry the notes of workflows too: a model that does not know what ran would repeat it. */
async function answerRequest(
  project: ServedProject,
  call: ClientCall,
  typed: string | undefined,
  work: (request: ToolRequest) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const request = new ToolRequest(project, call, typed)
  const { notes, callsMade: made, blocks } = request
  try {
    return { ...(await work(request)), notes, blocks }
  } catch (error) {
    if (call.signal.aborted) throw error
    if (made.length > 0) notes.push(`Called before that: ${made.join(', ')}.`)
    return { text: failureText(error), notes, isError: true }
  }
}

class ToolRequest {
  readonly notes: string[] = []
  readonly callsMade: string[] = []
  /** The parts of the answers that are not text. */
  readonly blocks: ToolContent[] = []
  readonly #context: Context
  readonly #tools: ToolCalls
  readonly #consent: ConsentSetup & { user?: RequestUser | undefined }
  /** The text that the user typed; workflows with keywords match it. */
  readonly #userRequest: string | undefined

  constructor(project: ServedProject, call: ClientCall, userRequest: string | undefined) {
    const ask = askWithinBounds(call.ask)
    const { workspace, servers, yes } = project
    const { session } = call.connection
    let count = 0
    this.#userRequest = userRequest?.trim() === '' ? undefined : userRequest
    this.#context = project.during(call.signal, (line) => this.notes.push(line))
    this.#tools = openCalls(this.#context, { session }, workspace, servers, {
      ask: askWhetherToRun(ask),
      progress(id, { progress, total, message }) {
        // Several tools may be called for one request, and progress must grow.
        count = Math.max(count + 0.001, progress)
        const progressText = message === undefined ? id : `${id}: ${message}`
        call.progress({ progress: count, total, message: progressText })
      },
    })
    // A diagnostic about the whole project is not part of this answer.
    this.notes.length = 0
    const { calls } = this.#tools
    const { log } = calls
    calls.log = async (record, server) => {
      this.callsMade.push(`${record.tool} (${record.outcome === 'success' ? 'success' : 'failed'})`)
      await log?.(record, server)
    }
    const toAllow = howToAllow(ask, yes, 'skillrail tools call')
    this.#consent = { context: calls, yes, user: userBehind(ask), toAllow }
  }

  async callOne(name: string, params: JsonObject): Promise<ToolAnswer> {
    const { place } = this.#tools
    const purpose = this.#purposeOf(params)
    const report = await makeCall({ tool: name, params }, purpose, this.#consent)
    if (report.status === 'error') return { text: callFailureText(report), isError: true }
    this.#keep(report.outcome)
    const { structured } = report.outcome
    const value = isObject(structured) ? structured : undefined
    return { text: JSON.stringify(await callResult(report, place)), value }
  }

  async steps(kind: 'batch' | 'chain', tools: readonly object[]): Promise<ToolAnswer> {
    const steps = parseDirective(JSON.stringify(tools), kind)
    const options = { toValue: this.#toValue }
    const purpose = this.#purposeOf(tools)
    return answerOfSteps(await makeSteps(kind, steps, purpose, this.#consent, options))
  }

  async doInWords(words: string): Promise<ToolAnswer> {
    if (words.trim() === '') {
      throw new ToolRequestError({ code: 'request-empty', message: 'the request says nothing' })
    }
    const { index, place } = this.#tools
    const answer = await doRequest(words, {
      ...this.#consent,
      router: async () => requestRouter(index()),
      model: await settingsModel(this.#context),
      toValue: this.#toValue,
    })
    if (answer.kind === 'called') {
      for (const { report } of answer.calls)
        if (report.status === 'success') this.#keep(report.outcome)
    }
    return await answerOfRequest(answer, place)
  }

  readonly #toValue: StepOptions['toValue'] = (report) => {
    this.#keep(report.outcome)
    return valueOfReport(report, this.#tools.place)
  }

  #keep({ content }: ToolOutcome): void {
    this.blocks.push(...content.filter(({ type }) => type !== 'text'))
  }

  #purposeOf(modelInput: unknown): CallPurpose {
    return { requestText: this.#userRequest, texts: textsIn([this.#userRequest, modelInput]) }
  }
}

/** Joins every key and string of a value: workflows match the paths that a model wrote there. */
function textsIn(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([key, member]) => `${key} ${textsIn(member)}`)
    .join(' ')
}

/** The model of the setting `tools.model`; undefined if it is empty. */
async function settingsModel(context: Context): Promise<ToolModel | undefined> {
  const name = context.settings.tools.model
  if (name === '') return undefined
  const { toolModel } = await import('#agent/choose-tool')
  return await toolModel(name, context)
}

async function answerOfRequest(answer: RequestAnswer, place: ToolCalls['place']) {
  switch (answer.kind) {
    case 'steps':
      return answerOfSteps(answer.result)
    case 'called': {
      const { status, cancelled } = answer
      const calls: CallResult[] = []
      for (const { report } of answer.calls) calls.push(await callResult(report, place))
      const text = JSON.stringify({ status, calls, cancelled })
      return { text, isError: status !== 'success' }
    }
    case 'unsure': {
      const { reason, candidates, tool: id, missing } = answer
      const tools = candidates.map(
        (one) => `${one.tool} (needs ${one.needs.join(', ') || 'nothing'})`,
      )
      const lines = [
        `Error: ${reason}`,
        ...(id === undefined ? [] : [`Tool: ${id}`]),
        ...(missing ? [`Missing: ${missing.join(', ')}`] : []),
        ...(tools.length === 0 ? [] : [`Candidates: ${tools.join(', ')}`]),
        'Next: say it with the name of a tool, or use call_tool.',
      ]
      return { text: lines.join('\n'), isError: true }
    }
  }
}

function answerOfSteps(result: StepsResult): ToolAnswer {
  const isError = isBatch(result)
    ? partialText(result) !== undefined
    : (result.failed ?? result.cancelled) !== undefined
  return { text: JSON.stringify(result), isError }
}
