import { hasErrors, type Runtime, type Settings } from '../../base/index.ts'
import {
  type CallAtGate,
  type CallGate,
  type CallIndex,
  callTool,
  canonicalCategory,
  gatedCall,
  type GoneWorkflows,
  projectGate,
  refuseWithoutGone,
  requireTrusted,
  stepCaller,
  type WorkflowTrust,
  workflowTrust,
} from '../../tools/index.ts'
import {
  afterCall,
  loadWorkflows,
  matchWorkflows,
  runGate,
  type SessionStore,
  type WorkflowDefinition,
  type WorkflowTool,
  workflowTool,
} from '../../workflow/index.ts'
import type { JsonValue } from '../../skill/index.ts'
import type { AgentTool } from '../model.ts'
import { failClosed } from './fail-closed.ts'
import type { McpTools } from './open-mcp-tools.ts'
import { ownTools, serverStepsOnly } from './own-tools.ts'

export interface ConversationGateOptions {
  /** The root of the project. */
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'workspaceTrust'>
  session: SessionStore
  /** Tools of servers that run anyway. */
  offered: () => McpTools['calls']['index']['tools']
  /** Tools of the agent, among them those of servers. */
  tools: () => readonly AgentTool[]
  /** Starts every server that may have a step, and lists what it has. */
  servers: (signal: AbortSignal) => Promise<McpTools>
  note: (line: string) => void
}

/** The workflows of a project before every call of a conversation, of a server's tool or of its own. */
export interface ConversationGate {
  /** The project has no workflow, lost none since it was trusted, and has no file of any that cannot be read. */
  readonly none: boolean
  /**
   * One call under each of the names that its tool has: it passes once.
   * @param tools those of the subagent that calls, where one does.
   * @throws {ToolRefusedError}, {WorkflowPrerequisiteError}: the call must not be made.
   */
  pass(calls: readonly CallAtGate[], tools?: readonly AgentTool[]): Promise<void>
  /** What a call that was made means for the steps of workflows. */
  after(
    calls: readonly CallAtGate[],
    answer: { text: string; value?: JsonValue } | undefined,
  ): Promise<void>
}

/**
 * Whatever servers are offered, all of the project are there for the steps of a workflow. They start
 * with the first call that one which binds stands before, and for nothing else. A step may be a tool
 * of the agent itself: it is done when the agent has called it with success.
 */
export function conversationGate(options: ConversationGateOptions): ConversationGate {
  const { project, runtime, settings, session, note } = options
  const { workspaceTrust } = settings
  const { workflows, diagnostics } = loadWorkflows(project, { canonicalCategory })
  for (const { path, message } of diagnostics) note(`${path}: ${message}`)
  const unreadable = hasErrors(diagnostics)
  const readTrust = (): WorkflowTrust => workflowTrust(project, runtime, workspaceTrust, workflows)
  const gone = readTrust().gone()
  const binding = workflows.filter(({ mode }) => mode !== 'suggest')
  const suggesting = workflows.filter(({ mode }) => mode === 'suggest')
  const gateOf = (tools: CallIndex['tools'], trust: WorkflowTrust): CallGate =>
    projectGate({
      project,
      workspaceTrust,
      workflows,
      diagnostics,
      session,
      index: () => ({ tools, definition: () => undefined }),
      note,
      runtime,
      trust,
    })
  return {
    none: !unreadable && workflows.length === 0 && isNothing(gone),
    async pass(calls, tools = options.tools()) {
      const [first] = calls
      if (first === undefined) return
      const trust = readTrust()
      if (unreadable) return await gateOf([], trust).pass(first, noSteps)
      const own = ownTools([...tools, ...options.tools()])
      const ofAgent = Array.from(own.values(), ({ summary }) => summary)
      const offered = [...options.offered(), ...ofAgent].map(workflowTool)
      for (const call of calls) refuseWithoutGone(call, gone, offered)
      if (!mayBind(calls, offered, trust)) return await suggest(calls, offered)
      const { calls: context, failures } = await options.servers(first.signal)
      const known = [...context.index.tools, ...ofAgent]
      const installed = known.map(workflowTool)
      for (const call of calls) failClosed(call, { workflows: binding, failures, installed })
      const call =
        matching(calls, binding, installed) ?? standing(calls, binding, installed) ?? first
      await gateOf(known, trust).pass(
        call,
        serverStepsOnly(stepCaller(context, callTool), own, tools),
      )
    },
    async after(calls, answer) {
      for (const call of calls) {
        await afterCall(gatedCall(call), session, workflows, answer?.text, answer?.value)
      }
    },
  }

  /** @throws {ToolRefusedError} where a workflow stands before the call whose file may make no calls. */
  function mayBind(
    calls: readonly CallAtGate[],
    offered: readonly WorkflowTool[],
    trust: WorkflowTrust,
  ): boolean {
    const before = binding.filter((one) => standing(calls, [one], offered) !== undefined)
    const unclear = binding.filter((one) => calls.some((call) => isUnclear(call, one, offered)))
    if (before.length === 0 && unclear.length === 0) return false
    for (const workflow of before) requireTrusted(workflow, trust)
    return before.length > 0 || unclear.some(({ path }) => trust.blockOf(path) === undefined)
  }

  /** A suggestion is a remark: what it names need not be there, and nothing is started for it. */
  async function suggest(
    calls: readonly CallAtGate[],
    offered: readonly WorkflowTool[],
  ): Promise<void> {
    const call = standing(calls, suggesting, offered)
    if (call === undefined) return
    const { notInstalled } = matchWorkflows(gatedCall(call), suggesting, offered)
    const named = notInstalled.flatMap(({ missing }) => missing)
    await runGate(gatedCall(call), {
      workflows: suggesting,
      tools: [...offered, ...named.map((name) => ({ id: name, server: '', name }))],
      session,
      caller: noSteps,
      note,
      runtime,
      signal: call.signal,
    })
  }
}

function isNothing({ workflows, unknown }: Pick<GoneWorkflows, 'workflows' | 'unknown'>): boolean {
  return workflows.length === 0 && unknown === undefined
}

const noSteps = (): Promise<never> => Promise.reject(new Error('No step is called here.'))

/** The call under the name that the first of the workflows matches whose tools are there. */
function matching(
  calls: readonly CallAtGate[],
  workflows: readonly WorkflowDefinition[],
  installed: readonly WorkflowTool[],
): CallAtGate | undefined {
  return byFirst(calls, workflows, (call, workflow) => {
    return matchWorkflows(gatedCall(call), [workflow], installed).matched !== undefined
  })
}

/** The same, be the tools of the workflow there or not. */
function standing(
  calls: readonly CallAtGate[],
  workflows: readonly WorkflowDefinition[],
  installed: readonly WorkflowTool[],
): CallAtGate | undefined {
  return byFirst(calls, workflows, (call, workflow) => {
    const { matched, notInstalled } = matchWorkflows(gatedCall(call), [workflow], installed)
    return matched !== undefined || notInstalled.length > 0
  })
}

function byFirst(
  calls: readonly CallAtGate[],
  workflows: readonly WorkflowDefinition[],
  isMeant: (call: CallAtGate, workflow: WorkflowDefinition) => boolean,
): CallAtGate | undefined {
  for (const workflow of workflows) {
    const call = calls.find((one) => isMeant(one, workflow))
    if (call !== undefined) return call
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
