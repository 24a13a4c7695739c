import type { Command } from 'commander'
import { UsageError } from '../base/index.ts'
import type { AgentOptions } from '../agent/index.ts'
import type { CommandContext } from './command.ts'

/** What every command understands that lets a model work. */
export interface ModelOptions {
  model?: string | undefined
  baseUrl?: string | undefined
  /** Names, separated by commas. */
  tools?: string | undefined
  mcp?: boolean | undefined
  mcpServer?: readonly string[] | undefined
  maxTurns?: string | undefined
  yes?: boolean | undefined
}

export function declareModelOptions(program: Command): Command {
  return program
    .option('--model <provider:name>', 'the model, such as anthropic:claude-sonnet-4-5')
    .option('--base-url <url>', 'where the provider listens, such as http://127.0.0.1:11434/v1')
    .option('--tools <names>', 'built-in tools: read,list,search,write,edit,shell or all')
    .option('--mcp', 'offer the tools of all configured MCP servers')
    .option('--mcp-server <name>', 'offer those of one server; may be repeated', collect)
    .option('--max-turns <number>', 'model calls until it must sum up')
    .option('--yes', 'approve every call of a tool')
}

/**
 * An agent as the options and the settings describe it.
 *
 * @throws {UsageError} when no model is named anywhere, and for numbers that are none.
 */
export function agentOptions(context: CommandContext, options: ModelOptions): AgentOptions {
  const { runtime, settings } = context
  const { mcp, mcpServer } = options
  return {
    model: modelName(context, options),
    runtime,
    settings,
    baseUrl: options.baseUrl,
    builtIns: options.tools?.split(',').map((name) => name.trim()),
    mcp: mcp === true ? 'project' : mcpServer,
    maxTurns: turnsOf(options.maxTurns) ?? settings.agent.maxTurns,
    limits: { budget: settings.agent.contextTokens },
  }
}

function modelName({ settings }: CommandContext, { model }: ModelOptions): string {
  const name = model ?? settings.agent.model
  if (name !== '') return name
  throw new UsageError({
    code: 'model-missing',
    message: 'no model is named',
    hint: 'Give --model provider:name, such as --model ollama:qwen3:8b, or set agent.model.',
  })
}

function turnsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const turns = Number(text)
  if (/^\d{1,4}$/.test(text) && turns >= 1) return turns
  throw new UsageError({
    code: 'max-turns',
    message: `--max-turns is ${text}; a whole number from 1 to 9999 is wanted`,
  })
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value]
}
