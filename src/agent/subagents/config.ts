import type { ModelMessage } from 'ai'
import { z } from 'zod'
import type { Diagnostic } from '#core/errors'
import { isObject, type JsonObject } from '#core/json'
import type { InvocationSource } from '#library/activation'
import type { AgentEnvironment } from '#agent/agent-options'
import {
  type CallSettings,
  callSettings,
  limits,
  type OptionProblem,
  problemsIn,
} from '#agent/check-options'
import { SubagentConfigError } from '#agent/errors'
import type { PromptTemplate, PromptText } from '#agent/prompt-template'
import type { SessionPart } from '#agent/session'
import type { SkillPart } from '#agent/skills/skill-part'
import type { SchemaType } from '#agent/tool'
import type { AgentEvent, AgentTool, ModelObject, UsageEntry } from '#agent/types'

export const permissionModes = ['default', 'plan', 'dont-ask'] as const

/**
 * How approvals are handled in a subagent. `default`: the approver of the parent is asked.
 * `plan`: only tools that change nothing are offered. `dont-ask`: what would have to be asked is
 * refused.
 */
export type PermissionMode = (typeof permissionModes)[number]

const nameForm = 'up to 64 letters, digits, `-`, `_` and `.`, beginning with a letter or digit'
const notEmpty = 'a text that is not empty'
const text = required(notEmpty).regex(/\S/, notEmpty)
const names = z.array(text, 'a list of names').nullish()
const modelForm = 'a `provider:name` or a model object'

/** The message of a rule says what its value must be. */
const definition = z.strictObject({
  name: required(nameForm).regex(/^[\p{L}\p{N}][\p{L}\p{N}._-]{0,63}$/u, nameForm),
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
 * What a subagent is. Only `name` and `description` are required.
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
  model?: string | ModelObject | undefined
  /**
   * The tools it may use, of those that its parent has: `Read`, `Bash(git:*)`, `mcp__github`,
   * `mcp__github__*`, `*`; or tools of its own as values. Absent and empty mean none.
   */
  tools?: readonly (string | AgentTool)[] | null | undefined
  /** Taken away from what `tools` gives, in the same notation. */
  disallowedTools?: readonly string[] | null | undefined
  /** What it is told before its task: a text, or one with `{{variables}}` and their values. */
  systemPrompt?: PromptText | null | undefined
  /** Skills whose whole content it has from the start. `name arguments` passes arguments. */
  skills?: readonly string[] | null | undefined
  /** Model calls before it must sum up; default 50. */
  maxTurns?: number | undefined
  /** Default `default`. */
  permissionMode?: PermissionMode | undefined
  /** JSON Schema that its final answer must have. */
  outputSchema?: JsonObject | undefined
  /** Overrides of what it would take over from its parent. */
  config?: SubagentOverrides | undefined
}

/** Settings of a subagent's runs that are not its parent's. */
export interface SubagentOverrides {
  /** Milliseconds for a whole delegation; default: the parent's. */
  timeoutMs?: number | undefined
  /** Passed on to the provider. */
  callSettings?: CallSettings | undefined
}

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
  /** Milliseconds for the whole delegation, waiting for a free place included; default: the parent's. */
  timeoutMs?: number | undefined
  /** Tokens in and out; then it ends. Default: the parent's. */
  maxTokens?: number | undefined
  /** Who asks; a model cannot start a skill that is withheld from models. Default: the program. */
  source?: InvocationSource | undefined
  /** Cancels it: that of the run that waits for it, say. */
  signal?: AbortSignal | undefined
  /** Told instead of the parent's stream of events. */
  onEvent?: ((event: AgentEvent) => void) | undefined
  /** Whether text events come while its model writes; default false. */
  stream?: boolean | undefined
}

export function requireConfig(given: SubagentConfig): SubagentConfig {
  const { config, problems } = readConfig(given)
  if (config) return config
  const named = typeof given.name === 'string' && given.name !== '' ? ` ${given.name}` : ''
  const found = problems.map(({ field, problem, hint }): Diagnostic => {
    const code = `subagent-${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    return { code, severity: 'error', message: `\`${field}\` ${problem}`, path: field, hint }
  })
  throw new SubagentConfigError({
    code: 'subagent-config',
    message: `The subagent${named} cannot be used: ${found.map(({ message }) => message).join('; ')}.`,
    hint: found.flatMap(({ hint }) => hint ?? []).join(' ') || undefined,
    diagnostics: found,
  })
}

/** Reads a definition, or tells everything that is wrong with it. */
export function readConfig(given: object): {
  config?: SubagentConfig | undefined
  problems: readonly OptionProblem[]
} {
  const { data: config } = definition.safeParse(given)
  const problems = config ? [] : problemsIn(definition, given, 'a subagent')
  return { config, problems }
}

function required(form: string): z.ZodString {
  return z.string({ error: ({ input }) => (input === undefined ? 'given' : form) })
}

function isTool(value: unknown) {
  return isObject(value) && !!value['name'] && typeof value['execute'] === 'function'
}

function isTemplate(value: unknown) {
  return isObject(value) && typeof value['template'] === 'string'
}

/** What subagents get of the agent that delegates to them, and nothing of its conversation. */
export interface SubagentParent {
  environment: Pick<
    AgentEnvironment,
    'name' | 'options' | 'denied' | 'runtime' | 'model' | 'resolveModel'
  >
  /** Where the tools of servers and the workflows come from. */
  servers?:
    | {
        ready(signal?: AbortSignal): Promise<void>
        workflowsOfChild(): readonly SessionPart[]
      }
    | undefined
  /** Everything it may use now: the ceiling of its subagents. */
  tools: () => readonly AgentTool[]
  /** Undefined when it has no skills. */
  skills: () => Pick<SkillPart, 'manager' | 'load' | 'rules'> | undefined
  /** Why no model may be asked any more. */
  exhausted?: (() => string | undefined) | undefined
  onUsage: (entry: UsageEntry) => void
  /** Tells what happens in a subagent; events carry the id of the delegation. */
  onEvent: (event: AgentEvent) => void
}
