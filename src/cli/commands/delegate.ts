import { exitCode, type ExitCode, safeText, UsageError } from '../../base/index.ts'
import type { SubagentResult } from '../../agent/index.ts'
import { commandApprover } from '../_agent-approver.ts'
import { type Ending, endingOf } from '../_agent-ending.ts'
import { agentFiles } from '../_agent-files.ts'
import {
  agentOptions,
  declareModelOptions,
  maxTurnsOf,
  type ModelOptions,
  sayWhereNoServers,
} from '../_agent-options.ts'
import { agentProgress, usageText } from '../_agent-progress.ts'
import { inputText, refuseInputTwice } from '../_input-text.ts'
import { milliseconds } from '../../base/option-values.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends ModelOptions {
  context?: string | undefined
  timeout?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    declareModelOptions(program)
      .argument('<agent>', 'the name of a subagent; skillrail agents list shows them')
      .argument('<task>', 'what it is to do: text, @FILE, or - for standard input')
      .option('--context <text>', 'what it is to know besides: text, @FILE, or -')
      .option('--timeout <seconds>', 'for the whole task')
      .addHelpText(
        'after',
        '\n--model is in place of the model of its definition. It may use what --tools (default all) and\n' +
          '--mcp give, as far as its definition lists it. Exit code 5: its turns or its time ran out.\n' +
          '\nExample:\n  $ skillrail delegate reviewer "Review src/index.ts" --model ollama:qwen3:8b\n',
      )
  },
  async run(context, [name = '', given = ''], options) {
    refuseInputTwice(given, '--context', options.context)
    const task = await inputText(given, context)
    if (task.trim() === '') throw emptyTask(name)
    const more =
      options.context === undefined ? undefined : await inputText(options.context, context)
    const approver = commandApprover(context, options.yes === true)
    const result = await delegate(context, name, options, approver.approve, { task, more })
    const ending = endingOf(result.success ? undefined : (result.error ?? result.status), approver)
    if (context.options.json) context.output.json({ ...reportOf(result), ...ending })
    else print(context, result, ending)
    if (context.signal.aborted) return exitCode.interrupted
    return ending.refused === undefined ? codeOf(result) : exitCode.refused
  },
})

async function delegate(
  context: CommandContext,
  name: string,
  options: Options,
  approver: ReturnType<typeof commandApprover>['approve'],
  { task, more }: { task: string; more: string | undefined },
): Promise<SubagentResult> {
  // Warnings about features that a provider lacks would be printed by the SDK itself.
  Reflect.set(globalThis, 'AI_SDK_LOG_WARNINGS', false)
  const { Agent } = await import('../../agent/index.ts')
  const progress = agentProgress(context)
  await sayWhereNoServers(context, options)
  const defined = await definedModel(context, name)
  const agent = new Agent({
    ...agentOptions(context, { tools: 'all', ...options, model: options.model ?? defined }),
    skills: [],
    subagents: [],
    approver,
    onEvent: progress.onEvent,
  })
  try {
    return await agent.delegate(name, task, {
      signal: context.signal,
      context: more,
      model: options.model,
      maxTurns: maxTurnsOf(options),
      timeoutMs: milliseconds('--timeout', options.timeout),
    })
  } finally {
    progress.finish()
    await agent.close()
  }
}

/** A subagent with a model of its own needs no other one. */
async function definedModel(context: CommandContext, name: string): Promise<string | undefined> {
  const { agents } = await agentFiles(context)
  const model = agents.find(({ config }) => config.name === name)?.config.model
  return typeof model === 'string' ? model : undefined
}

function print({ output }: CommandContext, result: SubagentResult, { error }: Ending): void {
  if (result.output !== '') output.line(safeText(result.output))
  if (error !== undefined) output.failure(`${result.subagentName}: ${error}`)
  output.note(usageText('used', result.usage))
}

function reportOf({ result, ...facts }: SubagentResult): object {
  return { ...facts, turns: result?.turns ?? 0 }
}

function codeOf({ success, endReason }: SubagentResult): ExitCode {
  if (success) return exitCode.done
  return endReason === 'capped' || endReason === 'timeout' ? exitCode.budget : exitCode.badAnswer
}

function emptyTask(name: string): UsageError {
  return new UsageError({
    code: 'task-empty',
    message: `the task for ${name} is empty; a subagent knows nothing but its task`,
  })
}
