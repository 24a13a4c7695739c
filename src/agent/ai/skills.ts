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
import { oneOf, type OptionOwner, rule } from '#core/api-options'
import { present } from '#core/json'
import type { SkillManager } from '#library/manager'
import { AgentEnvironment, type AgentOptions, agentOptions } from '#agent/agent-options'
import { checkAgentOptions } from '#agent/check-options'
import { askApprover, judgeCall, offersTool } from '#agent/approval/permit'
import { listNames } from '#agent/approval/tool-patterns'
import { ToolNameError } from '#agent/errors'
import { McpPart } from '#agent/mcp-tools/mcp-part'
import { catalogTokens } from '#agent/skills/skill-part'
import { SkillSet, splitSkill, warnBroken, warnProcess } from '#agent/skills/skill-set'
import { type SkillCatalogue, skillCatalogue } from '#agent/skills/skill-tools'
import type { AgentTool } from '#agent/types'
import { type CallPlace, CallPermissions } from './call-permissions.ts'
import { RunSkills, type SkillLifetime } from './run-skills.ts'
import { createSkillTools, resolveSkillCall, type SkillTools, stopTool } from './skill-tool-set.ts'
import { stopToolName, withStopHooks } from './stop-hooks.ts'
import type { AnyAgent } from './subagent-tool.ts'
import { inputOf, quietContext, toolFacts } from './tool-set.ts'

/** Options of {@link createSkills}. */
export interface SkillsOptions extends ConversationOptions, Pick<AgentOptions, SharedOption> {}

/** The options that have the same meaning for `Agent`. */
const sharedOptions = [
  'skills',
  'skillDirs',
  'trustedPaths',
  'workspaceTrust',
  'discover',
  'project',
  'runtime',
  'settings',
  'providers',
  'disallowedTools',
  'permissionMode',
  'approver',
] as const satisfies readonly (keyof AgentOptions)[]

type SharedOption = (typeof sharedOptions)[number]

interface ConversationOptions {
  /** Maximum number of estimated tokens in the list of skills; default 2,000. */
  catalogTokens?: number | undefined
  /** Subagents by name, for skills with `context: fork`; `default` is for those that name none. */
  agents?: Readonly<Record<string, AnyAgent>> | undefined
  /**
   * The secret that signs approvals, so that a browser cannot forge them. Processes that answer the
   * same conversation need the same secret; default: a random one for each process.
   */
  approvalSecret?: string | Uint8Array | undefined
  /** How long a skill is active: until the user's next message (`turn`, the default), or to the end. */
  lifetime?: SkillLifetime | undefined
  /** Skills that are always active, `name arguments`. */
  startSkills?: readonly string[] | undefined
  /** Receives what was left out and why: an untrusted reference, a server that does not start. */
  onNotice?: ((message: string) => void) | undefined
}

/** Like `toolApproval` of the AI SDK. A skill's `allowed-tools` can lift `user-approval`, nothing else. */
export type OwnApproval<T extends ToolSet> =
  | Extract<ToolApprovalConfiguration<T, Context>, (...call: never[]) => unknown>
  | {
      [Name in keyof T]?:
        | ToolApprovalStatus
        | ((
            input: T[Name] extends Tool<infer Input> ? Input : unknown,
            options: Pick<ApprovalQuestion, 'messages' | 'runtimeContext'> & {
              toolCallId: string
              toolContext: unknown
            },
          ) => ToolApprovalStatus | PromiseLike<ToolApprovalStatus>)
    }

type Context = Record<string, unknown>

/** The application's settings that skills affect. All other settings go beside `...settings()`. */
export interface OwnSettings<T extends ToolSet> {
  instructions?: Instructions | undefined
  tools?: T | undefined
  activeTools?: readonly (keyof T & string)[] | undefined
  toolApproval?: OwnApproval<T> | undefined
  prepareStep?: PrepareStepFunction<T> | undefined
  stopWhen?: StopCondition<T> | StopCondition<T>[] | undefined
}

/** Settings to spread into `generateText`, `streamText` or `new ToolLoopAgent`. */
export interface SkillSettings<T extends ToolSet> {
  instructions?: Instructions
  tools: T & SkillTools
  prepareStep: PrepareStepFunction<T & SkillTools>
  toolApproval: ToolApprovalConfiguration<T & SkillTools, Context>
  stopWhen: StopCondition<T & SkillTools>[]
  experimental_toolApprovalSecret: string | Uint8Array
}

/**
 * The skills of an application of the AI SDK. The messages of a conversation show which skills are
 * active. There is no other state, so one object serves all requests, and any process can continue any
 * conversation.
 *
 * @example
 * const skills = await createSkills({ skillDirs: ['./skills'], trustedPaths: ['./skills'] })
 * const agent = new ToolLoopAgent({ model, ...skills.settings({ instructions, tools }) })
 */
export class Skills {
  /** The tools that `settings` adds; `convertToModelMessages` needs them too. */
  readonly tools: SkillTools
  readonly #options: ConversationOptions
  readonly #environment: AgentEnvironment
  readonly #servers: Pick<McpPart, 'close'>
  readonly #set: SkillSet
  readonly #secret: string | Uint8Array
  readonly #calls = new CallPermissions()
  /** Keys are the runtime context of a run, or its messages. */
  readonly #runs = new WeakMap<object, RunSkills>()
  /** The system messages with contents of skills, which the next step replaces. */
  readonly #added = new WeakSet<SystemModelMessage>()
  #catalogue: SkillCatalogue = skillCatalogue([], 0)

  /** @internal */
  constructor(
    options: ConversationOptions,
    environment: AgentEnvironment,
    servers: Pick<McpPart, 'close'>,
    set: SkillSet,
  ) {
    this.#options = options
    this.#environment = environment
    this.#servers = servers
    this.#set = set
    this.#secret = options.approvalSecret ?? randomBytes(32)
    const { agents } = options
    const context = { calls: this.#calls, set, agents, notice: this.notice }
    this.tools = createSkillTools(() => this.#catalogue, context)
  }

  /** Finds, registers and reads skills, and registers further tools for a skill. */
  get manager(): SkillManager {
    return this.#set.manager
  }

  /**
   * Searches for skills again. New skills are offered from the next step on.
   * @throws {UsageError} for a folder of the options that does not exist any more.
   */
  async refresh(): Promise<void> {
    await this.#set.refresh()
    await this.ready()
  }

  /** @throws {SkillError} for a skill of the options that cannot be used. */
  async ready(): Promise<void> {
    await this.#set.ready()
    const { catalogTokens: budget = catalogTokens } = this.#options
    this.#catalogue = skillCatalogue(await this.manager.list(), budget)
    // Without a listener a program would never learn why a skill is missing.
    const warn = this.#options.onNotice ?? warnBroken
    for (const sentence of this.#set.brokenSkills()) warn(sentence)
  }

  /** Returns the names of the skills that are active at the end of a conversation. */
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
   * Returns settings for `generateText`, `streamText` and `ToolLoopAgent`; spread them after all other
   * settings. Pass your own `tools`, `prepareStep`, `toolApproval`, `stopWhen`, `activeTools` and
   * `instructions` here, because skills affect them. Default of `stopWhen`: 20 steps.
   *
   * @example streamText({ model, messages, ...skills.settings({ tools: { weather } }) })
   * @throws {ToolNameError} for a tool with the name of a tool of the skills.
   */
  settings<T extends ToolSet = {}>(applicationSettings?: OwnSettings<T>): SkillSettings<NoInfer<T>>
  settings(applicationSettings: OwnSettings<ToolSet> = {}): SkillSettings<ToolSet> {
    const duplicate = Object.keys(applicationSettings.tools ?? {}).find(
      (name) => name in this.tools,
    )
    if (duplicate !== undefined) {
      const message = `Two tools would be called ${duplicate}: one of yours, and one of the skills.`
      throw new ToolNameError({ code: 'tool-name', message, hint: 'Rename your tool.' })
    }
    const facts = new Map(
      Object.entries(applicationSettings.tools ?? {}).map(([name, tool]) => [
        name,
        toolFacts(name, tool),
      ]),
    )
    return {
      ...present({ instructions: applicationSettings.instructions }),
      tools: { ...this.#calls.guard(applicationSettings.tools ?? {}), ...this.tools },
      stopWhen: applicationSettings.stopWhen
        ? [applicationSettings.stopWhen].flat()
        : [hasTwentySteps],
      experimental_toolApprovalSecret: this.#secret,
      prepareStep: (step) => this.#prepareStep(step, applicationSettings, facts),
      toolApproval: (question) => this.#decide(question, applicationSettings, facts),
    }
  }

  async #prepareStep(step: Step, applicationSettings: OwnSettings<ToolSet>, facts: Facts) {
    const { stepNumber, initialMessages, responseMessages } = step
    const instructions = this.#withoutAdded(step.instructions)
    const run = this.#runs.get(step.runtimeContext) ?? this.#newRun()
    await run.follow([...initialMessages, ...responseMessages])
    const skillModel = run.hooks.model ?? step.model
    const preparedStep = await applicationSettings.prepareStep?.({
      ...step,
      model: skillModel,
      instructions,
    })

    const areNew = stepNumber === 0 || preparedStep?.messages !== undefined
    const currentMessages = preparedStep?.messages ?? step.messages
    const messages = areNew ? await run.prompts(currentMessages) : currentMessages
    const contents = run.missingContents(messages)

    const runtimeContext = { ...(preparedStep?.runtimeContext ?? step.runtimeContext) }
    this.#runs.set(runtimeContext, run)

    const model = preparedStep?.model ?? skillModel
    const hasStopHooks = run.hooks.has('Stop') && typeof model !== 'string'
    const isNewTurn = stepNumber === 0 && initialMessages.at(-1)?.role === 'user'
    const mustFork = isNewTurn && run.pendingFork !== undefined && !preparedStep?.toolChoice
    return {
      ...preparedStep,
      runtimeContext,
      instructions: this.#withContents(preparedStep?.instructions ?? instructions, contents),
      model: hasStopHooks ? await withStopHooks(model, run) : model,
      activeTools: [
        ...this.#activeTools(
          preparedStep?.activeTools ?? applicationSettings.activeTools,
          facts,
          run,
        ),
        ...(hasStopHooks ? [stopToolName] : []),
      ],
      ...(areNew ? { messages } : {}),
      ...(mustFork ? { toolChoice: { type: 'tool' as const, toolName: 'skill' } } : {}),
    }
  }

  /** Decides about every call, also one whose approval came with this request. */
  async #decide(
    question: ApprovalQuestion,
    applicationSettings: OwnSettings<ToolSet>,
    facts: Facts,
  ): Promise<ToolApprovalStatus> {
    const { toolName, toolCallId, input } = question.toolCall
    const decidedInput = inputOf(input)
    if (!decidedInput) return denialStatus(`${toolName} takes one JSON object`)
    const run = await this.#runOf(question)
    if (toolName === stopToolName) return this.#decideStop(question, run)

    const applicationTool = facts.get(toolName)
    const resolvedCall = applicationTool
      ? { tool: applicationTool, input: decidedInput }
      : resolveSkillCall(toolName, decidedInput, run, this.#catalogue, this.#set)
    if (typeof resolvedCall === 'string') return denialStatus(resolvedCall)
    const status = applicationTool
      ? await ownStatus(question, applicationSettings.toolApproval)
      : undefined
    if (status?.type === 'denied') return status

    const tool = withStatus(resolvedCall.tool, status)
    const place = { toolCallId, messages: question.messages }
    const context = quietContext(place.toolCallId)
    const { permit } = this.#environment
    const options = { ...permit, rules: () => run.hooks.rules, suspends: true }
    const judgement = await judgeCall(tool, resolvedCall.input, context, options)
    if (judgement.kind === 'refuse') return denialStatus(judgement.reason)
    const isChanged = judgement.input !== resolvedCall.input
    const call = { run, toolName, decidedInput, tool, input: judgement.input, isChanged }
    if (judgement.kind === 'allow') {
      this.#calls.allow(place, call)
      return status?.type === 'approved' ? status : undefined
    }
    const { agent, approver } = permit
    if (approver === undefined) {
      // The AI SDK executes the call in a later request, whose messages contain the user's answer.
      if (hasApproval(place)) this.#calls.allow(place, call)
      return { type: 'user-approval', reason: judgement.reason }
    }
    const answer = await askApprover(approver, tool, judgement, { agent, signal: context.signal })
    if (!answer.allowed) return denialStatus(answer.reason)
    this.#calls.allow(place, call)
    return undefined
  }

  /** Allows the call that a Stop hook made, and no other call of its tool. */
  #decideStop({ toolCall, messages }: ApprovalQuestion, run: RunSkills): ToolApprovalStatus {
    const { toolCallId, toolName } = toolCall
    const objection = run.takeObjection(toolCallId)
    if (objection === undefined) return denialStatus('only a Stop hook of a skill calls it')
    const call = { run, toolName, decidedInput: {}, tool: stopTool(objection), input: {} }
    this.#calls.allow({ toolCallId, messages }, { ...call, isChanged: false })
    return undefined
  }

  /** A resumed call is decided about before the first step, from the messages alone. */
  async #runOf({ runtimeContext, messages }: ApprovalQuestion): Promise<RunSkills> {
    const current = this.#runs.get(runtimeContext ?? messages) ?? this.#runs.get(messages)
    if (current) return current
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
    const messages = instructions.filter((message) => !this.#added.has(message))
    return messages.length === instructions.length ? instructions : messages
  }

  /** Adds contents of skills that the messages do not contain any more. */
  #withContents(instructions: Instructions = [], contents: readonly string[]): Instructions {
    if (contents.length === 0) return instructions
    const messages =
      typeof instructions === 'string' ? [systemMessage(instructions)] : [instructions].flat()
    const message = systemMessage(contents.join('\n\n'))
    this.#added.add(message)
    return [...messages, message]
  }

  /** Names the tools that the model is offered: those that untrusted skills, mode and deny list permit. */
  #activeTools(
    configuredNames: readonly string[] | undefined,
    facts: Facts,
    run: RunSkills,
  ): string[] {
    const { permit } = this.#environment
    const { narrowed } = run.hooks.rules
    const names = (configuredNames ?? [...facts.keys(), ...Object.keys(this.tools)]).filter(
      (name) => name !== stopToolName,
    )
    const { skills, incomplete } = this.#catalogue
    const isIdle = skills.length + run.active.length === 0 && !run.pendingFork
    const hiddenNames = isIdle ? Object.keys(this.tools) : incomplete ? [] : ['search_skills']
    return names.filter((name) => {
      const tool = facts.get(name)
      if (!tool) return !hiddenNames.includes(name)
      const fits = narrowed.every(({ tools }) => listNames(tools, tool))
      return fits && offersTool(tool, permit)
    })
  }
}

const optionRules: OptionOwner<SkillsOptions> = {
  of: 'createSkills',
  rules: {
    ...pick(agentOptions.rules, sharedOptions),
    catalogTokens: rule.amount,
    agents: rule.object,
    approvalSecret: rule.content,
    lifetime: oneOf('turn', 'conversation'),
    startSkills: rule.texts,
    onNotice: rule.callback,
  },
}

function pick<Value extends object, Key extends keyof Value>(
  value: Value,
  keys: readonly Key[],
): Pick<Value, Key>
function pick(value: Readonly<Record<string, unknown>>, keys: readonly string[]): object {
  return Object.fromEntries(keys.map((key) => [key, value[key]]))
}

type Step = Parameters<PrepareStepFunction<ToolSet>>[0]

/** The application's tools by name, as the rules of calls need them. */
type Facts = ReadonlyMap<string, AgentTool>

/** The question of the AI SDK whether a call needs an approval. */
type ApprovalQuestion = Parameters<
  Extract<ToolApprovalConfiguration<ToolSet, Context>, (...call: never[]) => unknown>
>[0]

type Status = Extract<ToolApprovalStatus, object>

/** The AI SDK's own default. */
const hasTwentySteps: StopCondition<ToolSet> = ({ steps }) => steps.length === 20

function denialStatus(reason: string): Status {
  return { type: 'denied', reason }
}

function systemMessage(content: string): SystemModelMessage {
  return { role: 'system', content }
}

/** Returns the decision of the application's own `toolApproval`; undefined if it makes none. */
async function ownStatus(
  question: ApprovalQuestion,
  approval: OwnSettings<ToolSet>['toolApproval'],
): Promise<Status | undefined> {
  const { toolCall, messages, runtimeContext, toolsContext } = question
  const { toolName, toolCallId, input } = toolCall
  const answer = typeof approval === 'function' ? await approval(question) : approval?.[toolName]
  const toolContext = new Map<string, unknown>(Object.entries(toolsContext ?? {})).get(toolName)
  const status =
    typeof answer === 'function'
      ? await answer(input, { toolCallId, messages, toolContext, runtimeContext })
      : answer
  return typeof status === 'string' ? { type: status } : status
}

/** Whether the user approved a call. The AI SDK has checked the signatures in these messages. */
function hasApproval({ toolCallId, messages }: CallPlace): boolean {
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : [...content]))
  const questions = parts.flatMap((part) =>
    part.type === 'tool-approval-request' && part.toolCallId === toolCallId ? part.approvalId : [],
  )
  return parts.some(
    (part) =>
      part.type === 'tool-approval-response' &&
      part.approved &&
      questions.includes(part.approvalId),
  )
}

/** Applies the decision of the application's own `toolApproval` to a tool. */
function withStatus(tool: AgentTool, status: Status | undefined) {
  if (!status) return tool
  if (status.type === 'user-approval') return { ...tool, needsApproval: true }
  return status.type === 'approved' ? { ...tool, needsApproval: false } : tool
}

/** Finds the skills of an application. See {@link Skills}. @throws {SkillError} as {@link Skills.ready}. */
export async function createSkills(skillsOptions: SkillsOptions = {}): Promise<Skills> {
  const options = checkAgentOptions(skillsOptions, optionRules)
  const { onNotice } = options
  const namesSkills = options.skills !== undefined || options.skillDirs !== undefined
  const discover = options.discover ?? !namesSkills
  // The application calls its own model; only a skill can name another one.
  const environment = new AgentEnvironment({
    ...pick(options, sharedOptions),
    discover,
    model: 'none',
  })
  const servers = new McpPart(environment, (message) => onNotice?.(message))
  const set = new SkillSet(environment, (name, signal) => servers.serverTools(name, signal))
  const skills = new Skills(options, environment, servers, set)
  await skills.ready()
  const warning = await set.trustWarning()
  // Without a listener a program would never learn why its skills have less effect than they declare.
  if (warning !== undefined) (onNotice ?? warnProcess)(warning)
  return skills
}
