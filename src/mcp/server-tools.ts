import { z } from 'zod'
import type { Context } from '#core/command'
import type { ToolIndex } from '#tools/cache/tool-index'
import { callTool } from '#tools/call/call-tool'
import {
  type CallToAllow,
  type ConsentSetup,
  requireNamedPaths,
  requireYes,
} from '#tools/call/consent'
import { parseDirective } from '#tools/call/directive-text'
import { doRequest, type RequestAnswer } from '#tools/call/do-request'
import { ToolRequestError } from '#tools/errors'
import { callFailureText, partialText } from '#tools/call/failure-text'
import { findDefinition, namedTool } from '#tools/call/find-tool'
import { foreseeCall, foreseeGuard, foreseeSteps } from '#tools/call/foresee'
import {
  checkSteps,
  isBatch,
  runSteps,
  type StepOptions,
  type StepsResult,
} from '#tools/call/steps'
import {
  callResult,
  type CallResult,
  openCalls,
  type ToolCalls,
  valueOfReport,
} from '#tools/commands/call'
import { foundAmongAsked } from '#tools/commands/project-tools'
import { requestRouter, routeIn, routingOf } from '#tools/commands/route'
import { toolFacts } from '#tools/commands/list'
import type { ToolContent, ToolOutcome } from '#tools/model'
import { isObject, type JsonObject } from '#core/json'
import { askWhetherToRun, askWithinBounds, howToAllow, userBehind } from './ask-user.ts'
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
} from './tool.ts'

/** These change nothing of the user's. Where nothing is known yet they start the servers. */
const asks: OfferedTool['annotations'] = {
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

export function serverTools(project: ServedProject): OfferedTool[] {
  return [
    defineTool({
      name: 'find_tools',
      title: 'Find tools',
      description:
        'Finds the tool of the MCP servers of this project for a request in words, with its parameters. Decision: answer (one fits), shortlist (several may), ask (none fits).',
      input: z.strictObject({
        request,
        limit: z.int().min(1).max(50).default(5).describe('Maximum number of tools.'),
      }),
      output: routed,
      annotations: asks,
      run: ({ request: words, limit }, { signal }) =>
        withIndex(project, undefined, signal, async (index, context) => {
          const routing = await routingOf(words, index, project.workspace, context)
          const value = plainJson(routeIn(routing, words, limit))
          return { text: JSON.stringify(value), value }
        }),
    }),
    defineTool({
      name: 'describe_tool',
      title: 'Describe a tool',
      description: 'Gives the parameters of a tool, its description, and the workflows before it.',
      input: z.strictObject({ tool }),
      annotations: asks,
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
      annotations: acts,
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
      annotations: acts,
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
      annotations: acts,
      run: (input, call) =>
        answerRequest(project, call, input.request, (open) => open.steps('batch', input.tools)),
    }),
    defineTool({
      name: 'chain_tools',
      title: 'Chain tools',
      description: `Calls up to 5 tools in order, until one fails: "$name" or "$name.field" in a parameter is the answer of an earlier one with that output_as. ${guarded}`,
      input: z.strictObject({
        tools: z.array(keptStep).min(1).describe('At most 5.'),
        request: typedRequest,
      }),
      annotations: acts,
      run: (input, call) =>
        answerRequest(project, call, input.request, (open) => open.steps('chain', input.tools)),
    }),
  ]
}

async function withIndex(
  project: ServedProject,
  name: string | undefined,
  signal: AbortSignal,
  look: (index: ToolIndex, context: Context) => Promise<ToolAnswer> | ToolAnswer,
): Promise<ToolAnswer> {
  const context = project.during(signal)
  return await foundAmongAsked(context, async () => {
    const quiet = { ask: undefined, progress: (): void => undefined }
    const { calls, index } = openCalls(context, {}, project.workspace, project.servers, quiet)
    const known = index().tools
    const isKnown = name === undefined ? known.length > 0 : known.some((one) => one.id === name)
    if (!isKnown) await calls.discover?.(signal)
    return await look(index(), context)
  })
}

/** Notes of workflows come with errors too: a model not told what ran would run it again. */
async function answerRequest(
  project: ServedProject,
  call: ClientCall,
  typed: string | undefined,
  work: (request: ToolRequest) => Promise<ToolAnswer>,
): Promise<ToolAnswer> {
  const request = new ToolRequest(project, call, typed)
  const { notes, made, blocks } = request
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
  readonly made: string[] = []
  /** What of the answers is no text. */
  readonly blocks: ToolContent[] = []
  readonly #context: Context
  readonly #tools: ToolCalls
  readonly #consent: ConsentSetup
  /** What the user typed: workflows that go by keywords look at it. */
  readonly #typed: string | undefined

  constructor(project: ServedProject, call: ClientCall, typed: string | undefined) {
    const ask = askWithinBounds(call.ask)
    const { workspace, servers, yes } = project
    const { session } = call.connection
    let count = 0
    this.#typed = typed?.trim() === '' ? undefined : typed
    this.#context = project.during(call.signal, (line) => this.notes.push(line))
    this.#tools = openCalls(this.#context, { session }, workspace, servers, {
      ask: askWhetherToRun(ask),
      progress(id, { progress, total, message }) {
        // Several tools may be called for one request, and progress must grow.
        count = Math.max(count + 0.001, progress)
        const said = message === undefined ? id : `${id}: ${message}`
        call.progress({ progress: count, total, message: said })
      },
    })
    // What is said of the project as a whole is not part of this answer.
    this.notes.length = 0
    const { calls } = this.#tools
    const { log } = calls
    calls.log = async (record) => {
      this.made.push(`${record.tool} (${record.outcome === 'success' ? 'success' : 'failed'})`)
      await log?.(record)
    }
    const toAllow = howToAllow(ask, yes, 'skillrail tools call')
    this.#consent = { context: calls, yes, user: userBehind(ask), toAllow }
  }

  async callOne(name: string, params: JsonObject): Promise<ToolAnswer> {
    const { calls, place } = this.#tools
    const found = await findDefinition(name, calls)
    await this.#requireCall({ tool: found, params }, textsIn([this.#typed, params]))
    const one = { tool: found.id, params, requestText: this.#typed }
    const report = await callTool(one, calls)
    if (report.status === 'error') return { text: callFailureText(report), isError: true }
    this.#keep(report.outcome)
    const { structured } = report.outcome
    const value = isObject(structured) ? structured : undefined
    return { text: JSON.stringify(await callResult(report, place)), value }
  }

  async steps(kind: 'batch' | 'chain', tools: readonly object[]): Promise<ToolAnswer> {
    const steps = parseDirective(JSON.stringify(tools), kind)
    const texts = textsIn([this.#typed, tools])
    const { calls } = this.#tools
    await checkSteps(kind, steps, calls)
    const planned = await foreseeSteps(kind, steps, calls)
    const callable: CallToAllow[] = []
    for (const one of planned) {
      const refused = await this.#refusalOf(one)
      if (refused && kind === 'chain') throw refused
      if (!refused && one.problems.length === 0) callable.push(one)
    }
    // A call that is never made needs no yes, and a chain ends before a wrong first call. A later
    // one of a chain may become right meanwhile.
    const ofChain = planned[0]?.problems.length === 0 ? planned : []
    const asked: readonly CallToAllow[] = kind === 'chain' ? ofChain : callable
    await requireYes(asked, texts, this.#consent)
    const keyOf = ({ tool: { id }, params }: CallToAllow): string =>
      kind === 'chain' ? id : `${id} ${JSON.stringify(params)}`
    const allowed = new Set(asked.map(keyOf))
    const options: StepOptions = {
      requestText: this.#typed,
      toValue: this.#toValue,
      // The yes was to the plan: not to a path that an earlier answer names, nor to a call that a
      // server makes possible meanwhile.
      beforeCall: async ({ tool: name, params }) => {
        const one = { tool: await findDefinition(name, calls), params }
        if (allowed.has(keyOf(one))) await requireNamedPaths(one.tool, params, texts, this.#consent)
        else await this.#requireCall(one, texts)
      },
    }
    return answerOfSteps(await runSteps(kind, steps, calls, options))
  }

  /** Words of a model teach the router nothing. */
  async doInWords(words: string): Promise<ToolAnswer> {
    if (words.trim() === '') {
      throw new ToolRequestError({ code: 'request-empty', message: 'the request says nothing' })
    }
    const { index, place, project } = this.#tools
    const answer = await doRequest(words, {
      ...this.#consent,
      router: async () => await requestRouter(words, index(), project, this.#context),
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

  async #refusalOf({ tool, params }: CallToAllow): Promise<Error | undefined> {
    return (await foreseeGuard(tool, params, this.#tools.calls, this.#typed)).refused
  }

  /** Needs a yes, unless the call is refused anyway; one with wrong parameters is never made. */
  async #requireCall(call: CallToAllow, texts: string): Promise<void> {
    const refused = await this.#refusalOf(call)
    if (refused) throw refused
    const { problems } = await foreseeCall(call.tool, call.params, [], this.#tools.calls)
    if (problems.length === 0) await requireYes([call], texts, this.#consent)
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

async function answerOfRequest(answer: RequestAnswer, place: ToolCalls['place']) {
  switch (answer.kind) {
    case 'steps':
      return answerOfSteps(answer.result)
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
        ...(missing ? [`Missing: ${missing.join(', ')}`] : []),
        ...(candidates.length === 0 ? [] : [`Candidates: ${candidates.join(', ')}`]),
        ...tried.map((one) => `Tried: ${one.tool}: ${one.why}`),
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
