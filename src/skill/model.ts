import type { Diagnostic } from '#core/errors'
import type { JsonValue } from '#core/json'
import type { earlyExits, retryEnds } from './field-table.ts'
import type { YamlMap } from './read-yaml.ts'

/** One entry of `allowed-tools`: `Bash(git:*)` is `{ tool: 'Bash', pattern: 'git:*' }`. */
export interface AllowedTool {
  tool: string
  pattern?: string | undefined
}

/** One entry of `triggers`: when it fires, and the file, relative to the skill, that it injects. */
export interface TriggerDeclaration {
  /** A regular expression on the prompt; where `when` is present, its string form. */
  match: string
  inject: string
  line: number
  when?: TriggerOccasion | undefined
  /** For an overlay: the directory that the file is relative to. */
  base?: string | undefined
}

/**
 * The event of a trigger that is not a pattern in the prompt. `require`: the tool call is denied
 * once.
 */
export type TriggerOccasion =
  /** `not`: prompts that do not mean the skill. */
  | { kind: 'examples'; examples: readonly string[]; not?: readonly string[] | undefined }
  | { kind: 'paths'; paths: readonly string[]; on: 'edit' | 'read'; require: boolean }
  | { kind: 'command'; pattern: string; require: boolean }
  /** `mcp__SERVER__TOOL`, in which `*` means any characters. */
  | { kind: 'tool'; pattern: string; require: boolean }

/**
 * The policy fields next to `chain`, with the chaining proposal's defaults. Times in seconds.
 */
export interface ChainPolicy {
  async: boolean
  continueOnError: boolean
  timeout: number
  maxDepth: number
  parallelLimit: number
  validateOnLoad: boolean
  cleanupAfter: boolean
  earlyExitOn: (typeof earlyExits)[number]
  continueOnSuccess: boolean
  passState: boolean
  retryCount: number
  retryUntil: (typeof retryEnds)[number]
  raceMode: boolean
}

/** Options of a single step of a chain. Times in seconds. */
export interface StepOptions {
  /** Steps with the same number run in parallel. */
  group?: number
  /** At most this number of attempts, until one succeeds. */
  retry?: number
  /** Delay before the second attempt; doubled before each further one. */
  backoff?: number
  /** Time limit of each attempt. */
  timeout?: number
  /** `STEP.STATE` or `!STEP.STATE` of an earlier line; if it is false, the step is skipped. */
  when?: string
  /** Its failure does not count. */
  allowFailure?: true
  /** It also runs after the chain has stopped. */
  always?: true
  /** In place of the arguments of the run, split as in a shell. */
  args?: string
  /** A shell command that runs in the project's root; the step is done only if it exits with 0. */
  check?: string
  /** How often a failed check keeps an agent at the step before a user is asked; default 3. */
  maxBlocks?: number
  /**
   * The only tools that an agent may call in the step, written as `allowed-tools`; default: all.
   */
  tools?: string
  /** Calls that belong to the step, written as `allowed-tools`: nothing else may make them. */
  guard?: string
  /**
   * The step of an earlier line from which the chain is done again after a rejection at the gate.
   */
  rework?: string
}

/**
 * How strong the proof of a user's approval must be: `true` is a prompt in the agent's session, or
 * stronger.
 */
export type Gate = true | 'attended' | 'signed'

export interface ChainStep extends StepOptions {
  /** The name of its skill, or a path of names below the parent of the chain. */
  name: string
  line: number
  id?: string
  gate?: Gate
}

export interface ChainDeclaration {
  steps: readonly ChainStep[]
  policy: ChainPolicy
  gates: readonly string[]
  /** Its guards also apply in the project without a rail. */
  guardsAlways?: true | undefined
  /** A step fails if only the agent's report says that it succeeded. */
  requireVerified?: true | undefined
  line: number
}

/**
 * The fields of a skill, normalised. String forms are read, defaults filled in, and a field that is
 * absent or unusable is undefined. Everything here is data: nothing is resolved against a disk.
 */
export interface SkillFields {
  name?: string | undefined
  description?: string | undefined
  /** Claude Code adds it to the description. */
  whenToUse?: string | undefined
  license?: string | undefined
  compatibility?: string | undefined
  metadata: Readonly<Record<string, string>>
  allowedTools?: readonly AllowedTool[] | undefined
  triggers: readonly TriggerDeclaration[]
  chain?: ChainDeclaration | undefined
  run?: string | undefined
  /** Its scripts run in a sandbox even if it is trusted. */
  sandbox?: true | undefined
  model?: string | undefined
  context?: 'fork' | undefined
  agent?: string | undefined
  disableModelInvocation: boolean
  userInvocable: boolean
  argumentHint?: string | undefined
  /** Names for `$name` placeholders, in positional order. */
  arguments: readonly string[]
  hooks?: JsonValue | undefined
}

export interface SkillDocument {
  path: string
  fields: SkillFields
  frontmatter: YamlMap
  body: string
  /** The line of the file on which the untrimmed body begins. */
  bodyLine: number
}

export interface SkillReading {
  skill: SkillDocument | undefined
  diagnostics: readonly Diagnostic[]
}

/**
 * A file below a skill's directory: `path` is relative to that, with `/`; on Windows all are
 * `executable`.
 */
export interface SkillFile {
  path: string
  executable: boolean
  size: number
}

/** All files of one skill. Absent means unknown; empty means that there are none. */
export type SkillFiles = readonly SkillFile[]
