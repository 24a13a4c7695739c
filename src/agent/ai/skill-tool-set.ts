import type { Tool, ToolExecutionOptions } from 'ai'
import { z } from 'zod'
import { messageOf } from '#core/errors'
import { type JsonObject, type JsonValue, objectOf } from '#core/json'
import { alreadyActiveNote } from '#skill/catalog'
import { textOf } from '#agent/built-in-tools/paths'
import { usageError } from '#agent/errors'
import { answerOf, modelOutput } from '#agent/loop/results'
import { inputProblem } from '#agent/loop/run-loop'
import type { SkillSet } from '#agent/skills/skill-set'
import { findingTools, resourceTools, type SkillCatalogue } from '#agent/skills/skill-tools'
import { ownTool } from '#agent/tool'
import type { AgentTool, DescribedTool } from '#agent/types'
import { hasText } from '#agent/conversation/compact'
import type { CallBook } from './guarded-tools.ts'
import { describedTools, type RunSkills, shortName, withTools } from './run-skills.ts'
import { type AnyAgent, runSubagent, subagentAnswer, type SubagentOutput } from './subagent-tool.ts'
import { quietContext } from './tool-set.ts'

/** A pointer without the text, since browsers get it; the model reads the text on the server. */
export type SkillOutput =
  | { skill: string; arguments: string; tools: readonly DescribedTool[]; repeated: boolean }
  | { skill: string; done: true }
  | { skill: string; hook: string }
  | ({ skill: string } & SubagentOutput)

const skillInput = z.object({
  name: z.string(),
  arguments: z
    .string()
    .optional()
    .describe('What the skill is to work on, as a user would write it after its name.'),
  done: z.boolean().optional().describe('Ends the activation; default false.'),
  hook: z.string().optional().describe('What a hook of a skill says. Leave it out.'),
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
}

interface Context {
  calls: CallBook
  set: SkillSet
  agents: Readonly<Record<string, AnyAgent>> | undefined
  notice: (message: string) => void
}

type Execution = Pick<ToolExecutionOptions<never>, 'toolCallId' | 'messages' | 'abortSignal'>

/** The same in every step and for every skill, so that prompts stay in the cache of a provider. @internal */
export function createSkillTools(catalogue: () => SkillCatalogue, context: Context): SkillTools {
  const { calls, set } = context
  const execute = async (input: object, call: Execution): Promise<JsonValue> =>
    await runTool(calls.require(input), call)
  return {
    skill: {
      description: () =>
        [finding(catalogue(), 'skill')?.description ?? '', catalogue().text].join('\n\n').trim(),
      inputSchema: skillInput,
      async *execute(input, call) {
        yield* activate(input, call, context)
      },
      toModelOutput: async ({ output }) => await activationText(output, set),
    },
    search_skills: {
      description: 'Finds skills for a task; activate one with the tool skill.',
      inputSchema: z.object({ query: z.string().min(1).describe('The task in words.') }),
      execute,
    },
    skill_resource: {
      description:
        'Reads a file of an active skill, such as a reference that its instructions name; without path it lists the files.',
      inputSchema: z.object({
        skill: z.string(),
        path: z.string().optional().describe('From the directory of the skill.'),
      }),
      execute,
    },
    skill_tool: {
      description:
        'Calls a tool that belongs to an active skill: its content lists them with their input.',
      inputSchema: toolInput,
      execute,
      toModelOutput: ({ output }) => modelOutput(answerOf(output)),
    },
  }
}

/** A tool of ours that a call is about, with its own input; a text: why there is none. @internal */
export type Resolved = { tool: AgentTool; input: JsonObject } | string

/** What a call of one of the tools of {@link createSkillTools} is about, with the skills of its run. @internal */
export function resolveSkillCall(
  name: string,
  input: JsonObject,
  run: RunSkills,
  catalogue: SkillCatalogue,
  { manager }: SkillSet,
): Resolved {
  if (name === 'skill_tool') return resolveOwnTool(input, run)
  const files = run.active.map(({ skill }) => skill)
  const tool =
    name === 'skill_resource' ? resourceTools(files, manager)[0] : finding(catalogue, name)
  if (tool) return { tool, input }
  // The user may type a skill that the model has no list of.
  if (name === 'skill') return { tool: { ...unlisted, name }, input }
  return name === 'skill_resource' ? 'no active skill has files' : 'all skills are listed'
}

function resolveOwnTool(call: JsonObject, run: RunSkills): Resolved {
  const [skill, tool] = [textOf(call, 'skill'), textOf(call, 'tool')]
  const active = run.active.find(({ activation }) => activation.name === skill)
  if (!active) return `the skill ${skill} is not active`
  const tools = active.tools()
  const found = tools.find(({ name }) => name === tool || shortName(skill, name) === tool)
  if (found) return { tool: found, input: objectOf<JsonValue>(call['input']) }
  const names = tools.map(({ name }) => shortName(skill, name)).join(', ') || 'none'
  return `the skill ${skill} has no tool called ${tool}; it has ${names}`
}

const unlisted = { ...ownTool, description: '', inputSchema: {}, execute: async () => null }

function finding(catalogue: SkillCatalogue, name: string) {
  const uses = { use: async () => '', finish: async () => '' }
  return findingTools(catalogue, uses).find((tool) => tool.name === name)
}

async function runTool(
  { tool, input }: Exclude<Resolved, string>,
  { toolCallId, abortSignal }: Execution,
): Promise<JsonValue> {
  const problem = await inputProblem(tool, input)
  if (problem !== undefined) {
    throw usageError('tool-input', `${tool.name} was not called: ${problem}.`)
  }
  return await tool.execute(input, quietContext(toolCallId, abortSignal))
}

async function* activate(
  input: SkillInput,
  { messages, abortSignal }: Execution,
  { calls, set, agents = {}, notice }: Context,
): AsyncGenerator<SkillOutput> {
  const { name, arguments: given = '', done, hook } = input
  const { run } = calls.require(input)
  if (hook !== undefined) {
    yield { skill: name, hook }
    return
  }
  if (done === true) {
    run.hooks.requireEndable(name)
    yield { skill: name, done }
    return
  }
  const source = run.sourceOf(name)
  const { activation, active } = await set.prepare(name, given, source, notice, abortSignal)
  if (active) {
    const repeated = hasText(messages, activation.content)
    const tools = repeated ? [] : describedTools(active)
    yield { skill: activation.name, arguments: given, tools, repeated }
    return
  }
  const wanted = activation.effects.fork?.agent ?? 'default'
  const agent = agents[wanted]
  run.hooks.refuseFork(name)
  if (!agent) {
    const message = `The skill ${name} runs in the subagent ${wanted}, and there is none.`
    throw usageError('fork-agent-missing', message, 'createSkills takes it in `agents`.')
  }
  for await (const output of runSubagent(name, agent, activation.content, abortSignal)) {
    yield { skill: activation.name, ...output }
  }
}

/** What the model reads of a call of the tool `skill`, also when it is read again much later. */
async function activationText(output: SkillOutput, { manager }: SkillSet) {
  const { skill } = output
  if ('subagent' in output) {
    return subagentAnswer(output, `The skill ${skill} was carried out by a subagent. Its answer:\n`)
  }
  if ('hook' in output) return text(output.hook)
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
