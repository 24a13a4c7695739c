import type { LanguageModel } from 'ai'
import { messageOf, type Runtime } from '../../base/index.ts'
import type { Activation, InvocationSource, SkillManager } from '../../library/index.ts'
import { SkillInvocationError } from '../../skill/index.ts'
import type { CallRules } from '../approval/permit.ts'
import { listNames } from '../approval/tool-patterns.ts'
import type { AgentSession, PromptContext, SessionPart } from '../session.ts'
import type { PermissionMode } from '../subagents/config.ts'
import type { AgentEvent, AgentTool, ToolContext } from '../types.ts'
import {
  resourceTool,
  searchSkillsTool,
  type SkillCatalogue,
  skillCatalogue,
  skillTool,
} from './skill-tools.ts'
import { createConversationSkills, type SkillUse } from './active-skills.ts'
import { promptReferences } from './prompt-references.ts'
import { createSkillHooks } from './skill-hooks.ts'

/** The skills of one conversation. */
export interface SkillPart extends SessionPart {
  /** What active skills do to calls; belongs into `createPermit`. */
  readonly rules: CallRules
  /** Names, in the order of their activation. */
  readonly active: readonly string[]
  /** Directories of active trusted skills, which may be read without asking. */
  readonly directories: readonly string[]
  /**
   * Activates a skill, or carries it out in a subagent.
   *
   * @throws {SkillError} as `SkillManager.activate`; {@link ToolNameError} when a tool of it would
   *   have the name of another one.
   */
  use(
    name: string,
    argumentText: string,
    source: InvocationSource,
    run?: Partial<PromptContext>,
  ): Promise<SkillUse>
  /** False when it is not active. */
  end(name: string): Promise<boolean>
}

const defaultCatalogTokens = 2000
const defaultReferenceTokens = 10_000

const quiet: PromptContext = { onEvent: () => undefined, signal: undefined }

export function createSkillPart(options: SkillPartOptions): SkillPart {
  const { agent, manager, catalogTokens = defaultCatalogTokens } = options
  const skills = createConversationSkills(options)
  const begun = new Set<string>()
  /** Those that were there from the start and have not been ended since. */
  const lasting = new Set<string>()
  let session: AgentSession | undefined
  let catalogue: SkillCatalogue = { text: '', skills: [], incomplete: false }
  let current = quiet
  let finding: readonly AgentTool[] = []

  const tell = (event: AgentEvent): void => current.onEvent(event)
  const notice = (message: string): void => tell({ type: 'notice', agent, message })
  const hooks = createSkillHooks({
    skills: () =>
      skills.active.map(({ activation, skill, hooks: own }) => ({
        name: activation.name,
        directory: skill.info.directory,
        hooks: own,
      })),
    confirm: (name) => manager.requireTrusted(name, 'run its hooks'),
    project: options.project,
    session: options.runtime.id(),
    mode: options.mode ?? 'default',
    runtime: options.runtime,
    environment: options.environment ?? [],
    notice,
  })

  const part: SkillPart = {
    rules: {
      preApproved: () => skills.active.flatMap(({ activation }) => activation.effects.preApproved),
      narrowed: () => narrowed(),
      beforeTool: (tool, input, { toolCallId, signal }) =>
        hooks.before(tool, input, { id: toolCallId, signal }),
    },

    get active() {
      return skills.active.map(({ activation }) => activation.name)
    },

    get directories() {
      return skills.active.flatMap(({ activation, skill }) =>
        activation.trustLevel === 'trusted' && skill.info.directory !== ''
          ? [skill.info.directory]
          : [],
      )
    },

    attach(attached) {
      session = attached
    },

    async instructions() {
      await refresh()
      return catalogue.text
    },

    async prompt(text, run) {
      current = run
      hooks.reset()
      await refresh()
      const contents: string[] = []
      for (const entry of options.start ?? []) {
        const [, name = '', argumentText = ''] = /^\s*(\S+)\s*([\s\S]*)$/.exec(entry) ?? []
        if (begun.has(name)) continue
        contents.push(textFor(await part.use(name, argumentText, 'code', run)))
        begun.add(name)
        lasting.add(name)
      }
      const names = (await manager.list()).map(({ name }) => name)
      const typed = options.typed === false ? undefined : typedSkill(text, names)
      contents.push(
        typed === undefined
          ? text
          : textFor(await part.use(typed.name, typed.argumentText, 'user', run)),
      )
      return `${await references(text)}${contents.join('\n\n')}`
    },

    tools: () => [
      ...finding,
      ...resources(),
      // Two skills may name one server.
      ...new Set(skills.active.flatMap((skill) => skill.tools())),
    ],

    offers: (tool) =>
      finding.includes(tool) ||
      tool.name === 'skill_resource' ||
      narrowed().every(({ tools }) => listNames(tools, tool)),

    model: () => lastModel(),

    afterTool: (...call) => hooks.after(...call),

    beforeStop: (text) => hooks.stop(text, current.signal),

    async turnEnded() {
      for (const name of await skills.endTurn(lasting)) {
        tell({ type: 'skill', agent, name, active: false })
      }
      current = quiet
    },

    async use(name, argumentText, source, run = {}) {
      const { onEvent = current.onEvent, signal = current.signal } = run
      const used = await skills.use(name, argumentText, source, {
        otherTools: otherTools(),
        contains: (text) => session?.contains(text) ?? false,
        notice: (message) => onEvent({ type: 'notice', agent, message }),
        signal,
        fork(activation) {
          if (options.fork === undefined) throw withoutSubagents(activation.name)
          return options.fork(activation, { onEvent, signal })
        },
      })
      if (used.kind === 'content') {
        onEvent({ type: 'skill', agent, name: used.activation.name, active: true })
      }
      return used
    },

    async end(name) {
      const ended = await skills.end(name)
      lasting.delete(name)
      if (ended) tell({ type: 'skill', agent, name, active: false })
      return ended
    },
  }
  return part

  async function refresh(): Promise<void> {
    catalogue = skillCatalogue(await manager.list(), catalogTokens)
    finding = findingTools()
  }

  /** The tools by which the model comes to skills, as long as there are any. */
  function findingTools(): AgentTool[] {
    if (catalogue.skills.length === 0) return []
    const tool = skillTool(catalogue, {
      async use(name, argumentText, { onEvent, signal }) {
        return textFor(await part.use(name, argumentText, 'model', { onEvent, signal }))
      },
      finish: (name) => finish(name),
    })
    return catalogue.incomplete ? [tool, searchSkillsTool(catalogue.skills)] : [tool]
  }

  /** A model that reads an untrusted skill could be talked into lifting what limits it. */
  async function finish(name: string): Promise<string> {
    if (narrowed().some(({ skill }) => skill === name)) {
      return `Error: the untrusted skill ${name} limits the tools until the turn of the user ends.`
    }
    return (await part.end(name))
      ? `The skill ${name} is not active any more.`
      : `Error: the skill ${name} is not active.`
  }

  function resources(): AgentTool[] {
    const withFiles = skills.active
      .map(({ skill }) => skill)
      .filter(({ resources: { files } }) => files.length > 0)
    return withFiles.length === 0 ? [] : [resourceTool(withFiles, manager)]
  }

  function narrowed(): ReturnType<CallRules['narrowed']> {
    return skills.active.flatMap(({ activation: { name, effects } }) =>
      effects.narrowedTo === undefined ? [] : [{ skill: name, tools: effects.narrowedTo }],
    )
  }

  function lastModel(): LanguageModel | undefined {
    return skills.active.findLast(({ model }) => model !== undefined)?.model
  }

  function otherTools(): readonly AgentTool[] {
    const own = new Set(skills.active.flatMap((skill) => skill.tools().map((tool) => tool.name)))
    return (
      session?.tools().filter((tool) => tool.origin.kind !== 'skill' || !own.has(tool.name)) ?? []
    )
  }

  async function references(prompt: string): Promise<string> {
    try {
      const all = await manager.list()
      const found = await promptReferences(prompt, all, {
        tokenBudget: options.referenceTokens ?? defaultReferenceTokens,
        isPresent: (text) => session?.contains(text) ?? false,
        confirm: (name) => manager.requireTrusted(name, 'put text before a prompt'),
      })
      found.notices.forEach(notice)
      return found.text
    } catch (error) {
      notice(`References could not be looked for: ${messageOf(error)}`)
      return ''
    }
  }
}

/** What the model reads of a skill that was used. */
function textFor(used: SkillUse): string {
  if (used.kind === 'content') return used.content
  const { name } = used.activation
  return `The skill ${name} was carried out by a subagent. Its answer:\n${used.answer}`
}

function withoutSubagents(name: string): SkillInvocationError {
  return new SkillInvocationError({
    code: 'fork-unavailable',
    message: `Skill ${name} runs in a subagent, and there are none here.`,
    hint: 'Activate it through an agent that can delegate.',
  })
}

/** Carries out a skill in a subagent, and returns its answer. */
type ForkSkill = (
  activation: Activation,
  run: Pick<ToolContext, 'onEvent'> & { signal: AbortSignal | undefined },
) => Promise<string>

export interface SkillPartOptions {
  /** Whose conversation it is: `main`, or the name of a subagent. */
  agent: string
  manager: SkillManager
  runtime: Runtime
  /** The directory that the agent works in. */
  project: string
  /** Whether `manager` keeps track of what is active here: for one conversation of it; default true. */
  tracked?: boolean | undefined
  /** Skills that are active from the first prompt on, until they are deactivated; `name arguments`. */
  start?: readonly string[] | undefined
  /** Whether `/name arguments` as a prompt activates a skill as the user; default true. */
  typed?: boolean | undefined
  /** Estimated tokens of the list of skills that the model gets; default 2,000. */
  catalogTokens?: number | undefined
  /** Estimated tokens of references that triggers put before one prompt; default 10,000. */
  referenceTokens?: number | undefined
  /** Names of environment variables that scripts and hooks get besides the few that programs need. */
  environment?: readonly string[] | undefined
  /** Milliseconds for a script; default 10 minutes. */
  scriptTimeoutMs?: number | undefined
  /** What hooks are told of it; default `default`. */
  mode?: PermissionMode | undefined
  fork?: ForkSkill | undefined
  /** Tools of an MCP server that a skill names. */
  serverTools?:
    | ((server: string, signal: AbortSignal | undefined) => Promise<readonly AgentTool[]>)
    | undefined
  /** The model that a skill asks for. */
  resolveModel?: ((name: string) => LanguageModel | Promise<LanguageModel>) | undefined
}

/**
 * A skill that a person names: `/name arguments`, the arguments to the end of the prompt. Anything
 * else, and a name that no skill has, is a prompt like any other.
 */
export function typedSkill(
  prompt: string,
  names: readonly string[],
): { name: string; argumentText: string } | undefined {
  const match = /^\s*\/([\p{L}\p{N}][\p{L}\p{N}:-]*)(?:\s+([\s\S]*))?$/u.exec(prompt)
  const name = match?.[1]
  if (name === undefined || !names.includes(name)) return undefined
  return { name, argumentText: (match?.[2] ?? '').trim() }
}
