import type { ModelMessage } from 'ai'
import { z } from 'zod'
import type { Diagnostic } from '#core/errors'
import { isObject, type JsonObject } from '#core/json'
import type { InvocationSource } from '#library/activation'
import { type PermissionMode, permissionModes } from '#agent/approval/permission-mode'
import {
  type CallSettings,
  callSettings,
  limits,
  type OptionProblem,
  problemsIn,
} from '#agent/check-options'
import { SubagentConfigError } from '#agent/errors'
import type { PromptTemplate, PromptText } from '#agent/prompt-template'
import type { AgentEvent, AgentTool, ModelObject, SchemaType } from '#agent/types'

/* The message of each rule says what its value must be. */

const nameForm = 'up to 64 letters, digits, `-`, `_` and `.`, beginning with a letter or digit'
const notEmpty = 'a text that is not empty'
const text = requiredText(notEmpty).regex(/\S/, notEmpty)
const names = z.array(text, 'a list of names').nullish()
const modelForm = 'a `provider:name` or a model object'

const definitionSchema = z.strictObject({
  name: requiredText(nameForm).regex(/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u, nameForm),
  description: text,
  model: z.union([text, z.custom<ModelObject>(isObject)], modelForm).optional(),
  tools: z
    .array(z.union([text, z.custom<AgentTool>(isTool)], 'a list of names or tools'), 'a list')
    .nullish(),
  disallowedTools: names,
  systemPrompt: z
    .union([z.string(), z.custom<PromptTemplate>(isTemplate)], 'a text or { template, variables }')
    .nullish(),
  skills: names,
  maxTurns: limits.maxTurns,
  permissionMode: z.enum(permissionModes, `one of ${permissionModes.join(', ')}`).optional(),
  outputSchema: z.custom<JsonObject>(isObject, 'a JSON Schema as an object').optional(),
  config: z.strictObject({ timeoutMs: limits.timeoutMs, callSettings }, 'an object').optional(),
})

/**
 * The definition of a subagent. Only `name` and `description` are required; null means absent.
 *
 * @example
 * const reviewer: SubagentConfig = {
 *   name: 'reviewer',
 *   description: 'Reviews a change for defects.',
 *   tools: ['Read', 'Grep', 'Bash(git:*)'],
 *   systemPrompt: 'You review code. Name file and line of every finding.',
 * }
 */
export interface SubagentConfig {
  /** Unique among the subagents of one agent. */
  name: string
  /** When to delegate to it; the model reads this. */
  description: string
  /** `provider:name` or a model object; default: the parent's own model object. */
  model?: string | ModelObject | null | undefined
  /**
   * Names of tools of its parent that it may use: `Read`, `Bash(git:*)`, `mcp__github`,
   * `mcp__github__*`, `*`; or further tools as values. Absent and empty mean none.
   */
  tools?: readonly (string | AgentTool)[] | null | undefined
  /** Removed from `tools`, in the same notation. */
  disallowedTools?: readonly string[] | null | undefined
  /** Instructions before its task: a text, or a template with `{{variables}}` and their values. */
  systemPrompt?: PromptText | null | undefined
  /** Skills whose content is part of its instructions. `name arguments` passes arguments. */
  skills?: readonly string[] | null | undefined
  /** Maximum number of model calls before the last one, which sums up; default 50. */
  maxTurns?: number | null | undefined
  /** Default `default`. */
  permissionMode?: PermissionMode | null | undefined
  /** JSON Schema that its final answer must match. */
  outputSchema?: JsonObject | null | undefined
  /** Settings that it does not inherit from its parent. */
  config?: SubagentOverrides | null | undefined
}

/** Settings that replace those of the parent. */
export interface SubagentOverrides {
  /** Milliseconds for a whole delegation; default: the parent's. */
  timeoutMs?: number | undefined
  /** Settings of its model calls. */
  callSettings?: CallSettings | undefined
}

/** Options of a delegation besides its task. */
export interface DelegateOptions {
  /** Text that follows the task. */
  context?: string | undefined
  /** Messages with which its conversation begins; they are copied. Default: none. */
  contextMessages?: readonly ModelMessage[] | undefined
  /** Replaces the model of the definition. */
  model?: string | ModelObject | undefined
  /** Replaces the maximum of turns of the definition. */
  maxTurns?: number | undefined
  /** The shape of the final answer: a JSON Schema or a zod type. Read the answer from `structured`. */
  outputSchema?: JsonObject | SchemaType<unknown> | undefined
  /** Milliseconds for the whole delegation, including the wait in the queue; default: the parent's. */
  timeoutMs?: number | undefined
  /** Maximum number of input and output tokens, after which it ends. Default: the parent's. */
  maxTokens?: number | undefined
  /** Who delegates: a model gets no skill that disables its invocation by models. Default: the program. */
  source?: InvocationSource | undefined
  /** Cancels the delegation, such as the signal of the run that waits for it. */
  signal?: AbortSignal | undefined
  /** Receives the events instead of the parent. */
  onEvent?: ((event: AgentEvent) => void) | undefined
  /** Whether text events arrive while the model writes; default false. */
  stream?: boolean | undefined
}

/** @throws {SubagentConfigError} with every problem of an invalid definition. */
export function requireConfig(definition: SubagentConfig): SubagentConfig {
  const { config, problems } = readConfig(definition)
  if (config) return config
  const { name } = definition
  const nameText = typeof name === 'string' && name !== '' ? ` ${name}` : ''
  const diagnostics = problems.map(({ field, problem, hint }): Diagnostic => {
    const code = `subagent-${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    return { code, severity: 'error', message: `\`${field}\` ${problem}`, path: field, hint }
  })
  throw new SubagentConfigError({
    code: 'subagent-config',
    message: `The subagent${nameText} cannot be used: ${diagnostics.map(({ message }) => message).join('; ')}.`,
    hint: diagnostics.flatMap(({ hint }) => hint ?? []).join(' ') || undefined,
    diagnostics,
  })
}

export interface ConfigReading {
  /** Undefined if there are problems. */
  config?: SubagentConfig | undefined
  problems: readonly OptionProblem[]
}

export function readConfig(definition: object): ConfigReading {
  if (!isObject(definition)) {
    return { problems: [{ field: 'definition', problem: 'must be an object' }] }
  }
  const fields = withoutNulls(definition)
  const { data: config } = definitionSchema.safeParse(fields)
  const problems = config ? [] : problemsIn(definitionSchema, fields, 'a subagent')
  return { config, problems }
}

/** Removes fields that are null, also those of `config` and `callSettings`. */
function withoutNulls(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isSet = ([, field]: [string, unknown]) => field !== null
  return Object.fromEntries(
    Object.entries(value)
      .filter(isSet)
      .map(([name, field]) => [
        name,
        (name === 'config' || name === 'callSettings') && isObject(field)
          ? withoutNulls(field)
          : field,
      ]),
  )
}

function requiredText(form: string): z.ZodString {
  return z.string({ error: ({ input }) => (input === undefined ? 'given' : form) })
}

function isTool(value: unknown) {
  return isObject(value) && !!value['name'] && typeof value['execute'] === 'function'
}

function isTemplate(value: unknown) {
  return isObject(value) && typeof value['template'] === 'string'
}
