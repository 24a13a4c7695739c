import type { ModelMessage } from 'ai'
import type { InvocationSource } from '../../library/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import type { AgentEvent } from '../model.ts'
import type { ModelObject } from '../models/resolve-model.ts'
import type { SchemaType } from '../tool.ts'
import type { SubagentConfig } from './config.ts'

/** What a delegation can be given besides its task; everything is optional. */
export interface DelegateOptions {
  /** Text that the subagent gets below its task. */
  context?: string | undefined
  /** Messages that its conversation begins with; copied. Default: none, a fresh context. */
  contextMessages?: readonly ModelMessage[] | undefined
  /** In place of the model of its definition. */
  model?: string | ModelObject | undefined
  /** In place of the turns of its definition. */
  maxTurns?: number | undefined
  /** The shape of its final answer: JSON Schema, or a type of zod. Read it from `structured`. */
  outputSchema?: JsonObject | SchemaType<unknown> | undefined
  /** Milliseconds for the whole delegation, waiting for a free place included; default none. */
  timeoutMs?: number | undefined
  /**
   * Who asks. For a model, none begins with a skill that no model may start. Default: who activated the
   * skill that forks, else the program.
   */
  source?: InvocationSource | undefined
  /** Cancels it: that of the run that waits for it, say. */
  signal?: AbortSignal | undefined
  /** Told instead of the parent's stream of events. */
  onEvent?: ((event: AgentEvent) => void) | undefined
  /** Whether text events come while its model writes; default false. */
  stream?: boolean | undefined
}

export function timeoutOf(
  { config }: Pick<SubagentConfig, 'config'>,
  { timeoutMs }: DelegateOptions,
): number | undefined {
  return timeoutMs ?? config?.timeoutMs
}
