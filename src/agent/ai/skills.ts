import { randomBytes } from 'node:crypto'
import type {
  Instructions,
  ModelMessage,
  PrepareStepFunction,
  StopCondition,
  SystemModelMessage,
  Tool,
  ToolApprovalConfiguration,
  ToolApprovalStatus,
  ToolSet,
} from 'ai'
import { present } from '#core/json'
import type { SkillManager } from '#library/manager'
import { AgentEnvironment, type AgentOptions } from '#agent/agent-options'
import { askApprover, judgeCall, offersTool } from '#agent/approval/permit'
import { listNames } from '#agent/approval/tool-patterns'
import { ToolNameError } from '#agent/errors'
import { McpPart } from '#agent/mcp-tools/mcp-part'
import { catalogTokens } from '#agent/skills/skill-part'
import { SkillSet } from '#agent/skills/skill-set'
import { type SkillCatalogue, skillCatalogue } from '#agent/skills/skill-tools'
import type { AgentTool } from '#agent/types'
import { CallBook, type Workflows } from './guarded-tools.ts'
import { RunSkills, withStopHooks } from './run-skills.ts'
import { createSkillTools, resolveSkillCall, type SkillTools } from './skill-tool-set.ts'
import type { AnyAgent } from './subagent-tool.ts'
import { inputOf, quietContext, toolFacts } from './tool-set.ts'
import { splitSkill } from '#agent/subagents/skills'

/** What {@link createSkills} makes skills of. Everything is optional. */
export interface SkillsOptions
  extends
    ConversationOptions,
    Pick<
      AgentOptions,
      | 'skills'
      | 'skillDirs'
      | 'trustedPaths'
      | 'workspaceTrust'
      | 'discover'
      | 'project'
      | 'runtime'
      | 'settings'
      | 'providers'
      | 'disallowedTools'
      | 'permissionMode'
      | 'approver'
    > {}

interface ConversationOptions {
  /** Estimated tokens that the list of skills may have; default 2,000. */
  catalogTokens?: number | undefined
  /** Subagents by name, for skills with `context: fork`; `default` is for those that name none. */
  agents?: Readonly<Record<string, AnyAgent>> | undefined
  /**
   * What approvals are signed with, so that a browser cannot forge them. Processes that answer one
   * conversation need the same; default: random for each process.
   */
  approvalSecret?: string | Uint8Array | undefined
  /** How long a skill is active: until the next message of the user (`turn`, the default), or always. */
  lifetime?: 'turn' | 'conversation' | undefined
  /** Skills that are active from the start, `name arguments`; they stay so. */
  startSkills?: readonly string[] | undefined
  /** Told what was left out and why: an untrusted reference, a server that does not start. */
  onNotice?: ((message: string) => void) | undefined
}

/** As `toolApproval` of the AI SDK. A skill's `allowed-tools` can lift `user-approval`, nothing else. */
export type OwnApproval<T extends ToolSet> =
  | Extract<ToolApprovalConfiguration<T, Context>, (...asked: never[]) => unknown>
  | {
      [Name in keyof T]?:
        | ToolApprovalStatus
        | ((
            input: T[Name] extends Tool<infer Input> ? Input : unknown,
            options: Pick<Asked, 'messages' | 'runtimeContext'> & {
              toolCallId: string
              toolContext: unknown
            },
          ) => ToolApprovalStatus | PromiseLike<ToolApprovalStatus>)
    }

type Context = Record<string, unknown>

/** Settings of your own that the skills work with; give the others beside `...settings()`. */
export interface OwnSettings<T extends ToolSet> {
  instructions?: Instructions | undefined
  tools?: T | undefined
  activeTools?: readonly (keyof T & string)[] | undefined
  toolApproval?: OwnApproval<T> | undefined
  prepareStep?: PrepareStepFunction<T> | undefined
  stopWhen?: StopCondition<T> | StopCondition<T>[] | undefined
}

/** To be spread into `generateText`, `streamText` or `new ToolLoopAgent`. */
export interface SkillSettings<T extends ToolSet> {
  instructions?: Instructions
  tools: T & SkillTools
  prepareStep: PrepareStepFunction<T & SkillTools>
  toolApproval: ToolApprovalConfiguration<T & SkillTools, Context>
  stopWhen: StopCondition<T & SkillTools>[]
  experimental_toolApprovalSecret: string | Uint8Array
}

/**
 * The skills of an application of the AI SDK. The conversation is their only state: which skills are
 * active is read off its messages, so one object serves all requests, and any process continues any
 * conversation.
 *
 * @example
 * const skills = await createSkills({ skillDirs: ['./skills'], trustedPaths: ['./skills'] })
 * const agent = new ToolLoopAgent({ model, ...skills.settings({ instructions, tools }) })
 */
export class Skills {
  /** The tools that `settings` adds; give them to `convertToModelMessages` too. */
  readonly tools: SkillTools
  readonly #options: ConversationOptions
  readonly #environment: AgentEnvironment
  readonly #servers: Pick<McpPart, 'close'>
  readonly #set: SkillSet
  readonly #secret: string | Uint8Array
  readonly #calls: CallBook
  /** By the object that a run carries along: its runtime context, or its messages. */
  readonly #runs = new WeakMap<object, RunSkills>()
  readonly #added = new WeakSet<SystemModelMessage>()
  #catalogue: SkillCatalogue = skillCatalogue([], 0)

  /** @internal */
  constructor(
    options: ConversationOptions,
    environment: AgentEnvironment,
    servers: Pick<McpPart, 'close'>,
    set: SkillSet,
    workflows?: Workflows,
  ) {
    this.#options = options
    this.#environment = environment
    this.#servers = servers
    this.#calls = new CallBook(workflows)
    this.#set = set
    this.#secret = options.approvalSecret ?? randomBytes(32)
    const { agents } = options
    const context = { calls: this.#calls, set, agents, notice: this.notice }
    const tools = createSkillTools(() => this.#catalogue, context)
    this.tools = this.#calls.guard(tools)
  }

  /** Finds, registers and reads skills; register tools of your own for a skill here. */
  get manager(): SkillManager {
    return this.#set.manager
  }

  /** Searches for skills again: what was added since is offered from the next step on. */
  async refresh(): Promise<void> {
    if (this.#environment.options.discover !== false) await this.manager.discover()
    await this.ready()
  }

  /** @throws {SkillError} for a given skill that cannot be used. */
  async ready(): Promise<void> {
    await this.#set.ready()
    const { catalogTokens: budget = catalogTokens } = this.#options
    this.#catalogue = skillCatalogue(await this.manager.list(), budget)
  }

  /** Names of the skills that are active at the end of a conversation, in their order. */
  async activeIn(messages: readonly ModelMessage[]): Promise<string[]> {
    const run = this.#newRun()
    await run.follow(messages)
    return run.active.map(({ activation }) => activation.name)
  }

  /** Ends the MCP servers that skills started. */
  async close(): Promise<void> {
    await this.#servers.close()
  }

  /**
   * Settings for `generateText`, `streamText` and `ToolLoopAgent`. Your own `tools`, `prepareStep`,
   * `toolApproval`, `stopWhen`, `activeTools` and `instructions` belong into `own`, because the rules
   * of skills hold for them; spread the result after everything else. Default of `stopWhen`: 20 steps.
   *
   * @example streamText({ model, messages, ...skills.settings({ tools: { weather } }) })
   * @throws {ToolNameError} for a tool of yours that has the name of one of ours.
   */
  settings<T extends ToolSet = {}>(own?: OwnSettings<T>): SkillSettings<NoInfer<T>>
  settings(own: OwnSettings<ToolSet> = {}): SkillSettings<ToolSet> {
    const taken = Object.keys(own.tools ?? {}).find((name) => name in this.tools)
    if (taken !== undefined) {
      const message = `Two tools would be called ${taken}: one of yours, and one of the skills.`
      throw new ToolNameError({ code: 'tool-name', message, hint: 'Rename your tool.' })
    }
    const facts = new Map(
      Object.entries(own.tools ?? {}).map(([name, tool]) => [name, toolFacts(name, tool)]),
    )
    return {
      ...present({ instructions: own.instructions }),
      tools: { ...this.#calls.guard(own.tools ?? {}), ...this.tools },
      stopWhen: own.stopWhen ? [own.stopWhen].flat() : [hasTwentySteps],
      experimental_toolApprovalSecret: this.#secret,
      prepareStep: (step) => this.#prepareStep(step, own, facts),
      toolApproval: (asked) => this.#decide(asked, own, facts),
    }
  }

  async #prepareStep(step: Step, own: OwnSettings<ToolSet>, facts: Facts) {
    const { stepNumber, initialMessages, responseMessages } = step
    const given = this.#withoutAdded(step.instructions)
    const run = this.#runs.get(step.runtimeContext) ?? this.#newRun()
    await run.follow([...initialMessages, ...responseMessages])
    const asked = run.hooks.model ?? step.model
    const prepared = await own.prepareStep?.({ ...step, model: asked, instructions: given })
    const isChanged = stepNumber === 0 || prepared?.messages !== undefined
    const messages = prepared?.messages ?? step.messages
    const read = isChanged ? await run.prompts(messages) : messages
    const instructions = this.#instructions(prepared?.instructions ?? given, run.missing(read))
    const runtimeContext = { ...(prepared?.runtimeContext ?? step.runtimeContext) }
    this.#runs.set(runtimeContext, run)
    const fork = initialMessages.at(-1)?.role === 'user' ? run.pendingFork : undefined
    const model = prepared?.model ?? asked
    const stops = run.hooks.has('Stop') && typeof model !== 'string'
    return {
      ...prepared,
      runtimeContext,
      instructions,
      model: stops ? await withStopHooks(model, run) : model,
      activeTools: this.#activeTools(prepared?.activeTools ?? own.activeTools, facts, run),
      ...(isChanged ? { messages: read } : {}),
      ...(fork && stepNumber === 0 && !prepared?.toolChoice
        ? { toolChoice: { type: 'tool' as const, toolName: 'skill' } }
        : {}),
    }
  }

  /** Every call is decided about here, also one whose approval came with this request. */
  async #decide(
    asked: Asked,
    own: OwnSettings<ToolSet>,
    facts: Facts,
  ): Promise<ToolApprovalStatus> {
    const { toolName, toolCallId, input } = asked.toolCall
    const given = inputOf(input)
    if (!given) return denied(`${toolName} takes one JSON object`)
    const run = await this.#runOf(asked)
    const known = facts.get(toolName)
    const resolved = known
      ? { tool: known, input: given }
      : resolveSkillCall(toolName, given, run, this.#catalogue, this.#set)
    if (typeof resolved === 'string') return denied(resolved)
    const wanted = known ? await ownStatus(asked, own.toolApproval) : undefined
    if (wanted?.type === 'denied') return wanted
    const tool = withStatus(resolved.tool, wanted)
    const context = quietContext(toolCallId)
    const { permit } = this.#environment
    const options = { ...permit, rules: () => run.hooks.rules, suspends: true }
    const judged = await judgeCall(tool, resolved.input, context, options)
    if (judged.kind === 'refuse') return denied(judged.reason)
    const isChanged = judged.input !== resolved.input
    this.#calls.allow({ run, tool, input: judged.input, isChanged, given: input })
    if (judged.kind === 'allow') return wanted?.type === 'approved' ? wanted : undefined
    const { agent, approver } = permit
    if (approver === undefined) return { type: 'user-approval', reason: judged.reason }
    const answer = await askApprover(approver, tool, judged, { agent, signal: context.signal })
    return answer.allowed ? undefined : denied(answer.reason)
  }

  /** A resumed call is decided about before the first step, from the messages alone. */
  async #runOf({ runtimeContext, messages }: Asked): Promise<RunSkills> {
    const known = this.#runs.get(runtimeContext ?? messages) ?? this.#runs.get(messages)
    if (known) return known
    const run = this.#newRun()
    this.#runs.set(messages, run)
    await run.follow(messages)
    return run
  }

  #newRun(): RunSkills {
    const { permissionMode: mode } = this.#environment.options
    const { lifetime = 'turn', startSkills = [] } = this.#options
    const start = startSkills
      .map(splitSkill)
      .map(({ name, argumentText }) => ({ name, arguments: argumentText, source: 'code' as const }))
    return new RunSkills({ set: this.#set, start, lifetime, mode, notice: this.notice })
  }

  /** @internal */
  readonly notice = (message: string) => this.#options.onNotice?.(message)

  #withoutAdded(instructions: Instructions | undefined): Instructions | undefined {
    if (!Array.isArray(instructions)) return instructions
    const kept = instructions.filter((message) => !this.#added.has(message))
    return kept.length === instructions.length ? instructions : kept
  }

  /** With the contents that the messages do not have any more. */
  #instructions(own: Instructions | undefined, contents: readonly string[]): Instructions {
    if (contents.length === 0) return own ?? []
    const kept =
      own === undefined ? [] : typeof own === 'string' ? [systemMessage(own)] : [own].flat()
    const added = systemMessage(contents.join('\n\n'))
    this.#added.add(added)
    return [...kept, added]
  }

  /** What the model sees: without what active untrusted skills, the mode or the deny list rule out. */
  #activeTools(own: readonly string[] | undefined, facts: Facts, run: RunSkills): string[] {
    const { permit } = this.#environment
    const { narrowed } = run.hooks.rules
    const names = own ?? [...facts.keys(), ...Object.keys(this.tools)]
    const { skills, incomplete } = this.#catalogue
    const isIdle = skills.length + run.active.length === 0 && !run.pendingFork
    const hidden = isIdle ? Object.keys(this.tools) : incomplete ? [] : ['search_skills']
    return names.filter((name) => {
      const tool = facts.get(name)
      if (!tool) return !hidden.includes(name)
      const fits = narrowed.every(({ tools }) => listNames(tools, tool))
      return fits && offersTool(tool, permit)
    })
  }
}

type Step = Parameters<PrepareStepFunction<ToolSet>>[0]

type Facts = ReadonlyMap<string, AgentTool>

type Asked = Parameters<
  Extract<ToolApprovalConfiguration<ToolSet, Context>, (...asked: never[]) => unknown>
>[0]

type Status = Extract<ToolApprovalStatus, object>

/** What the AI SDK stops an agent at that says nothing. */
const hasTwentySteps: StopCondition<ToolSet> = ({ steps }) => steps.length === 20

function denied(reason: string): Status {
  return { type: 'denied', reason }
}

function systemMessage(content: string): SystemModelMessage {
  return { role: 'system', content }
}

/** What the application's own rule says of a call; undefined: nothing. */
async function ownStatus(
  asked: Asked,
  rule: OwnSettings<ToolSet>['toolApproval'],
): Promise<Status | undefined> {
  const { toolCall, messages, runtimeContext, toolsContext } = asked
  const { toolName, toolCallId, input } = toolCall
  const found = typeof rule === 'function' ? await rule(asked) : rule?.[toolName]
  const toolContext = new Map<string, unknown>(Object.entries(toolsContext ?? {})).get(toolName)
  const status =
    typeof found === 'function'
      ? await found(input, { toolCallId, messages, toolContext, runtimeContext })
      : found
  return typeof status === 'string' ? { type: status } : status
}

/** A tool whose need of an approval is what the application's own rule says. */
function withStatus(tool: AgentTool, status: Status | undefined) {
  if (!status) return tool
  if (status.type === 'user-approval') return { ...tool, needsApproval: true }
  return status.type === 'approved' ? { ...tool, needsApproval: false } : tool
}

/** Finds the skills of an application. See {@link Skills}. @throws {SkillError} as {@link Skills.ready}. */
export async function createSkills(options: SkillsOptions = {}): Promise<Skills> {
  const { onNotice, catalogTokens: _budget, agents: _agents, ...others } = options
  const { lifetime: _lifetime, ...rest } = others
  const discover = rest.discover ?? (rest.skills === undefined && rest.skillDirs === undefined)
  // No model is called by name here, except one that a skill names.
  const environment = new AgentEnvironment({ ...rest, discover, model: 'none' })
  const servers = new McpPart(environment, (message) => onNotice?.(message))
  const set = new SkillSet(environment, (name, signal) => servers.serverTools(name, signal))
  const skills = new Skills(options, environment, servers, set)
  await skills.ready()
  return skills
}
