import { type Diagnostic, hasErrors } from '#core/errors'
import type { JsonValue } from '#core/json'
import { stepCaller } from '#tools/call/call-tool'
import type { CallAtGate, CallGate, CallIndex, CallInTurn, StepCaller } from '#tools/call/context'
import { ToolRefusedError } from '#tools/errors'
import {
  type GoneWorkflows,
  projectGate,
  refuseWithoutGone,
  requireTrusted,
  type WorkflowTrust,
  workflowTrust,
} from '#tools/call/gate'
import type { ServerFailure } from '#tools/model'
import { afterCall, inTurnWhereStateful, runGate } from '#tools/workflow/gate'
import { matchWorkflows } from '#tools/workflow/match'
import type { WorkflowDefinition, WorkflowTool } from '#tools/workflow/model'
import { loadWorkflows } from '#tools/workflow/read-workflows'
import { wireName } from '#agent/tool'
import type { AgentTool } from '#agent/types'
import type { AgentServers, ProjectContext } from './mcp-part.ts'

/**
 * Checks the workflows of a project before every call of a conversation, of a server's tool or of its
 * own. Whatever servers are offered, all of the project are available for the steps of a workflow; they
 * start with the first call that needs a binding workflow, and for nothing else. A step may be a tool
 * of the agent itself: it is done when the agent has called it with success.
 */
export class WorkflowGate implements CallGate {
  /** The project has no workflow, lost none since it was trusted, and has no unreadable workflow file. */
  readonly none: boolean
  readonly #context: ProjectContext
  readonly #servers: AgentServers
  readonly #tools: () => readonly AgentTool[]
  readonly #workflows: readonly WorkflowDefinition[]
  readonly #binding: readonly WorkflowDefinition[]
  readonly #diagnostics: readonly Diagnostic[]
  readonly #gone: GoneWorkflows

  constructor(context: ProjectContext, servers: AgentServers, tools: () => readonly AgentTool[]) {
    this.#context = context
    this.#servers = servers
    this.#tools = tools
    const { workflows, diagnostics } = loadWorkflows(context.project)
    for (const { path, message } of diagnostics) context.note(`${path}: ${message}`)
    this.#workflows = workflows
    this.#binding = workflows.filter(({ mode }) => mode !== 'suggest')
    this.#diagnostics = diagnostics
    this.#gone = this.#readTrust().gone()
    const isLost = this.#gone.workflows.length > 0 || this.#gone.unknown !== undefined
    this.none = !hasErrors(diagnostics) && workflows.length === 0 && !isLost
  }

  async pass(call: CallAtGate) {
    await this.passOnce([call], this.#tools())
  }

  /**
   * One call under each of the names of its tool: it passes once.
   * @param callers the tools of the conversation, or of the subagent, that calls.
   */
  async passOnce(calls: readonly CallAtGate[], callers: readonly AgentTool[]): Promise<void> {
    const [first] = calls
    if (!first) return
    const servers = this.#servers
    const trust = this.#readTrust()
    if (hasErrors(this.#diagnostics)) return await this.#gateOf([], trust).pass(first, noSteps)
    const own = ownTools([...callers, ...this.#tools()])
    const ofAgent = Array.from(own.values(), ({ definition }) => definition)
    const offered = [...servers.index.tools, ...ofAgent]
    for (const call of calls) refuseWithoutGone(call, this.#gone, offered)
    if (!this.#mayBind(calls, offered, trust)) return await this.#suggest(calls, offered)
    const names = servers.definitions.map(({ name }) => name)
    await servers.list(names, first.signal)
    const installed = [...servers.index.tools, ...ofAgent]
    for (const call of calls) failClosed(call, this.#binding, servers.failures, installed)
    const call =
      firstMatch(calls, this.#binding, installed) ??
      firstMatch(calls, this.#binding, installed, 'or missing') ??
      first
    const callStep = stepCaller(servers.calls(first.signal))
    await this.#gateOf(installed, trust).pass(call, serverStepsOnly(callStep, own, callers))
  }

  /** Calls to a server whose state counts are made one after the other. */
  async inTurn<T>(call: CallInTurn, work: () => Promise<T>): Promise<T> {
    const { session } = this.#context
    const { tools } = this.#servers.index
    return await inTurnWhereStateful(call, work, { session, workflows: this.#workflows, tools })
  }

  /** Records what a call that was made means for the steps of workflows; `text`: of a success. */
  async after(call: Omit<CallAtGate, 'signal'>, text: string | undefined, value?: JsonValue) {
    await afterCall(call, this.#context.session, this.#workflows, text, value)
  }

  #readTrust(): WorkflowTrust {
    const { project, runtime, settings } = this.#context
    return workflowTrust(project, runtime, settings.workspaceTrust, this.#workflows)
  }

  #gateOf(tools: CallIndex['tools'], trust: WorkflowTrust): CallGate {
    return projectGate({
      ...this.#context,
      workspaceTrust: this.#context.settings.workspaceTrust,
      workflows: this.#workflows,
      diagnostics: this.#diagnostics,
      index: () => ({ tools, definition: () => undefined }),
      trust,
    })
  }

  #mayBind(
    calls: readonly CallAtGate[],
    offered: readonly WorkflowTool[],
    trust: WorkflowTrust,
  ): boolean {
    const before = this.#binding.filter(
      (workflow) => firstMatch(calls, [workflow], offered, 'or missing') !== undefined,
    )
    for (const workflow of before) requireTrusted(workflow, trust)
    if (before.length > 0) return true
    // Whether a keyword means a server's tool is not known before all servers are listed.
    const ofServers = calls.filter(({ tool }) => tool.server !== '')
    return this.#binding.some(
      (workflow) =>
        !trust.blockOf(workflow.path) &&
        ofServers.some((call) => matchWorkflows(call, [workflow], offered).keywordOnly.length > 0),
    )
  }

  /** The tools of a suggestion need not be there, and no server is started for it. */
  async #suggest(calls: readonly CallAtGate[], offered: readonly WorkflowTool[]): Promise<void> {
    const workflows = this.#workflows.filter(({ mode }) => mode === 'suggest')
    const call = firstMatch(calls, workflows, offered, 'or missing')
    if (!call) return
    const { notInstalled } = matchWorkflows(call, workflows, offered)
    const named = notInstalled.flatMap(({ missing }) => missing)
    await runGate(call, {
      ...this.#context,
      workflows,
      tools: [...offered, ...named.map((name) => ({ id: name, server: '', name }))],
      callStep: noSteps,
      signal: call.signal,
    })
  }
}

const noSteps = (): Promise<never> => Promise.reject(new Error('No step is called here.'))

/** The call under the name that the first of the workflows matches, or matches with missing tools. */
function firstMatch(
  calls: readonly CallAtGate[],
  workflows: readonly WorkflowDefinition[],
  installed: readonly WorkflowTool[],
  tools: 'installed' | 'or missing' = 'installed',
): CallAtGate | undefined {
  for (const workflow of workflows) {
    const found = calls.find((call) => {
      const { matched, notInstalled } = matchWorkflows(call, [workflow], installed)
      return matched !== undefined || (tools === 'or missing' && notInstalled.length > 0)
    })
    if (found) return found
  }
  return undefined
}

/** A workflow whose tools are nowhere is reported and lets the call pass. */
export function failClosed(
  call: CallAtGate,
  workflows: readonly WorkflowDefinition[],
  failures: readonly Pick<ServerFailure, 'server' | 'message'>[],
  installed: readonly WorkflowTool[],
): void {
  const [first] = matchWorkflows(call, workflows, installed).notInstalled
  if (!first || failures.length === 0) return
  const reasons = failures.map(({ server, message }) => `${server} cannot be used: ${message}`)
  const message = `Workflow '${first.workflow}' must run first and cannot: it needs ${first.missing.join(', ')}, and ${reasons.join('; ')}`
  const hint = 'Check them with: skillrail tools servers'
  throw new ToolRefusedError({ code: 'workflow-servers', message, hint })
}

/** A tool of the agent as workflows see it, under each of its names; it belongs to no server. */
export function namesAtGate(tool: AgentTool) {
  const { name, aliases = [], description, inputSchema } = tool
  const others = aliases.filter((alias) => alias.toLowerCase() !== name.toLowerCase())
  return [name, ...others].map((id) => ({
    // Not the wire name: that of a long name is cut, and nobody writes it into a workflow.
    tool: {
      id,
      server: '',
      name: id.replaceAll('.', '__'),
      description,
      inputSchema,
      // Workflows look at names alone.
      parameters: [],
      required: [],
    },
    instance: 'agent',
  }))
}

type OwnTools = ReadonlyMap<string, { tool: AgentTool; definition: AtGate['tool'] }>

type AtGate = ReturnType<typeof namesAtGate>[number]

/** The tools that belong to no server, under all of their names; the first of a name counts. */
function ownTools(tools: readonly AgentTool[]): OwnTools {
  const named = tools
    .filter(({ origin }) => origin.kind !== 'mcp')
    .flatMap((tool) => namesAtGate(tool).map(({ tool: definition }) => ({ tool, definition })))
  // Of two entries with one key the last one counts, in the place of the first.
  const entries = named.map((one) => [one.definition.id, one] as const)
  return new Map([...entries, ...entries.toReversed()])
}

/** Calls steps on servers. A step that is a tool of the agent fails until the agent called it. */
function serverStepsOnly(
  callStep: StepCaller,
  own: OwnTools,
  callers: readonly AgentTool[],
): StepCaller {
  return async (id, params, signal) => {
    const tool = own.get(id)?.tool
    if (!tool) return await callStep(id, params, signal)
    const name = wireName(tool.name)
    const call = Object.keys(params).length === 0 ? name : `${name} with ${JSON.stringify(params)}`
    const suggestion = callers.includes(tool)
      ? `Call ${call} first, then this again.`
      : `The agent that delegates has to call ${call} first.`
    return { ok: false, error: 'it is a tool of the agent, which was not called yet', suggestion }
  }
}
