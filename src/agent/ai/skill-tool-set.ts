import type { Tool, ToolExecutionOptions } from 'ai'
import { z } from 'zod'
import { messageOf } from '#core/errors'
import { type JsonObject, type JsonValue, objectOf } from '#core/json'
import { alreadyActiveNote } from '#skill/catalog'
import { textOf } from '#agent/built-in-tools/paths'
import { usageError } from '#agent/errors'
import { outputOf } from '#agent/failed-result'
import { answerOf, modelOutput } from '#agent/loop/results'
import { inputProblem } from '#agent/loop/run-loop'
import type { SkillSet } from '#agent/skills/skill-set'
import { findingTools, resourceTools, type SkillCatalogue } from '#agent/skills/skill-tools'
import { ownTool } from '#agent/tool'
import type { AgentTool, DescribedTool } from '#agent/types'
import { hasText } from '#agent/conversation/messages'
import type { CallPermissions, PermittedCall } from './call-permissions.ts'
import { describedTools, type RunSkills, shortName, withTools } from './run-skills.ts'
import { stopToolName } from './stop-hooks.ts'
import { type AnyAgent, runSubagent, subagentAnswer, type SubagentOutput } from './subagent-tool.ts'
import { quietContext } from './tool-set.ts'

/** Names the skill without its text, because browsers get this output. The model reads the text. */
export type SkillOutput =
  | { skill: string; arguments: string; tools: readonly DescribedTool[]; repeated: boolean }
  | { skill: string; done: true }
  | ({ skill: string } & SubagentOutput)

const skillInput = z.object({
  name: z.string(),
  arguments: z
    .string()
    .optional()
    .describe('What the skill is to work on, as a user would write it after its name.'),
  done: z.boolean().optional().describe('Ends the activation; default false.'),
})

const toolInput = z.object({
  skill: z.string(),
  tool: z.string(),
  input: z.looseObject({}).optional(),
})

type SkillInput = z.infer<typeof skillInput>

/** The tools that `createSkills` adds, by the names that the model calls. */
export type SkillTools = {
  skill: Tool<SkillInput, SkillOutput>
  search_skills: Tool<{ query: string }, JsonValue>
  skill_resource: Tool<{ skill: string; path?: string | undefined }, JsonValue>
  skill_tool: Tool<z.infer<typeof toolInput>, JsonValue>
  /** Only Stop hooks call it, so that the loop continues; the model does not see it. */
  skill_stop: Tool<{}, { reason: string }>
}

/** The context in which the tools of skills work. */
interface SkillToolContext {
  calls: CallPermissions
  set: SkillSet
  agents: Readonly<Record<string, AnyAgent>> | undefined
  notice: (message: string) => void
}

type Execution = Pick<ToolExecutionOptions<never>, 'toolCallId' | 'messages' | 'abortSignal'>

/**
 * Creates the tools once for all skills and steps, so that the provider's prompt cache stays valid.
 * @internal
 */
export function createSkillTools(
  catalogue: () => SkillCatalogue,
  context: SkillToolContext,
): SkillTools {
  const { calls, set } = context
  const runPermitted = (name: ResolvedToolName) => async (input: unknown, options: Execution) => {
    const call = calls.take(name, input, options)
    return await calls.follow(call, input, options, async () => await runTool(call, options))
  }
  return {
    skill: calls.withAdditions({
      description: () =>
        [findingTool('skill', catalogue())?.description ?? '', catalogue().text]
          .join('\n\n')
          .trim(),
      inputSchema: skillInput,
      async *execute(input, options) {
        const call = calls.take('skill', input, options)
        yield* calls.followEach(call, input, options, activate(input, call, options, context))
      },
      toModelOutput: async ({ output }) => await activationText(output, set),
    }),
    search_skills: calls.withAdditions({
      description: 'Finds skills for a task; activate one with the tool skill.',
      inputSchema: z.object({ query: z.string().min(1).describe('The task in words.') }),
      execute: runPermitted('search_skills'),
    }),
    skill_resource: calls.withAdditions({
      description:
        'Reads a file of an active skill, such as a reference that its instructions name; without path it lists the files.',
      inputSchema: z.object({
        skill: z.string(),
        path: z.string().optional().describe('From the directory of the skill.'),
      }),
      execute: runPermitted('skill_resource'),
    }),
    skill_tool: calls.withAdditions({
      description:
        'Calls a tool that belongs to an active skill: its content lists them with their input.',
      inputSchema: toolInput,
      execute: runPermitted('skill_tool'),
      toModelOutput: ({ output }) => modelOutput(answerOf(output)),
    }),
    skill_stop: {
      description: 'Returns what a Stop hook of a skill says. Only Stop hooks call it.',
      inputSchema: z.object({}),
      async execute(input, options) {
        const { tool } = calls.take(stopToolName, input, options)
        const { toolCallId, abortSignal } = options
        const reason = outputOf(await tool.execute({}, quietContext(toolCallId, abortSignal)))
        return { reason: typeof reason === 'string' ? reason : '' }
      },
      toModelOutput: ({ output }) => text(output.reason),
    },
  }
}

type ResolvedToolName = 'search_skills' | 'skill_resource' | 'skill_tool'

/** The tool behind a call of one of the tools of skills, with the input that it gets. @internal */
export interface ResolvedCall {
  tool: AgentTool
  input: JsonObject
}

/** Finds the tool behind a call. A text says why there is none. @internal */
export function resolveSkillCall(
  name: string,
  input: JsonObject,
  run: RunSkills,
  catalogue: SkillCatalogue,
  { manager }: SkillSet,
): ResolvedCall | string {
  if (name === 'skill_tool') return resolveSkillTool(input, run)
  const skills = run.active.map(({ skill }) => skill)
  const tool =
    name === 'skill_resource' ? resourceTools(skills, manager)[0] : findingTool(name, catalogue)
  if (tool) return { tool, input }
  // The user may type a skill that is not listed for the model.
  if (name === 'skill') return { tool: { ...unlistedTool, name }, input }
  return name === 'skill_resource' ? 'no active skill has files' : 'all skills are listed'
}

/** The tool of one call that a Stop hook makes; its result is the hook's objection. @internal */
export function stopTool(objection: string): AgentTool {
  return { ...unlistedTool, name: stopToolName, execute: async () => objection }
}

function resolveSkillTool(call: JsonObject, run: RunSkills): ResolvedCall | string {
  const skill = textOf(call, 'skill')
  const toolName = textOf(call, 'tool')
  const active = run.active.find(({ activation }) => activation.name === skill)
  if (!active) return `the skill ${skill} is not active`
  const tools = active.tools()
  const tool = tools.find(({ name }) => name === toolName || shortName(skill, name) === toolName)
  if (tool) return { tool, input: objectOf<JsonValue>(call['input']) }
  const names = tools.map(({ name }) => shortName(skill, name)).join(', ') || 'none'
  return `the skill ${skill} has no tool called ${toolName}; it has ${names}`
}

const unlistedTool = { ...ownTool, description: '', inputSchema: {}, execute: async () => null }

/** One of the tools that find skills, for its description and for the rules of calls. */
function findingTool(name: string, catalogue: SkillCatalogue): AgentTool | undefined {
  const actions = { use: async () => '', finish: async () => '' }
  return findingTools(catalogue, actions).find((tool) => tool.name === name)
}

async function runTool(
  { tool, input }: ResolvedCall,
  { toolCallId, abortSignal }: Execution,
): Promise<JsonValue> {
  const problem = await inputProblem(tool, input)
  if (problem !== undefined) {
    throw usageError('tool-input', `${tool.name} was not called: ${problem}.`)
  }
  return outputOf(await tool.execute(input, quietContext(toolCallId, abortSignal)))
}

async function* activate(
  { name, arguments: argumentText = '', done }: SkillInput,
  { run, isChanged }: PermittedCall,
  { messages, abortSignal }: Execution,
  { set, agents = {}, notice }: SkillToolContext,
): AsyncGenerator<SkillOutput> {
  if (isChanged) {
    // The activation is read from the messages, which contain the input of the model.
    const message = `A hook changed the input of the skill ${name}, and an activation cannot be changed.`
    throw usageError('activation-changed', message, 'The hook can deny the call instead.')
  }
  if (done === true) {
    run.hooks.requireEndable(name)
    yield { skill: name, done }
    return
  }
  const source = run.sourceOf(name)
  const { activation, active } = await set.prepare(
    name,
    argumentText,
    { source },
    notice,
    abortSignal,
  )
  if (active) {
    const repeated = hasText(messages, activation.content)
    const tools = repeated ? [] : describedTools(active)
    yield { skill: activation.name, arguments: argumentText, tools, repeated }
    return
  }
  const agentName = activation.effects.fork?.agent ?? 'default'
  const agent = agents[agentName]
  run.hooks.refuseFork(name)
  if (!agent) {
    const message = `The skill ${name} runs in the subagent ${agentName}, which does not exist.`
    throw usageError('fork-agent-missing', message, 'Pass it to createSkills in `agents`.')
  }
  for await (const output of runSubagent(name, agent, activation.content, abortSignal)) {
    yield { skill: activation.name, ...output }
  }
}

/** Returns the result of the tool `skill` for the model, also for a call of an earlier request. */
async function activationText(output: SkillOutput, { manager }: SkillSet) {
  const { skill } = output
  if ('subagent' in output) {
    return subagentAnswer(output, `The skill ${skill} was carried out by a subagent. Its answer:\n`)
  }
  if ('done' in output) return text(`The skill ${skill} is not active any more.`)
  if (output.repeated) return text(alreadyActiveNote(skill))
  try {
    const { content } = await manager.prepare(skill, output.arguments, { source: 'model' })
    return text(withTools(content, skill, output.tools))
  } catch (error) {
    return text(`The skill ${skill} cannot be used any more: ${messageOf(error)}`)
  }
}

function text(value: string) {
  return { type: 'text', value } as const
}
