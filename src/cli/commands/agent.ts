import { exitCode, type ExitCode, safeText } from '../../base/index.ts'
import { Agent, type AgentEvent, type AgentResult } from '../../agent/index.ts'
import { commandApprover } from '../_agent-approver.ts'
import { type Ending, endingOf } from '../_agent-ending.ts'
import {
  agentOptions,
  declareModelOptions,
  type ModelOptions,
  sayWhereNoServers,
} from '../_agent-options.ts'
import { agentProgress, usageLines } from '../_agent-progress.ts'
import { inputText, refuseInputTwice } from '../_input-text.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { collect } from '../_collect.ts'
import { contradiction } from '../../base/errors.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface AgentCommandOptions extends ModelOptions {
  skill?: readonly string[] | undefined
  /** `--no-skills` */
  skills: boolean
  instructions?: string | undefined
  concurrency?: string | undefined
}

export const command: LoadedCommand = defineCommand<AgentCommandOptions>({
  configure(program) {
    declareModelOptions(program)
      .argument('<task>', 'what to do: text, @FILE, or - for standard input')
      .option('--skill <name>', 'a skill that is active from the start; may be repeated', collect)
      .option('--concurrency <number>', 'subagents that work at once')
      .option('--no-skills', 'offer no skills and no subagents')
      .option('--instructions <text>', 'what it is told before the task: text, @FILE, or -')
      .addHelpText(
        'after',
        '\nWhat is not read-only is asked for at the terminal; without one it is refused, and the exit\n' +
          'code is 4. Exit code 1: the model failed; 5: it used up its turns.\n' +
          '\nExamples:\n' +
          '  $ skillrail agent "Summarise the README." --model ollama:qwen3:8b --tools read\n' +
          '  $ skillrail agent "/code-review src" --model anthropic:claude-sonnet-4-5 --tools read,search\n',
      )
  },
  async run(context, [given = ''], options) {
    refuseContradictions(options)
    refuseInputTwice(given, '--instructions', options.instructions)
    const task = await inputText(given, context)
    // Warnings about features that a provider lacks would be printed by the SDK itself.
    Reflect.set(globalThis, 'AI_SDK_LOG_WARNINGS', false)
    const approver = commandApprover(context, options.yes === true)
    const progress = agentProgress(context)
    await sayWhereNoServers(context, options)
    const calls: CalledTool[] = []
    const agent = new Agent({
      ...agentOptions(context, options),
      concurrency:
        wholeNumber('--concurrency', options.concurrency, { least: 1, most: 1000 }) ??
        context.settings.agent.concurrency,
      instructions: await instructionsOf(options, context),
      approver: approver.approve,
      ...(options.skills ? { skills: [], subagents: [], startSkills: options.skill } : {}),
      onEvent(event) {
        progress.onEvent(event)
        noteCall(event, calls)
      },
    })
    try {
      const result = await agent.generate(task, { signal: context.signal, stream: true })
      progress.finish()
      const ending = endingOf(result.error, approver)
      report(agent, result, calls, ending, context)
      return codeOf(result, ending)
    } finally {
      await agent.close()
    }
  },
})

function refuseContradictions({ skills, skill, concurrency }: AgentCommandOptions): void {
  if (skills) return
  if (skill !== undefined) {
    throw contradiction(
      '--no-skills',
      '--skill',
      'A skill is active only where skills are offered.',
    )
  }
  if (concurrency !== undefined) {
    throw contradiction('--no-skills', '--concurrency', 'It offers no subagents that could work.')
  }
}

async function instructionsOf(
  { instructions }: AgentCommandOptions,
  context: CommandContext,
): Promise<string> {
  const own = `You work in the directory ${context.runtime.cwd}. Use your tools to carry the task out, then answer.`
  return instructions === undefined ? own : `${await inputText(instructions, context)}\n\n${own}`
}

interface CalledTool {
  agent: string
  delegation?: string | undefined
  tool: string
  isError: boolean
}

function noteCall(event: AgentEvent, calls: CalledTool[]): void {
  if (event.type !== 'tool-result') return
  const { agent, delegation, tool, isError } = event
  calls.push({ agent, delegation, tool, isError })
}

function report(
  agent: Agent,
  { status, text, turns, durationMs }: AgentResult,
  tools: readonly CalledTool[],
  { error, refused }: Ending,
  { output, options }: CommandContext,
): void {
  const { usage } = agent
  if (options.json) {
    output.json({ status, text, error, refused, turns, durationMs, tools, usage })
    return
  }
  if (!output.isTerminal && text !== '') output.line(safeText(text))
  if (error !== undefined) output.failure(error)
  for (const line of usageLines(usage)) output.note(line)
}

/** A task whose calls nobody could approve was not done, whatever the model says of it. */
function codeOf({ status }: AgentResult, { refused }: Ending): ExitCode {
  if (status === 'cancelled') return exitCode.interrupted
  if (refused !== undefined) return exitCode.refused
  if (status === 'capped') return exitCode.budget
  return status === 'completed' ? exitCode.done : exitCode.badAnswer
}
