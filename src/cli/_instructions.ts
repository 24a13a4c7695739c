import { UsageError } from '../base/index.ts'
import type { InstructionExecutor } from '../chain/index.ts'
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

/** @throws {UsageError} when the options contradict each other or name nothing. */
export function instructionsOf({
  via,
  model,
  tools,
}: InstructionChoice): InstructionExecutor | undefined {
  if (model === undefined) return viaInstructions(via)
  if (via !== undefined) {
    throw new UsageError({
      code: 'wrong-use',
      message: '--via and --model were both given',
      hint: 'A step is carried out by an agent client or by a model; say which.',
    })
  }
  refuseBareName(model)
  return { kind: 'model', model, honours: tools === undefined ? [] : ['allowed-tools'] }
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
