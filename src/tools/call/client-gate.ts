import type { ClientName } from '#core/client-folders'
import { SkillrailError, messageOf } from '#core/errors'
import { type JsonObject, type JsonValue } from '#core/json'
import { foldToolName, mcpName, type McpPattern, mcpReadings } from '#core/mcp-names'
import type { Runtime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { safeLine } from '#core/text'
import { nameInServer, serverOfId } from '#tools/cache/cache-file'
import { readRefreshRecord, type RefreshRecord } from '#tools/cache/stored-tools'
import { loadToolIndex, readsOnly } from '#tools/cache/tool-index'
import { categorise } from '#tools/category/categorise'
import { readServerConfiguration } from '#tools/config/read-configuration'
import { afterCall, isOpen, jsonIn } from '#tools/workflow/gate'
import { isDeclaredReadOnly, isNamed, matchWorkflows, namesFor } from '#tools/workflow/match'
import type {
  GatedCall,
  Prerequisite,
  WorkflowDefinition,
  WorkflowTool,
} from '#tools/workflow/model'
import { ownCompletion } from '#tools/workflow/own-completions'
import { completionsIn, type PlannedStep, planWorkflow } from '#tools/workflow/plan'
import { loadWorkflows } from '#tools/workflow/read-workflows'
import type { SessionState } from '#tools/workflow/session-file'
import { openSession, type SessionStore } from '#tools/workflow/session'
import { refuseWithoutGone, unreadable, workflowTrust, type WorkflowTrust } from './gate.ts'

/** A call of an MCP tool that an agent client makes itself, over its own connection to the server. */
export interface ClientCall {
  client: ClientName
  /** The client's own name of the tool. */
  name: string
  /** The server, and perhaps the tool, as the client also gives them by themselves. */
  named?: { server: string; tool?: string | undefined } | undefined
  params: JsonObject
}

export interface ClientAnswer {
  text: string
  value: JsonValue
}

export interface ClientVerdict {
  /** Why the call must not be made. */
  denial?: string | undefined
  /** What the agent should know, and nothing enforces. */
  advice?: string | undefined
}

interface ClientGateOptions {
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'state' | 'tools' | 'workspaceTrust'>
  /** The client's ID of the session. */
  session: string | undefined
}

/** A client waits ten seconds for its hook. */
const longestWaitMs = 4000

/**
 * Applies the workflows of a project to the calls that an agent client makes itself. It starts no server and
 * runs no prerequisite: the agent makes these calls, and they count in the session that `tools call` uses.
 * Nothing of a project permits anything here, so its workflows need no trust.
 */
export class ClientGate {
  readonly #session: SessionStore
  readonly #workflows: readonly WorkflowDefinition[]
  readonly #problem: SkillrailError | undefined
  readonly #trust: WorkflowTrust
  readonly #known: KnownTools

  constructor(options: ClientGateOptions) {
    const { project, runtime, settings, session: client } = options
    const { workflows, diagnostics } = loadWorkflows(project)
    const problem = diagnostics.find(({ severity }) => severity === 'error')
    this.#workflows = workflows
    this.#problem = problem && unreadable(problem, project)
    this.#session = openSession({ project, runtime, settings, client, waitMs: longestWaitMs })
    this.#trust = workflowTrust(project, runtime, settings.workspaceTrust, workflows)
    this.#known = new KnownTools(options)
  }

  /** Judges a call before it is made. */
  async before(call: ClientCall): Promise<ClientVerdict> {
    if (this.#problem) return { denial: sentence(this.#problem) }
    const verdicts: ClientVerdict[] = []
    for (const gated of this.#gatedCalls(call)) verdicts.push(await this.#judge(call, gated))
    const denial = verdicts.find((verdict) => verdict.denial !== undefined)
    if (denial) return denial
    const stale = await this.#forgetStale(this.#gatedCalls(call))
    return stale === undefined ? joinedAdvice(verdicts) : { denial: stale }
  }

  /**
   * Records a call that was made.
   *
   * @param answer undefined if the call failed
   */
  async after(call: ClientCall, answer: ClientAnswer | undefined): Promise<ClientVerdict> {
    if (this.#problem) return {}
    const verdicts: ClientVerdict[] = []
    for (const gated of this.#gatedCalls(call)) {
      const { advice } = await this.#judge(call, gated)
      verdicts.push({ advice })
      const { text, value } = answer ?? {}
      const kept = value === undefined ? undefined : jsonIn(value)
      await afterCall(gated, this.#session, this.#workflows, text, kept)
    }
    return joinedAdvice(verdicts)
  }

  #gatedCalls({ client, name, named, params }: ClientCall): GatedCall[] {
    return this.#known.meant(name, client, named).map((tool) => ({ tool, params }))
  }

  async #judge(call: ClientCall, gated: GatedCall): Promise<ClientVerdict> {
    const installed = this.#known.installed
    try {
      refuseWithoutGone(gated, this.#trust.gone(), installed)
    } catch (error) {
      if (error instanceof SkillrailError) return { denial: sentence(error) }
      throw error
    }
    const isListed = this.#known.isListed(gated.tool.server)
    const { acting, notInstalled } = matchWorkflows(gated, this.#workflows, installed)
    // If nobody knows which tools the server has, it may well have those that are missing.
    const missing = isListed ? [] : notInstalled.map(({ workflow }) => workflow)
    const matched = [
      ...acting.map(({ workflow }) => workflow),
      ...this.#workflows.filter(({ name }) => missing.includes(name)),
    ]
    if (matched.length === 0) return {}
    const { state, diagnostics } = await this.#session.read()
    const problem = diagnostics.find(({ severity }) => severity === 'error')
    const advice: string[] = []
    for (const workflow of matched) {
      const open = this.#openSteps(gated, workflow, state)
      if (open.length === 0) continue
      const lines = open.map((step) => this.#stepLine(step, call, gated.tool, workflow)).join('\n')
      const { name, mode } = workflow
      if (mode === 'suggest') advice.push(`Workflow '${name}' suggests to run first\n${lines}`)
      if (mode === 'warn')
        advice.push(`Workflow '${name}' warns: these prerequisites are missing\n${lines}`)
      if (mode !== 'enforce' || open.every(({ required }) => !required)) continue
      const unknown = isListed
        ? ''
        : '\nIf there is no such tool, tell the user to run: skillrail tools refresh'
      const lost = problem
        ? `\nNothing counts as done, because the state of the session cannot be read: ${problem.path ?? this.#session.path}: ${problem.message}`
        : ''
      const denial = `Workflow '${name}' must run first. These calls are missing in this session:\n${lines}\nMake them yourself, then make this call again.${unknown}${lost}`
      return { denial: safeLines(denial) }
    }
    return advice.length === 0 ? {} : { advice: safeLines(advice.join('\n')) }
  }

  #openSteps(call: GatedCall, workflow: WorkflowDefinition, state: SessionState): PlannedStep[] {
    const tools = this.#known.with(call.tool.server, workflow)
    const exactly = completionsIn(state, workflow)
    const owned = (planned: PlannedStep) => {
      const prerequisite = workflow.prerequisites.find(({ step }) => step === planned.step)
      const tool = tools.find(({ id }) => id === planned.id)
      if (!prerequisite || !tool) return undefined
      const isKnown = (tool.parameters ?? []).length > 0
      const step = { planned, prerequisite, server: tool.server, isKnown }
      return exactly(planned) ?? ownCompletion(state, workflow, step)
    }
    const { steps } = planWorkflow(call, workflow, state, tools, owned)
    // A step that ran is not made again for a value that was not kept.
    return steps.filter((step) => isOpen(step) && owned(step) === undefined)
  }

  #stepLine(
    { step, tool, id, params, description, reason, waitsFor, required }: PlannedStep,
    { client, name: called }: ClientCall,
    { server, name: calledTool }: WorkflowTool,
    workflow: WorkflowDefinition,
  ): string {
    const tools = this.#known.with(server, workflow)
    const meant = tools.find((one) => one.id === id)
    const target = { server: meant?.server ?? server, tool: meant?.name ?? tool }
    // As the client spells the server, which has other characters in some names.
    const own = called.endsWith(calledTool) ? called.slice(0, -calledTool.length) : undefined
    const isBeside = target.server === server && own !== undefined
    const name = isBeside ? `${own}${plainName(target.tool)}` : mcpName(target, client)
    const others = this.#known.isListed(target.server)
      ? []
      : namesFor(tool, workflow)
          .slice(1)
          .map((alias) => plainName(alias.tool))
    const also = others.length === 0 ? '' : ` (or ${others.join(', ')})`
    const optional = required ? '' : ' (optional)'
    // What nobody accepted is not passed on as text.
    if (this.#trust.blockOf(workflow.path)) {
      const keys = Object.keys(params).map(plainName).join(', ')
      const first = waitsFor.length === 0 ? '' : ` (after step ${waitsFor.join(' and ')})`
      return `  ${step}. ${name}${also}${keys === '' ? '' : ` with ${keys}`}${first}${optional}`
    }
    const values = Object.keys(params).length === 0 ? '' : ` ${JSON.stringify(params)}`
    const why = reason === undefined ? '' : ` (${reason})`
    return `  ${step}. ${name}${also}${values}: ${description}${why}${optional}`
  }

  /** A call makes steps stale, whether it succeeds or not, and some clients do not report a failed one. */
  async #forgetStale(calls: readonly GatedCall[]): Promise<string | undefined> {
    try {
      for (const call of calls) await afterCall(call, this.#session, this.#workflows)
      return undefined
    } catch (error) {
      const isBinding = this.#workflows.some(({ enabled, mode }) => enabled && mode === 'enforce')
      if (!isBinding) return undefined
      return `The state of the workflows cannot be written (${this.#session.path}): ${safeLine(messageOf(error))}`
    }
  }
}

/** The tools that a project knows, and what a client's name of a tool means. */
class KnownTools {
  readonly #options: ClientGateOptions
  readonly installed: readonly WorkflowTool[]
  readonly #record: RefreshRecord | undefined
  #configured: readonly string[] | undefined

  constructor(options: ClientGateOptions) {
    this.#options = options
    const { tools: permissions } = options.settings
    const { index } = loadToolIndex(options)
    this.#record = readRefreshRecord(options).record
    const fromIndex = (index?.tools ?? []).map((tool): WorkflowTool => {
      return { ...tool, readOnly: tool.readOnly || isDeclaredReadOnly(tool.id, permissions) }
    })
    this.installed = [...fromIndex, ...recordedTools(this.#record, fromIndex)]
  }

  /** Whether a server was listed on this machine, so that it is known which tools it has. */
  isListed(server: string): boolean {
    const servers = this.#record?.servers ?? []
    return servers.some(
      ({ name, listedAt, failure }) => name === server && listedAt !== '' && failure === undefined,
    )
  }

  /** The installed tools, and those that a workflow needs of a server that was never listed. */
  with(server: string, { prerequisites }: WorkflowDefinition): readonly WorkflowTool[] {
    const assumed = prerequisites.flatMap(({ tool }: Prerequisite): WorkflowTool[] => {
      const owner = tool.includes('__') ? serverOfId(tool, []) : server
      const name = nameInServer(tool, owner)
      const isThere = this.installed.some((one) => one.server === owner && isNamed(one, tool))
      if (isThere || this.isListed(owner) || name.includes('*')) return []
      return [{ id: `${owner}__${name}`, server: owner, name }]
    })
    return [...this.installed, ...assumed]
  }

  /** Every tool that a client may mean by a name: the known ones, else those of known servers, else all readings. */
  meant(name: string, client: ClientName, named: ClientCall['named']): WorkflowTool[] {
    const isServer = (one: string, other: string): boolean =>
      foldToolName(one) === foldToolName(other)
    const all = mcpReadings(name, client)
    const ofServer = all.filter(({ server }) => named && isServer(server, named.server))
    const readings = ofServer.length > 0 ? ofServer : all
    const meant: readonly McpPattern[] =
      named?.tool === undefined
        ? readings.map((reading) =>
            named && ofServer.length > 0 ? { ...reading, server: named.server } : reading,
          )
        : [{ server: named.server, tool: named.tool }]
    const known = this.installed.filter((tool) =>
      meant.some((one) => isServer(tool.server, one.server) && isServer(tool.name, one.tool)),
    )
    if (known.length > 0) return known
    this.#configured ??= this.#configuredServers()
    const servers = this.#configured
    const configured = meant.flatMap(({ server, tool }) =>
      servers.filter((one) => isServer(one, server)).map((one) => ({ server: one, tool })),
    )
    return (configured.length > 0 ? configured : meant).map(assumedTool)
  }

  #configuredServers(): string[] {
    const { project, runtime } = this.#options
    return readServerConfiguration({ project, runtime }).servers.map(({ name }) => name)
  }
}

function assumedTool({ server, tool: name }: McpPattern): WorkflowTool {
  const id = `${server}__${name}`
  const category = categorise([{ id, server, name }]).get(id)
  return { id, server, name, category, readOnly: readsOnly({ name }, false) }
}

/** Whoever can change a project can take a tool out of its cache, but not out of the user's record. */
function recordedTools(
  record: RefreshRecord | undefined,
  known: readonly WorkflowTool[],
): WorkflowTool[] {
  const servers = record?.servers.map(({ name }) => name) ?? []
  const ids = new Set(known.map(({ id }) => id))
  return (record?.tools ?? [])
    .filter(({ id, removedAt }) => removedAt === undefined && !ids.has(id))
    .map(({ id, category }) => {
      const server = serverOfId(id, servers)
      return { id, server, name: nameInServer(id, server), category, readOnly: false }
    })
}

function joinedAdvice(verdicts: readonly ClientVerdict[]): ClientVerdict {
  const advice = verdicts.flatMap((verdict) => verdict.advice ?? [])
  return advice.length === 0 ? {} : { advice: [...new Set(advice)].join('\n') }
}

function sentence({ message, hint }: SkillrailError): string {
  const text = `Skillrail denies this call: ${message}.`
  return safeLine(hint === undefined ? text : `${text} ${hint}`)
}

function safeLines(text: string): string {
  return text.split('\n').map(safeLine).join('\n')
}

function plainName(name: string): string {
  return name.replaceAll(/[^\w.*-]/g, '_').slice(0, 64)
}
