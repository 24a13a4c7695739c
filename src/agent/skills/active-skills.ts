import type { LanguageModel } from 'ai'
import { isObject, messageOf } from '../../base/index.ts'
import type { Activation, InvocationSource, OfferedTool, Skill } from '../../library/index.ts'
import {
  alreadyActiveNote,
  type JsonValue,
  type SkillFields,
  SkillInvocationError,
} from '../../skill/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import { tool, toWireNames } from '../tool.ts'
import type { AgentTool } from '../types.ts'
import { readHooks, type SkillHook } from './hook-format.ts'
import { scriptTools } from './script-tools.ts'
import type { SkillPartOptions } from './skill-part.ts'

/** What an activation comes to: content for the conversation, or the answer of a subagent. */
export type SkillUse =
  | { kind: 'content'; activation: Activation; content: string }
  | { kind: 'forked'; activation: Activation; answer: string }

interface UseContext {
  /** Other tools that would be offered beside those of the skill. */
  otherTools: readonly AgentTool[]
  /** Whether the conversation holds a text now. */
  contains: (text: string) => boolean
  fork: (activation: Activation) => Promise<string>
  notice: (message: string) => void
  /** Ends the wait for servers; what is there by then is offered. */
  signal: AbortSignal | undefined
}

/**
 * The skills that are active in one conversation. Everything that they allow, offer and run is read
 * off this list, so that ending an activation leaves exactly what was there before.
 */
interface ConversationSkills {
  readonly active: readonly ActiveSkill[]
  use(
    name: string,
    argumentText: string,
    source: InvocationSource,
    context: UseContext,
  ): Promise<SkillUse>
  /** False when it is not active. */
  end(name: string): Promise<boolean>
  /** The user's turn is over: ends all but those of `kept`. */
  endTurn(kept: ReadonlySet<string>): Promise<readonly string[]>
}

export function createConversationSkills(options: SkillPartOptions): ConversationSkills {
  const { manager, tracked = true } = options
  const active = new Map<string, ActiveSkill>()
  /** Content that went into the conversation in this turn, which its history may not show yet. */
  let given = new Set<string>()

  const skills: ConversationSkills = {
    get active() {
      return [...active.values()]
    },

    async use(name, argumentText, source, context) {
      const prepared = await manager.prepare(name, argumentText, { source })
      for (const { message } of prepared.diagnostics) context.notice(`Skill ${name}: ${message}.`)
      if (prepared.effects.fork !== undefined) {
        refuseWhileNarrowed(prepared.name, skills.active)
        return { kind: 'forked', activation: prepared, answer: await context.fork(prepared) }
      }
      const skill = await manager.get(prepared.name)
      if (skill === undefined) throw gone(name)
      const ready = await activeSkill(prepared, skill, options, context)
      refuseCollisions(ready, context.otherTools, skills.active)
      active.set(prepared.name, ready)
      if (tracked) await manager.activate(prepared.name, argumentText, { source })
      const repeated = given.has(prepared.content) || context.contains(prepared.content)
      given.add(prepared.content)
      const content = repeated ? alreadyActiveNote(prepared.name) : prepared.content
      return { kind: 'content', activation: { ...prepared, repeated, content }, content }
    },

    async end(name) {
      if (tracked) await manager.deactivate(name)
      return active.delete(name)
    },

    async endTurn(kept) {
      given = new Set()
      const ended = [...active.keys()].filter((name) => !kept.has(name))
      for (const name of ended) await skills.end(name)
      return ended
    },
  }
  return skills
}

/** What an untrusted skill is limited to would not hold in a subagent. */
function refuseWhileNarrowed(name: string, active: readonly ActiveSkill[]): void {
  const narrowing = active.find(({ activation }) => activation.effects.narrowedTo !== undefined)
  if (narrowing === undefined) return
  throw new SkillInvocationError({
    code: 'fork-while-narrowed',
    message: `Skill ${name} runs in a subagent, and that is not started while the untrusted skill ${narrowing.activation.name} limits the tools.`,
    hint: 'It can run in the next turn.',
  })
}

/** @throws {ToolNameError} before anything becomes active. */
function refuseCollisions(
  { activation, tools }: ActiveSkill,
  others: readonly AgentTool[],
  active: readonly ActiveSkill[],
): void {
  const kept = active.filter((skill) => skill.activation.name !== activation.name)
  const known = new Set(others)
  const added = new Set([...kept.flatMap((skill) => skill.tools()), ...tools()])
  toWireNames([...others, ...[...added].filter((tool) => !known.has(tool))])
}

function gone(name: string): SkillInvocationError {
  return new SkillInvocationError({
    code: 'skill-gone',
    message: `Skill ${name} was taken away while it was activated.`,
  })
}

/** A skill that is active in a conversation, with everything that it adds to it. */
interface ActiveSkill {
  activation: Activation
  skill: Skill
  /** Its tools now: those that a program registered may change while it is active. */
  tools: () => readonly AgentTool[]
  hooks: readonly SkillHook[]
  model: LanguageModel | undefined
}

/** Puts together what an activation adds; whatever cannot be had is told and left out. */
export async function activeSkill(
  activation: Activation,
  skill: Skill,
  options: SkillPartOptions,
  run: Pick<UseContext, 'notice' | 'signal'>,
): Promise<ActiveSkill> {
  const { notice } = run
  const { name, trustLevel, effects } = activation
  const trusted = trustLevel === 'trusted'
  const { hooks, problems } = readHooks(effects.hooks)
  for (const problem of problems) notice(`Skill ${name}: ${problem}.`)
  const scripts = scriptTools(skill, options)
  const servers = trusted ? await toolsOfServers(skill, options, run) : []
  return {
    activation,
    skill,
    tools: () => [
      ...withoutTwins(programTools(options.manager.getTools(name)), scripts),
      ...servers,
    ],
    hooks,
    model: trusted ? await modelOf(activation, options, notice) : undefined,
  }
}

/** A tool that the program registered stands for a script of the same name. */
function withoutTwins(own: readonly AgentTool[], scripts: readonly AgentTool[]): AgentTool[] {
  const names = new Set(own.map((tool) => tool.name))
  return [...own, ...scripts.filter((tool) => !names.has(tool.name))]
}

async function toolsOfServers(
  { info }: Skill,
  { serverTools }: SkillPartOptions,
  { notice, signal }: Pick<UseContext, 'notice' | 'signal'>,
): Promise<readonly AgentTool[]> {
  const tools: AgentTool[] = []
  for (const server of serverNames(info.fields)) {
    try {
      if (serverTools === undefined) throw new Error('this agent has no MCP servers')
      tools.push(...(await serverTools(server, signal)))
    } catch (error) {
      if (signal?.aborted === true) break
      notice(`Skill ${info.name} wants the MCP server ${server}: ${messageOf(error)}`)
    }
  }
  return tools
}

async function modelOf(
  { name, effects }: Activation,
  { resolveModel }: SkillPartOptions,
  notice: (message: string) => void,
): Promise<LanguageModel | undefined> {
  const wanted = effects.model
  if (wanted === undefined || wanted === 'inherit') return undefined
  try {
    if (resolveModel === undefined) throw new Error('this agent has one model only.')
    return await resolveModel(wanted)
  } catch (error) {
    notice(
      `Skill ${name} wants the model ${wanted}, and the agent keeps its own: ${messageOf(error)}`,
    )
    return undefined
  }
}

/** Tools that a program registered for a skill: its own code, which asks nobody. */
function programTools(tools: readonly OfferedTool[]): AgentTool[] {
  return tools.map((offered) => ({
    ...tool({
      name: offered.name,
      description: offered.description ?? `A tool of the skill ${offered.skill}.`,
      input: schemaOf(offered),
      execute: (input) => offered.execute(input),
    }),
    origin: { kind: 'skill', skill: offered.skill },
  }))
}

function schemaOf({ inputSchema = {} }: OfferedTool): JsonObject {
  const schema: unknown = JSON.parse(JSON.stringify({ type: 'object', ...inputSchema }))
  return isObject<JsonValue>(schema) ? schema : { type: 'object' }
}

/**
 * The MCP servers that a skill wants: names of configured servers in `metadata.mcp-servers`, separated
 * by blanks or commas. A skill can name servers and never define one.
 */
export function serverNames({ metadata }: SkillFields): string[] {
  const names = (metadata['mcp-servers'] ?? '').split(/[\s,]+/).filter((name) => name !== '')
  return [...new Set(names)]
}
