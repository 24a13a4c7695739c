import { type Diagnostic, hasErrors } from '#core/errors'
import type { JsonValue } from '#core/json'
import { stepCaller } from '#tools/call/call-tool'
import type { CallAtGate, CallGate, CallIndex, CallInTurn, StepCaller } from '#tools/call/context'
import {
  type GoneWorkflows,
  projectGate,
  refuseWithoutGone,
  refuseWithoutServers,
  requireTrusted,
  type WorkflowTrust,
  workflowTrust,
} from '#tools/call/gate'
import { afterCall, inTurnWhereStateful, runGate } from '#tools/workflow/gate'
import { matchWorkflows } from '#tools/workflow/match'
import type { WorkflowDefinition, WorkflowTool } from '#tools/workflow/model'
import { loadWorkflows } from '#tools/workflow/read-workflows'
import type { ToolDefinition, ToolSummary } from '#tools/model'
import { wireName } from '#agent/tool'
import type { AgentTool } from '#agent/types'
import type { AgentServers, ConversationProject } from './agent-servers.ts'

/**
 * Checks the workflows of a project before every call of a conversation, both of servers' tools and of
 * the agent's own tools. All servers of the project are available for the steps of a workflow. They
 * start with the first call to which a binding workflow may apply. A step can be a tool of the agent
 * itself: it is done when the agent has called it successfully.
 */
export class WorkflowGate implements CallGate {
  /** The project has no workflow, lost none since it was trusted, and has no unreadable workflow file. */
  readonly none: boolean
  readonly #context: ConversationProject
  readonly #servers: AgentServers
  readonly #tools: () => readonly AgentTool[]
  readonly #workflows: readonly WorkflowDefinition[]
  readonly #binding: readonly WorkflowDefinition[]
  readonly #diagnostics: readonly Diagnostic[]
  readonly #gone: GoneWorkflows

  constructor(
    context: ConversationProject,
    servers: AgentServers,
    tools: () => readonly AgentTool[],
  ) {
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
   * Checks a call once, under all names of its tool.
   * @param callers the tools of the conversation, or of the subagent, that makes the call.
   */
  async passOnce(calls: readonly CallAtGate[], callers: readonly AgentTool[]): Promise<void> {
    const [first] = calls
    if (!first) return
    const servers = this.#servers
    const trust = this.#readTrust()
    if (hasErrors(this.#diagnostics)) return await this.#gateOf([], trust).pass(first, noSteps)
    const agentTools = agentToolsById([...callers, ...this.#tools()])
    const definitions = Array.from(agentTools.values(), ({ definition }) => definition)
    const offeredTools = [...servers.index.tools, ...definitions]
    for (const call of calls) refuseWithoutGone(call, this.#gone, offeredTools)
    if (!this.#mayBind(calls, offeredTools, trust)) return await this.#suggest(calls, offeredTools)
    const names = servers.definitions.map(({ name }) => name)
    await servers.list(names, first.signal)
    const installedTools = [...servers.index.tools, ...definitions]
    for (const call of calls)
      refuseWithoutServers(call, this.#binding, servers.failures, installedTools)
    const call =
      firstMatch(calls, this.#binding, installedTools) ??
      firstMatch(calls, this.#binding, installedTools, 'or missing') ??
      first
    const callStep = stepCaller(servers.callsWith(first.signal))
    await this.#gateOf(installedTools, trust).pass(
      call,
      serverStepsOnly(callStep, agentTools, callers),
    )
  }

  /** Calls to a server with state are made one after the other. */
  async inTurn<T>(call: CallInTurn, work: () => Promise<T>): Promise<T> {
    const { session } = this.#context
    const { tools } = this.#servers.index
    return await inTurnWhereStateful(call, work, { session, workflows: this.#workflows, tools })
  }

  /** Records a finished call for the steps of workflows. `text` is undefined for a failed call. */
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
      failures: () => this.#servers.failures,
      trust,
    })
  }

  #mayBind(
    calls: readonly CallAtGate[],
    offeredTools: readonly WorkflowTool[],
    trust: WorkflowTrust,
  ): boolean {
    const bindingWorkflows = this.#binding.filter(
      (workflow) => firstMatch(calls, [workflow], offeredTools, 'or missing') !== undefined,
    )
    for (const workflow of bindingWorkflows) requireTrusted(workflow, trust)
    if (bindingWorkflows.length > 0) return true
    // A keyword can mean a tool that is known only when all servers are listed.
    const ofServers = calls.filter(({ tool }) => tool.server !== '')
    return this.#binding.some(
      (workflow) =>
        !trust.blockOf(workflow.path) &&
        ofServers.some(
          (call) => matchWorkflows(call, [workflow], offeredTools).keywordOnly.length > 0,
        ),
    )
  }

  /** Prints suggestions. Their tools need not exist, and no server starts for them. */
  async #suggest(
    calls: readonly CallAtGate[],
    offeredTools: readonly WorkflowTool[],
  ): Promise<void> {
    const workflows = this.#workflows.filter(({ mode }) => mode === 'suggest')
    const call = firstMatch(calls, workflows, offeredTools, 'or missing')
    if (!call) return
    const { notInstalled } = matchWorkflows(call, workflows, offeredTools)
    const missingNames = notInstalled.flatMap(({ missing }) => missing)
    await runGate(call, {
      ...this.#context,
      workflows,
      tools: [...offeredTools, ...missingNames.map((name) => ({ id: name, server: '', name }))],
      callStep: noSteps,
      signal: call.signal,
    })
  }
}

const noSteps = (): Promise<never> => Promise.reject(new Error('No step is called here.'))

/** Returns the call under the name that the first matching workflow has, or has with missing tools. */
function firstMatch(
  calls: readonly CallAtGate[],
  workflows: readonly WorkflowDefinition[],
  installedTools: readonly WorkflowTool[],
  tools: 'installed' | 'or missing' = 'installed',
): CallAtGate | undefined {
  for (const workflow of workflows) {
    const match = calls.find((call) => {
      const { matched, notInstalled } = matchWorkflows(call, [workflow], installedTools)
      return matched !== undefined || (tools === 'or missing' && notInstalled.length > 0)
    })
    if (match) return match
  }
  return undefined
}

/** A tool of the agent for workflows, under one of its names. It belongs to no server. */
interface ToolAtGate {
  tool: ToolSummary & Pick<ToolDefinition, 'inputSchema'>
  instance: string
}

export function namesAtGate(tool: AgentTool): ToolAtGate[] {
  const { name, aliases = [], description, inputSchema } = tool
  const otherNames = aliases.filter((alias) => alias.toLowerCase() !== name.toLowerCase())
  return [name, ...otherNames].map((id) => ({
    // Not the wire name: a long one is cut, and must not end up in a workflow.
    tool: {
      id,
      server: '',
      name: id.replaceAll('.', '__'),
      description,
      inputSchema,
      // Workflows compare names only.
      parameters: [],
      required: [],
    },
    instance: 'agent',
  }))
}

type AgentToolsById = ReadonlyMap<string, { tool: AgentTool; definition: ToolAtGate['tool'] }>

/** Maps all names of the agent's own tools. If two tools have a name, the first one gets it. */
function agentToolsById(tools: readonly AgentTool[]): AgentToolsById {
  const namedTools = tools
    .filter(({ origin }) => origin.kind !== 'mcp')
    .flatMap((tool) => namesAtGate(tool).map(({ tool: definition }) => ({ tool, definition })))
  // A map keeps the place of the first entry with a key and the value of the last one.
  const entries = namedTools.map((one) => [one.definition.id, one] as const)
  return new Map([...entries, ...entries.toReversed()])
}

/** Calls steps on servers. A step that is a tool of the agent fails until the agent has called it. */
function serverStepsOnly(
  callStep: StepCaller,
  agentTools: AgentToolsById,
  callers: readonly AgentTool[],
): StepCaller {
  return async (id, params, signal) => {
    const tool = agentTools.get(id)?.tool
    if (!tool) return await callStep(id, params, signal)
    const name = wireName(tool.name)
    const call = Object.keys(params).length === 0 ? name : `${name} with ${JSON.stringify(params)}`
    const suggestion = callers.includes(tool)
      ? `Call ${call} first, then this again.`
      : `The agent that delegates has to call ${call} first.`
    return { ok: false, error: 'it is a tool of the agent, which was not called yet', suggestion }
  }
}
