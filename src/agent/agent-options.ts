import { dirname, join } from 'node:path'
import type { ToolSet } from 'ai'
import { z } from 'zod'
import { listOf, oneOf, type OptionOwner, required, rule } from '#core/api-options'
import { loadConfiguration } from '#core/configuration'
import { isObject } from '#core/json'
import { findWorkspace, isInside, readRegularFile, realPathOf } from '#core/read-files'
import { type Runtime, systemRuntime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { absolutePath, requireFolders } from '#library/locations'
import type { Skill, SkillInfo } from '#library/model'
import { parseAllowedTools } from '#skill/allowed-tools'
import type { AllowedTool } from '#skill/model'
import { callSettings, limits, requireOptions, runLimits } from './check-options.ts'
import type { PermissionMode } from './approval/permission-mode.ts'
import type { PermitOptions } from './approval/permit.ts'
import type { ConversationStore } from './conversation/store.ts'
import { usageError } from './errors.ts'
import { promptRule, type PromptText, promptText } from './prompt-template.ts'
import { type ModelProvider, resolveModel } from './resolve-model.ts'
import type { SessionSettings } from './session-contract.ts'
import type { SubagentConfig } from './subagents/config.ts'
import type { DiscoverAgentsOptions } from './subagents/discover-agents.ts'
import type { AgentEvent, AgentTool, Approver, ModelObject, RunOptions } from './types.ts'

/** Options of an agent. Only `model` is required. */
export interface AgentOptions extends SessionSettings {
  /** A model of the AI SDK, or `provider:name` such as `anthropic:claude-sonnet-4-5`. */
  model: ModelObject | string
  /** Its name in events and usage; default `main`. */
  name?: string | undefined
  /** Instructions: a text, or a template with `{{variables}}` and their values. */
  instructions?: PromptText | undefined
  /** Tools made with `tool`, or a `ToolSet` of the AI SDK. */
  tools?: readonly AgentTool[] | ToolSet | undefined
  /** Built-in tools: `read`, `list`, `search`, `write`, `edit`, `shell`, or their aliases. Default none. */
  builtIns?: readonly string[] | undefined
  /**
   * Skills made with `defineSkill`, results of another search, names, or paths (with a `/`). With this
   * option or `skillDirs`, the skills of the project and the user are found too.
   */
  skills?: readonly (Skill | SkillInfo | string)[] | undefined
  /** Skills that are always active, `name arguments`. */
  startSkills?: readonly string[] | undefined
  /** Further directories to search for skills; untrusted unless they are in `trustedPaths`. */
  skillDirs?: readonly string[] | undefined
  /** Directories whose skills are trusted, besides those of the settings: absolute or with `~/`. */
  trustedPaths?: readonly string[] | undefined
  /** Whether skills and subagents of the project and the user are found; default true. */
  discover?: boolean | undefined
  subagents?: readonly SubagentConfig[] | undefined
  /** Maximum number of delegations that run at once; the others wait in order. Default 10. */
  concurrency?: number | undefined
  /** MCP servers whose tools are offered: `project`, names of configured servers, or definitions. */
  mcp?: McpChoice | undefined
  /** Decides about calls that are not read-only, not of the program's tools and not pre-approved. */
  approver?: Approver | undefined
  /** Tools and calls that are never allowed: `Bash(rm:*)`, `mcp__server`. */
  disallowedTools?: readonly string[] | undefined
  /** Default `default`: the approver is asked. */
  permissionMode?: PermissionMode | undefined
  /** Maximum number of input and output tokens of one run and its subagents. Default: no limit. */
  maxTokens?: number | undefined
  /** Stores the conversation after every step; default: it is not stored. */
  store?: ConversationStore | undefined
  /** The stored conversation to continue: its ID, a unique beginning of it, or `latest`. */
  conversation?: string | undefined
  /** Whether the instructions include the project's `AGENTS.md` files; default false. */
  agentsFile?: boolean | undefined
  /** The directory that the agent works in; default: the runtime's. */
  project?: string | undefined
  runtime?: Runtime | undefined
  /** Default: the user's and the project's configuration files and variables. */
  settings?: Settings | undefined
  /** `trusted` trusts the contents of the project, not of `skillDirs`. Default: the setting. */
  workspaceTrust?: 'ask' | 'trusted' | undefined
  /** Further providers, for names such as `mine:model`. */
  providers?: Readonly<Record<string, ModelProvider>> | undefined
  /** Replaces the address of the provider, for a model that is named. */
  baseUrl?: string | undefined
  /** Key for the provider of the model; default: its environment variable. */
  apiKey?: string | undefined
  /** Receives the events of all runs, and of background delegations between runs. */
  onEvent?: ((event: AgentEvent) => void) | undefined
}

/** An MCP server that a program defines. The hints about its tools are trusted by default. */
export interface McpServer {
  name: string
  /** A program to start … */
  command?: string | undefined
  args?: readonly string[] | undefined
  env?: Readonly<Record<string, string>> | undefined
  cwd?: string | undefined
  /** … or the address of one that runs. */
  url?: string | undefined
  headers?: Readonly<Record<string, string>> | undefined
  allow?: readonly string[] | undefined
  deny?: readonly string[] | undefined
  /** Milliseconds for one call; default 60,000. */
  callTimeoutMs?: number | undefined
  /** Whether hints of the server are trusted, such as that a tool only reads; default true. */
  trusted?: boolean | undefined
}

/** `project` means all configured servers. */
export type McpChoice = 'project' | readonly (string | McpServer)[]

/** Default time limit of a run or a delegation. */
export const defaultTimeoutMs = 3_600_000

/** The forms of all options. The ranges of numbers are in {@link optionRanges}. */
export const agentOptions: OptionOwner<AgentOptions> = {
  of: 'an agent',
  rules: {
    model: required({
      form: 'a model of the AI SDK or a text such as `provider:name`',
      fits: (value) => (typeof value === 'string' && value !== '') || isObject(value),
    }),
    name: rule.text,
    instructions: promptRule,
    tools: {
      form: 'a list of tools made with `tool`, or a ToolSet',
      fits: (value) => isObject(value) || (Array.isArray(value) && value.every(isObject)),
    },
    builtIns: rule.texts,
    skills: listOf('names, paths or skills', (one) => typeof one === 'string' || isObject(one)),
    startSkills: rule.texts,
    skillDirs: rule.texts,
    trustedPaths: rule.texts,
    discover: rule.flag,
    subagents: listOf('definitions of subagents', isObject),
    concurrency: rule.anything,
    mcp: {
      form: '`project`, or a list of names and servers',
      fits: (value) =>
        value === 'project' ||
        (Array.isArray(value) && value.every((one) => typeof one === 'string' || isObject(one))),
    },
    approver: rule.callback,
    disallowedTools: rule.texts,
    permissionMode: oneOf('default', 'plan', 'dont-ask'),
    maxTurns: rule.anything,
    timeoutMs: rule.anything,
    maxTokens: rule.anything,
    limits: rule.object,
    messages: listOf('messages', isObject),
    store: rule.object,
    conversation: rule.text,
    agentsFile: rule.flag,
    project: rule.text,
    runtime: rule.object,
    settings: rule.object,
    workspaceTrust: oneOf('ask', 'trusted'),
    providers: rule.object,
    baseUrl: rule.text,
    apiKey: rule.text,
    callSettings: rule.object,
    telemetry: rule.object,
    onEvent: rule.callback,
  },
  earlierNames: {
    output: 'The shape of an answer is the option outputSchema of a run.',
    approvalSecret: 'It is an option of createSkills in skillrail/ai.',
  },
}

export const runOptions: OptionOwner<RunOptions> = {
  of: 'a run',
  rules: {
    signal: rule.object,
    onEvent: rule.callback,
    files: listOf('files', isObject),
    stream: rule.flag,
    outputSchema: rule.object,
    maxTurns: rule.anything,
    timeoutMs: rule.anything,
    maxTokens: rule.anything,
  },
}

/** @throws {AgentUsageError} for the name of a model in place of options. */
export function refuseText(options: unknown): void {
  if (typeof options !== 'string') return
  const message = 'An agent is made of an object with options, not of a text.'
  const hint = `Write new Agent({ model: ${JSON.stringify(options)} }).`
  throw usageError('agent-options', message, hint)
}

const optionsWithoutRange =
  'model name instructions tools builtIns skills startSkills skillDirs trustedPaths discover ' +
  'subagents mcp approver disallowedTools permissionMode messages store conversation agentsFile ' +
  'project runtime settings workspaceTrust providers baseUrl apiKey telemetry onEvent'

/** The names of all options and the ranges of numbers. Other values are checked where they are used. */
const optionRanges = z.strictObject({
  ...Object.fromEntries(
    optionsWithoutRange.split(' ').map((name) => [name, z.unknown().optional()]),
  ),
  concurrency: limits.concurrency,
  ...runLimits.shape,
  limits: z
    .strictObject({ budget: limits.contextTokens, strategy: z.unknown().optional() })
    .optional(),
  callSettings,
})

/** Options, runtime, settings and models of an agent. Files and packages are read when they are needed. */
export class AgentEnvironment {
  readonly options: AgentOptions
  /** With the project as its working directory. */
  readonly runtime: Runtime
  readonly project: string
  /** Tools and calls that neither the agent nor its subagents may use. */
  readonly denied: readonly AllowedTool[]
  readonly #ownInstructions: string
  #settings: Settings | undefined
  #model: Promise<ModelObject> | undefined

  constructor(options: AgentOptions) {
    requireOptions(optionRanges, options, 'an agent')
    const runtime = options.runtime ?? systemRuntime()
    if (options.project !== undefined) requireFolders(runtime, { project: [options.project] })
    this.options = options
    this.#ownInstructions = promptText(options.instructions ?? '')
    this.denied = (options.disallowedTools ?? []).flatMap(parseAllowedTools)
    this.project = options.project ?? runtime.cwd
    this.runtime = this.project === runtime.cwd ? runtime : { ...runtime, cwd: this.project }
  }

  get name() {
    return this.options.name ?? 'main'
  }

  get permit(): PermitOptions {
    const { permissionMode: mode, approver } = this.options
    const { platform } = this.runtime
    return { agent: this.name, platform, denied: this.denied, mode, approver }
  }

  /** Returns the instructions of the agent. The `AGENTS.md` files are read at each call. */
  instructions() {
    const usesFiles = this.options.agentsFile === true
    const fromFiles = usesFiles ? projectInstructions(this.project, this.runtime) : ''
    return [this.#ownInstructions, fromFiles].filter((text) => text !== '').join('\n\n')
  }

  /**
   * Reads the settings even if nothing needs one yet.
   * @throws {SettingsError} if they have errors, because a restriction could be lost.
   */
  requireSettings(): void {
    void this.settings
  }

  get settings(): Settings {
    if (!this.#settings) {
      const settings = this.options.settings ?? loadConfiguration(this.runtime).settings
      const { workspaceTrust = settings.workspaceTrust } = this.options
      this.#settings = { ...settings, workspaceTrust }
    }
    return this.#settings
  }

  get places(): DiscoverAgentsOptions {
    const { precedence } = this.settings.skills
    const { workspaceTrust } = this.settings
    const trustedPaths = [
      ...this.settings.skills.trustedPaths,
      ...(this.options.trustedPaths ?? []).map((path) => absolutePath(this.runtime, path)),
    ]
    return { runtime: this.runtime, trustedPaths, precedence, workspaceTrust }
  }

  /** Returns the agent's model. After a failure the next call tries again. */
  async model(): Promise<ModelObject> {
    const { model } = this.options
    if (typeof model !== 'string') return model
    this.#model ??= this.resolveModel(model)
    try {
      return await this.#model
    } catch (error) {
      this.#model = undefined
      throw error
    }
  }

  /** Resolves a name from another source, such as the definition of a subagent. */
  async resolveModel(name: string): Promise<ModelObject> {
    const { providers, baseUrl, apiKey, model } = this.options
    // The address and the key belong to the provider of the agent's model, and to no other.
    const isSameProvider =
      typeof model === 'string' && model.split(':', 1)[0] === name.split(':', 1)[0]
    return await resolveModel(name, {
      providers,
      compatibleUrl: this.settings.agent.baseUrl,
      runtime: this.runtime,
      ...(isSameProvider ? { baseUrl, apiKey } : {}),
    })
  }
}

const fileName = 'AGENTS.md'
const maxBytes = 256 * 1024

/**
 * Returns the texts of the `AGENTS.md` files from the root of the project down to a directory. The
 * nearest file comes last.
 *
 * @throws {AgentUsageError} for an existing file that cannot be read or leads out of the project.
 */
function projectInstructions(directory: string, runtime: Pick<Runtime, 'home'>): string {
  const root = findWorkspace(directory, runtime)
  const start = realPathOf(directory) ?? directory
  const texts: string[] = []
  for (let folder = start; isInside(root, folder); folder = dirname(folder)) {
    const path = join(folder, fileName)
    const file = readRegularFile(path, { maxBytes })
    const isOutside = !isInside(root, realPathOf(path) ?? path)
    if (file.ok && !isOutside && file.text.trim() !== '') {
      texts.unshift(`# Instructions of the project (${path})\n\n${file.text.trim()}`)
    } else if (isOutside || (!file.ok && file.code !== 'file-missing')) {
      const problem = file.ok ? `${path} leads out of the project` : file.message
      throw usageError('agents-file', `${problem}.`, 'Fix the file, or do not ask for it.')
    }
    if (folder === root) break
  }
  return texts.join('\n\n')
}
