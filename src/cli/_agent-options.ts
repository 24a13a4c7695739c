import { collect } from './_collect.ts'
import type { Command } from 'commander'
import { UsageError } from '../base/index.ts'
import type { AgentOptions } from '../agent/index.ts'
import { contradiction } from '../base/errors.ts'
import { wholeNumber } from '../base/option-values.ts'
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
 * @throws {UsageError} when no model is named anywhere, for numbers that are none, and for options
 *   that contradict each other.
 */
export function agentOptions(context: CommandContext, options: ModelOptions): AgentOptions {
  const { runtime, settings } = context
  const { mcp, mcpServer } = options
  if (mcp === true && mcpServer !== undefined) {
    throw contradiction(
      '--mcp',
      '--mcp-server',
      '--mcp offers the tools of all servers; --mcp-server, as often as you like, those of some.',
    )
  }
  return {
    model: modelName(context, options),
    runtime,
    settings,
    baseUrl: options.baseUrl,
    builtIns: toolNames(options.tools),
    mcp: mcp === true ? 'project' : mcpServer,
    maxTurns: maxTurnsOf(options) ?? settings.agent.maxTurns,
    limits: { budget: settings.agent.contextTokens },
  }
}

/** `--mcp` without anything that it could offer is a remark; servers that are held back have their own. */
export async function sayWhereNoServers(
  context: CommandContext,
  { mcp }: ModelOptions,
): Promise<void> {
  if (mcp !== true) return
  const [{ serverConfiguration }, { NoServersError, unaskedServers }] = await Promise.all([
    import('./_asked-servers.ts'),
    import('../tools/index.ts'),
  ])
  const problem = unaskedServers(serverConfiguration(context))
  if (problem instanceof NoServersError) context.output.note(`${problem.message}.`)
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

/** The names of `--tools`; an empty text has none. */
export function toolNames(text: string | undefined): string[] | undefined {
  return text?.split(',').flatMap((name) => name.trim() || [])
}

/** @throws {UsageError} for a text that is no such number. */
export function maxTurnsOf({ maxTurns }: Pick<ModelOptions, 'maxTurns'>): number | undefined {
  return wholeNumber('--max-turns', maxTurns, { least: 1, most: 9999 })
}
