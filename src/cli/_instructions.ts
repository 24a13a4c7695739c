import { UsageError } from '../base/index.ts'
import type { InstructionExecutor } from '../chain/index.ts'
import { commaNames } from '../base/option-values.ts'
import { contradiction, pointless } from '../base/errors.ts'
import { viaInstructions } from './_via.ts'

/** What the options say about steps without a script. */
export interface InstructionChoice {
  /** An agent client. */
  via?: string | undefined
  /** A model, as `provider:name`. */
  model?: string | undefined
  /** Where the model is, in place of its provider's own address. */
  baseUrl?: string | undefined
  /** Names of the built-in tools that the model gets, separated by commas. */
  tools?: string | undefined
}

/** @throws {UsageError} for a client or a model whose name is none. */
export function instructionsOf({
  via,
  model,
  tools,
}: InstructionChoice): InstructionExecutor | undefined {
  if (model === undefined) return viaInstructions(via)
  refuseBareName(model)
  return { kind: 'model', model, honours: tools === undefined ? [] : ['allowed-tools'] }
}

/**
 * What the options of a call say.
 *
 * @throws {UsageError} when they contradict each other; {AgentUsageError} for a built-in tool that
 *   there is not.
 */
export async function askedInstructions(
  options: InstructionChoice & { engine?: string | undefined },
): Promise<InstructionChoice> {
  const { via, model, engine, tools, baseUrl } = options
  if (via !== undefined && model !== undefined) {
    const hint = 'A step is carried out by an agent client or by a model; say which.'
    throw contradiction('--via', '--model', hint)
  }
  refuseWithoutModel(model !== undefined, options, 'Add --model provider:name.')
  if (engine === 'restate' && baseUrl !== undefined) {
    const hint = 'The workers ask the model: start them with --base-url.'
    throw contradiction('--engine restate', '--base-url', hint)
  }
  const names = commaNames(tools)
  if (names !== undefined) (await import('../agent/index.ts')).requireBuiltIns(names)
  return instructionChoice(options)
}

/** @throws {UsageError} for options about models where there is none. */
export function refuseWithoutModel(
  hasModel: boolean,
  { tools, baseUrl }: Pick<InstructionChoice, 'tools' | 'baseUrl'>,
  hint: string,
): void {
  if (hasModel) return
  if (tools !== undefined) throw pointless('--tools', '--model', hint)
  if (baseUrl !== undefined) throw pointless('--base-url', '--model', hint)
}

/** The part of the options that a run is planned and executed with again. */
export function instructionChoice({
  via,
  model,
  baseUrl,
  tools,
}: InstructionChoice): InstructionChoice {
  return { via, model, baseUrl, tools }
}

function refuseBareName(model: string): void {
  if (/^[^:]+:./.test(model)) return
  throw new UsageError({
    code: 'wrong-use',
    message: `--model ${model}: it does not say whose model it is`,
    hint: 'Write it as provider:name, such as anthropic:claude-sonnet-4-5 or ollama:qwen3:8b.',
  })
}
