import { type Diagnostic, hasErrors } from '../../core/diagnostic.ts'
import type { Runtime } from '../../core/runtime.ts'
import type { Settings } from '../../core/settings.ts'
import type { JsonValue } from '../../skill/model.ts'
import type { CallAtGate, CallGate, CallIndex, StepCaller } from '../../tools/call/context.ts'
import { callTool, stepCaller } from '../../tools/call/call-tool.ts'
import { canonicalCategory } from '../../tools/category/canonical.ts'
import {
  gatedCall,
  type GoneWorkflows,
  projectGate,
  refuseWithoutGone,
  requireTrusted,
  type WorkflowTrust,
  workflowTrust,
} from '../../tools/call/gate.ts'
import type { ServerListFailure } from '../../tools/server/pool.ts'
import { ToolRefusedError } from '../../tools/call/errors.ts'
import type { ToolSummary } from '../../tools/model.ts'
import { afterCall, runGate } from '../../tools/workflow/gate.ts'
import { loadWorkflows } from '../../tools/workflow/read-workflows.ts'
import { matchWorkflows } from '../../tools/workflow/match.ts'
import type { SessionStore } from '../../tools/workflow/session.ts'
import type { WorkflowDefinition, WorkflowTool } from '../../tools/workflow/model.ts'
import { workflowTool } from '../../tools/workflow/tool-names.ts'
import { wireName } from '../tool.ts'
import type { AgentTool } from '../types.ts'
import type { McpTools } from './open-mcp-tools.ts'

interface WorkflowGateOptions {
  /** The root of the project. */
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'workspaceTrust'>
  session: SessionStore
  /** Tools of servers that are running anyway. */
  offered: () => McpTools['calls']['index']['tools']
  /** Tools of the agent, those of servers included. */
  tools: () => readonly AgentTool[]
  /** Starts every server that may have a step, and lists its tools. */
  servers: (signal: AbortSignal) => Promise<McpTools>
  note: (line: string) => void
}

/**
 * Checks the workflows of a project before every call of a conversation, of a server's tool or of its
 * own. Whatever servers are offered, all of the project are available for the steps of a workflow; they
 * start with the first call that needs a binding workflow, and for nothing else. A step may be a tool
 * of the agent itself: it is done when the agent has called it with success.
 */
export class WorkflowGate {
  /** The project has no workflow, lost none since it was trusted, and has no unreadable workflow file. */
  readonly none: boolean
  readonly #options: WorkflowGateOptions
  readonly #workflows: readonly WorkflowDefinition[]
  readonly #diagnostics: readonly Diagnostic[]
  readonly #gone: GoneWorkflows
  readonly #binding: readonly WorkflowDefinition[]
  readonly #suggesting: readonly WorkflowDefinition[]

  constructor(options: WorkflowGateOptions) {
    this.#options = options
    const { workflows, diagnostics } = loadWorkflows(options.project, { canonicalCategory })
    for (const { path, message } of diagnostics) options.note(`${path}: ${message}`)
    this.#workflows = workflows
    this.#diagnostics = diagnostics
    this.#gone = this.#readTrust().gone()
    this.#binding = workflows.filter(({ mode }) => mode !== 'suggest')
    this.#suggesting = workflows.filter(({ mode }) => mode === 'suggest')
    const { workflows: lost, unknown } = this.#gone
    this.none =
      !hasErrors(diagnostics) &&
      workflows.length === 0 &&
      lost.length === 0 &&
      unknown === undefined
  }

  /**
   * One call under each of the names of its tool: it passes once.
   * @param tools those of the subagent that calls, where one does.
   * @throws {ToolRefusedError}, {WorkflowPrerequisiteError}: the call must not be made.
   */
  async pass(
    calls: readonly CallAtGate[],
    tools: readonly AgentTool[] = this.#options.tools(),
  ): Promise<void> {
    const [first] = calls
    if (first === undefined) return
    const trust = this.#readTrust()
    if (hasErrors(this.#diagnostics)) return await this.#gateOf([], trust).pass(first, noSteps)
    const own = ownTools([...tools, ...this.#options.tools()])
    const ofAgent = Array.from(own.values(), ({ summary }) => summary)
    const offered = [...this.#options.offered(), ...ofAgent].map(workflowTool)
    for (const call of calls) refuseWithoutGone(call, this.#gone, offered)
    if (!this.#mayBind(calls, offered, trust)) return await this.#suggest(calls, offered)
    const { calls: context, failures } = await this.#options.servers(first.signal)
    const known = [...context.index.tools, ...ofAgent]
    const installed = known.map(workflowTool)
    const binding = this.#binding
    for (const call of calls) failClosed(call, { workflows: binding, failures, installed })
    const call =
      firstMatch(calls, binding, installed) ??
      firstMatch(calls, binding, installed, 'even if not installed') ??
      first
    await this.#gateOf(known, trust).pass(
      call,
      serverStepsOnly(stepCaller(context, callTool), own, tools),
    )
  }

  /** Records what a call that was made means for the steps of workflows. */
  async after(
    calls: readonly CallAtGate[],
    answer: { text: string; value?: JsonValue } | undefined,
  ): Promise<void> {
    const { session } = this.#options
    for (const call of calls) {
      await afterCall(gatedCall(call), session, this.#workflows, answer?.text, answer?.value)
    }
  }

  #readTrust(): WorkflowTrust {
    const { project, runtime, settings } = this.#options
    return workflowTrust(project, runtime, settings.workspaceTrust, this.#workflows)
  }

  #gateOf(tools: CallIndex['tools'], trust: WorkflowTrust): CallGate {
    const { project, settings, session, note, runtime } = this.#options
    return projectGate({
      project,
      workspaceTrust: settings.workspaceTrust,
      workflows: this.#workflows,
      diagnostics: this.#diagnostics,
      session,
      index: () => ({ tools, definition: () => undefined }),
      note,
      runtime,
      trust,
    })
  }

  /** @throws {ToolRefusedError} for a call that needs a workflow whose file may make no calls. */
  #mayBind(
    calls: readonly CallAtGate[],
    offered: readonly WorkflowTool[],
    trust: WorkflowTrust,
  ): boolean {
    const before = this.#binding.filter(
      (one) => firstMatch(calls, [one], offered, 'even if not installed') !== undefined,
    )
    const unclear = this.#binding.filter((one) =>
      calls.some((call) => isUnclear(call, one, offered)),
    )
    for (const workflow of before) requireTrusted(workflow, trust)
    return before.length > 0 || unclear.some(({ path }) => trust.blockOf(path) === undefined)
  }

  /** The tools of a suggestion need not be there, and no server is started for it. */
  async #suggest(calls: readonly CallAtGate[], offered: readonly WorkflowTool[]): Promise<void> {
    const workflows = this.#suggesting
    const call = firstMatch(calls, workflows, offered, 'even if not installed')
    if (call === undefined) return
    const { session, note, runtime } = this.#options
    const { notInstalled } = matchWorkflows(gatedCall(call), workflows, offered)
    const named = notInstalled.flatMap(({ missing }) => missing)
    await runGate(gatedCall(call), {
      workflows,
      tools: [...offered, ...named.map((name) => ({ id: name, server: '', name }))],
      session,
      caller: noSteps,
      note,
      runtime,
      signal: call.signal,
    })
  }
}

const noSteps = (): Promise<never> => Promise.reject(new Error('No step is called here.'))

/** The call under the name that the first of the workflows matches. */
function firstMatch(
  calls: readonly CallAtGate[],
  workflows: readonly WorkflowDefinition[],
  installed: readonly WorkflowTool[],
  tools: 'installed' | 'even if not installed' = 'installed',
): CallAtGate | undefined {
  for (const workflow of workflows) {
    for (const call of calls) {
      const { matched, notInstalled } = matchWorkflows(gatedCall(call), [workflow], installed)
      if (matched !== undefined) return call
      if (tools !== 'installed' && notInstalled.length > 0) return call
    }
  }
  return undefined
}

/** Whether a keyword means a server's tool is not known before all servers are listed. */
function isUnclear(
  call: CallAtGate,
  workflow: WorkflowDefinition,
  installed: readonly WorkflowTool[],
): boolean {
  if (call.tool.server === '') return false
  return matchWorkflows(gatedCall(call), [workflow], installed).keywordOnly.length > 0
}

interface FailClosedOptions {
  /** Those that bind: none that only suggests. */
  workflows: readonly WorkflowDefinition[]
  /** Servers that could not be listed; what they have is not known. */
  failures: readonly Pick<ServerListFailure, 'server' | 'message'>[]
  installed: readonly WorkflowTool[]
}

/**
 * A workflow whose tools are nowhere is reported and lets the call pass.
 * @throws {ToolRefusedError} where a server that may have them cannot be used.
 */
export function failClosed(call: CallAtGate, options: FailClosedOptions): void {
  const { workflows, failures, installed } = options
  if (failures.length === 0) return
  const [first] = matchWorkflows(gatedCall(call), workflows, installed).notInstalled
  if (first === undefined) return
  const reasons = failures.map(({ server, message }) => `${server} cannot be used: ${message}`)
  throw new ToolRefusedError({
    code: 'workflow-servers',
    message: `Workflow '${first.workflow}' must run first and cannot: it needs ${first.missing.join(', ')}, and ${reasons.join('; ')}`,
    hint: 'Check them with: skillrail tools servers',
  })
}

/** A tool of the agent as workflows see one, under one of its names. */
interface OwnTool {
  tool: AgentTool
  call: Pick<CallAtGate, 'tool' | 'instance'>
  summary: ToolSummary
}

/**
 * A tool under each of its names: it belongs to no server, that of a skill is `skill.tool`,
 * `skill__tool` and `tool`, and a built-in one is also what skills call it.
 */
export function namesAtGate(tool: AgentTool): readonly OwnTool[] {
  const { name, aliases = [], description, inputSchema } = tool
  const others = aliases.filter((alias) => alias.toLowerCase() !== name.toLowerCase())
  return [name, ...others].map((id): OwnTool => {
    // Not the wire name: that of a long name is cut, and nobody writes it into a workflow.
    const named = { id, server: '', name: id.replaceAll('.', '__'), description }
    const { properties, required } = inputSchema
    return {
      tool,
      call: { tool: { ...named, inputSchema }, instance: 'agent' },
      summary: { ...named, parameters: keysOf(properties), required: textsOf(required) },
    }
  })
}

/** Those of the tools that belong to no server, each under all of its names; the first of a name counts. */
function ownTools(tools: readonly AgentTool[]): ReadonlyMap<string, OwnTool> {
  const own = new Map<string, OwnTool>()
  for (const tool of tools) {
    if (tool.origin.kind === 'mcp') continue
    for (const named of namesAtGate(tool)) {
      if (!own.has(named.summary.id)) own.set(named.summary.id, named)
    }
  }
  return own
}

/**
 * Calls the steps that are tools of servers. The agent calls its own tools itself, with whatever
 * approval they need: until it has, such a step has failed.
 */
function serverStepsOnly(
  callStep: StepCaller,
  own: ReadonlyMap<string, OwnTool>,
  callers: readonly AgentTool[],
): StepCaller {
  return async (id, params, signal) => {
    const named = own.get(id)
    if (named === undefined) return await callStep(id, params, signal)
    const { tool } = named
    const name = wireName(tool.name)
    const call = Object.keys(params).length === 0 ? name : `${name} with ${JSON.stringify(params)}`
    const suggestion = callers.includes(tool)
      ? `Call ${call} first, then this again.`
      : `The agent that delegates has to call ${call} first.`
    return { ok: false, error: 'it is a tool of the agent, which was not called yet', suggestion }
  }
}

function keysOf(properties: unknown): string[] {
  return typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
}
