import type { ModelMessage } from 'ai'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { isObject } from '../../core/json.ts'
import type { Runtime } from '../../core/runtime.ts'
import { nearest } from '../../core/text.ts'
import type { Activation, InvocationSource } from '../../library/activation.ts'
import type { SkillManager } from '../../library/manager.ts'
import type { AllowedTool } from '../../skill/model.ts'
import type { JsonObject } from '../../tools/model.ts'
import type { CallRules } from '../approval/permit.ts'
import { SubagentConfigError } from '../errors.ts'
import type { PromptText } from '../prompt-template.ts'
import type { SessionPart } from '../session.ts'
import type { SchemaType } from '../tool.ts'
import type {
  AgentEvent,
  AgentTool,
  Approver,
  CallSettings,
  ModelObject,
  UsageEntry,
} from '../types.ts'

/**
 * How approvals are handled in a subagent. `default`: the approver of the parent is asked.
 * `plan`: only tools that change nothing are offered. `dont-ask`: what would have to be asked is
 * refused.
 */
export type PermissionMode = 'default' | 'plan' | 'dont-ask'

export const permissionModes: readonly PermissionMode[] = ['default', 'plan', 'dont-ask']

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
  /** Milliseconds for a whole delegation; default none. */
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

/** What is wrong with one field of a definition. */
interface ConfigProblem {
  /** As {@link SubagentConfig} spells it. */
  field: string
  message: string
  hint?: string | undefined
}

/**
 * Passes a definition on when it can be used. Whether its model, tools and skills exist is looked at
 * when it is delegated to.
 */
export function requireConfig(config: SubagentConfig): SubagentConfig {
  const problems = checkConfig(config)
  if (problems.length === 0) return config
  const named = typeof config.name === 'string' && config.name !== '' ? ` ${config.name}` : ''
  throw new SubagentConfigError({
    code: 'subagent-config',
    message: `The subagent${named} cannot be used: ${problems.map(({ message }) => message).join('; ')}.`,
    hint: problems.flatMap(({ hint }) => hint ?? []).join(' ') || undefined,
    diagnostics: problems.map(({ field, message, hint }): Diagnostic => ({
      code: `subagent-${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
      severity: 'error',
      message,
      path: field,
      hint,
    })),
  })
}

/** Everything that is wrong with a definition; values of a wrong type too, for callers without types. */
export function checkConfig(config: SubagentConfig): ConfigProblem[] {
  const values: Readonly<Record<string, unknown>> = { ...config }
  const fields = ['name', 'description', ...Object.keys(rules)]
  const unknown = Object.keys(values).filter((key) => !fields.includes(key))
  return [
    ...unknown.map((field): ConfigProblem => {
      const meant = nearest(field, fields)
      const hint =
        meant === undefined ? `There are ${fields.join(', ')}.` : `Did you mean ${meant}?`
      return { field, message: `\`${field}\` is not a field of a subagent`, hint }
    }),
    ...textProblem('name', values['name']),
    ...nameForm(values['name']),
    ...textProblem('description', values['description']),
    ...Object.entries(rules).flatMap(([field, [wanted, accepts]]) => {
      const value = values[field] ?? undefined
      const isFine = value === undefined || accepts(value)
      return isFine ? [] : [{ field, message: `\`${field}\` must be ${wanted}` }]
    }),
  ]
}

/** Letters, digits, `-`, `_` and `.`: usable in a command line, an enum for a model, a file name. */
const namePattern = /^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u
const longestName = 64

function nameForm(name: unknown): ConfigProblem[] {
  if (!isText(name) || (name.length <= longestName && namePattern.test(name))) return []
  const hint = 'Use up to 64 letters, digits, `-`, `_` and `.`, beginning with a letter or digit.'
  return [{ field: 'name', message: `\`${name.slice(0, 80)}\` is not a name for a subagent`, hint }]
}

function textProblem(field: string, value: unknown): ConfigProblem[] {
  if (isText(value)) return []
  const isMissing = value === undefined || value === null || value === ''
  const problem = typeof value === 'string' ? 'is empty' : 'must be a text'
  return [{ field, message: `\`${field}\` ${isMissing ? 'is missing' : problem}` }]
}

const rules: Readonly<Record<string, readonly [wanted: string, (value: unknown) => boolean]>> = {
  model: [
    'a name such as `provider:name`, or a model object',
    (value) => isText(value) || isObject(value),
  ],
  tools: [
    'a list of names of tools, or of tools',
    (value) => Array.isArray(value) && value.every((item) => isText(item) || isTool(item)),
  ],
  disallowedTools: ['a list of names of tools', isTexts],
  systemPrompt: [
    'a text or { template, variables }',
    (value) =>
      typeof value === 'string' || (isObject(value) && typeof value['template'] === 'string'),
  ],
  skills: ['a list of names of skills', isTexts],
  maxTurns: ['a whole number from 1', (value) => Number.isSafeInteger(value) && Number(value) >= 1],
  permissionMode: [
    `one of ${permissionModes.join(', ')}`,
    (value) => permissionModes.some((mode) => mode === value),
  ],
  outputSchema: ['a JSON Schema as an object', isObject],
  config: ['an object', isObject],
}

function isTool(value: unknown): boolean {
  return isObject(value) && isText(value['name']) && typeof value['execute'] === 'function'
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

/**
 * What subagents get of the agent that delegates to them: values and questions, and nothing of its
 * conversation.
 */
export interface SubagentParent {
  /** `main`, or what the program calls it. */
  readonly name: string
  readonly runtime: Runtime
  /** Its own model, as the object that it uses. */
  model: () => ModelObject | Promise<ModelObject>
  /** The model of a name such as `provider:name`; throws an error that says how to get it. */
  resolveModel: (name: string) => ModelObject | Promise<ModelObject>
  /** Starts what `tools` needs first, such as MCP servers. The signal ends the wait. */
  ready?: ((signal?: AbortSignal) => Promise<void>) | undefined
  /** Everything it may use now: the ceiling of its subagents. */
  tools: () => readonly AgentTool[]
  /** Where its skills are; undefined when it has none. */
  skills: () => SkillManager | undefined
  /** Tools of a skill that is loaded into a subagent: those of the program, and its scripts. */
  toolsOfSkill?:
    | ((activation: Activation, signal?: AbortSignal) => Promise<readonly AgentTool[]>)
    | undefined
  /** What it may never call, which holds for its subagents too. */
  denied?: readonly AllowedTool[] | undefined
  /** Who is asked before something is changed; undefined: nobody, and it is refused. */
  approver: () => Approver | undefined
  /** How its own approvals are handled; a subagent is never freer. Default `default`. */
  permissionMode?: PermissionMode | undefined
  /** What untrusted skills limit its calls to now; the same holds for its subagents. */
  narrowed?: CallRules['narrowed'] | undefined
  /** Parts of every subagent's conversation, such as the check of workflows. */
  partsOfChild?: (() => readonly SessionPart[]) | undefined
  /** Books a model call of a subagent. */
  onUsage: (entry: UsageEntry) => void
  /** Tells what happens in a subagent; events carry the id of the delegation. */
  onEvent: (event: AgentEvent) => void
}
