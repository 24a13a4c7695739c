import { dirname, join } from 'node:path'
import type { ModelMessage, OutputInterface, TelemetryOptions, ToolSet } from 'ai'
import { z } from 'zod'
import { loadConfiguration } from '#core/configuration'
import { findWorkspace, isInside, readRegularFile, realPathOf } from '#core/read-files'
import { type Runtime, systemRuntime } from '#core/runtime'
import type { Settings } from '#core/settings'
import { absolutePath } from '#library/locations'
import type { Skill, SkillInfo } from '#library/model'
import { parseAllowedTools } from '#skill/allowed-tools'
import type { AllowedTool } from '#skill/model'
import {
  type CallSettings,
  callSettings,
  limits,
  requireOptions,
  runLimits,
} from './check-options.ts'
import type { PermitOptions } from './approval/permit.ts'
import type { ConversationLimits } from './conversation/compact.ts'
import type { ConversationStore } from './conversation/store.ts'
import { usageError } from './errors.ts'
import { type PromptText, promptText } from './prompt-template.ts'
import { type ModelProvider, resolveModel } from './resolve-model.ts'
import type { PermissionMode, SubagentConfig } from './subagents/config.ts'
import type { DiscoverAgentsOptions } from './subagents/discover-agents.ts'
import type { AgentEvent, AgentTool, Approver, ModelObject } from './types.ts'

/** What an agent is made of. Only `model` is required. */
export interface AgentOptions<
  Tools extends ToolSet = ToolSet,
  Shape extends OutputInterface = OutputInterface,
> {
  /** A model of the AI SDK, or `provider:name` such as `anthropic:claude-sonnet-4-5`. */
  model: ModelObject | string
  /** What it is called in events and usage; default `main`. */
  name?: string | undefined
  /** What it is told before everything else: a text, or one with `{{variables}}`. */
  instructions?: PromptText | undefined
  /** Tools made with `tool`, or a `ToolSet` of the AI SDK. */
  tools?: readonly AgentTool[] | Tools | undefined
  /** Built-in tools: `read`, `list`, `search`, `write`, `edit`, `shell`, or their aliases. Default none. */
  builtIns?: readonly string[] | undefined
  /**
   * Skills: made with `defineSkill`, found by another search, names, or paths (with a `/`). When
   * this or `skillDirs` is there, those of the project and the user are found too.
   */
  skills?: readonly (Skill | SkillInfo | string)[] | undefined
  /** Skills that are active from the first prompt on, `name arguments`; they stay so. */
  startSkills?: readonly string[] | undefined
  /** Further directories to search for skills; untrusted unless they are in `trustedPaths`. */
  skillDirs?: readonly string[] | undefined
  /** Directories whose skills are trusted, besides those of the settings: absolute or with `~/`. */
  trustedPaths?: readonly string[] | undefined
  /** Whether skills and subagents of the project and the user are found; default true. */
  discover?: boolean | undefined
  subagents?: readonly SubagentConfig[] | undefined
  /** Delegations that work at once, at least 1; the others wait in order. Default 10. */
  concurrency?: number | undefined
  /** MCP servers whose tools are offered: `project`, names of configured ones, or ones of its own. */
  mcp?: McpChoice | undefined
  /** Asked before whatever is not read-only, not the program's own and not pre-approved. */
  approver?: Approver | undefined
  /** Tools and calls that are never allowed: `Bash(rm:*)`, `mcp__server`. */
  disallowedTools?: readonly string[] | undefined
  /** Default `default`: the approver is asked. */
  permissionMode?: PermissionMode | undefined
  /** Model calls of one run before the last one for a summary; default 50, at most 10,000. */
  maxTurns?: number | undefined
  /** Milliseconds for one run or delegation; default an hour, at most 2,147,483,647. */
  timeoutMs?: number | undefined
  /** Tokens in and out of one run, subagents included; then it ends. Default: no limit. */
  maxTokens?: number | undefined
  /** How long the conversation may get, and what then makes it shorter. */
  limits?: ConversationLimits | undefined
  /** A conversation to continue. */
  messages?: readonly ModelMessage[] | undefined
  /** Where the conversation is kept after every step; default: nowhere. */
  store?: ConversationStore | undefined
  /** A conversation of the store to continue: its ID, a unique beginning of it, or `latest`. */
  conversation?: string | undefined
  /** Whether the files `AGENTS.md` of the project are read into the instructions; default false. */
  agentsFile?: boolean | undefined
  /** The directory that the agent works in; default: the runtime's. */
  project?: string | undefined
  runtime?: Runtime | undefined
  /** Default: the user's and the project's configuration files and variables. */
  settings?: Settings | undefined
  /** `trusted` vouches for what the project brings along, not for `skillDirs`; default: that of the settings. */
  workspaceTrust?: 'ask' | 'trusted' | undefined
  /** Providers of the program's own, for names such as `mine:model`. */
  providers?: Readonly<Record<string, ModelProvider>> | undefined
  /** Address of the provider in place of its own, for a model given by name. */
  baseUrl?: string | undefined
  /** Key for the provider of the model, in place of its variable. */
  apiKey?: string | undefined
  callSettings?: CallSettings | undefined
  /** The shape of answers to `generate({ … })` and `stream({ … })`, as `Output.object({ schema })`. */
  output?: Shape | undefined
  /** Settings of the telemetry of the AI SDK, which is off until a program registers one. */
  telemetry?: TelemetryOptions | undefined
  /** What approvals that wait in a page are signed with. Default: random for each process. */
  approvalSecret?: string | Uint8Array | undefined
  /** Told of every event of every run, and of background work between runs. */
  onEvent?: ((event: AgentEvent) => void) | undefined
}

/** An MCP server that a program brings along. What it says of its tools is believed by default. */
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
  /** Whether its hints, such as that a tool only reads, are believed; default true. */
  trusted?: boolean | undefined
}

/** `project`: every server that is configured; else names of such servers, and servers of one's own. */
export type McpChoice = 'project' | readonly (string | McpServer)[]

/** How long a run or a delegation may take where nothing else is said. */
export const defaultTimeoutMs = 3_600_000

const unchecked =
  'model name instructions tools builtIns skills startSkills skillDirs trustedPaths discover ' +
  'subagents mcp approver disallowedTools permissionMode messages store conversation agentsFile ' +
  'project runtime settings workspaceTrust providers baseUrl apiKey output telemetry ' +
  'approvalSecret onEvent'

/** Names of all options, and the range of every number; the rest is checked where it is used. */
const knownOptions = z.strictObject({
  ...Object.fromEntries(unchecked.split(' ').map((name) => [name, z.unknown().optional()])),
  concurrency: limits.concurrency,
  ...runLimits.shape,
  limits: z
    .strictObject({ budget: limits.contextTokens, strategy: z.unknown().optional() })
    .optional(),
  callSettings,
})

/** Options, runtime, settings and models of an agent. Nothing is read or loaded until it is asked for. */
export class AgentEnvironment {
  readonly options: AgentOptions
  /** With the project as its working directory. */
  readonly runtime: Runtime
  readonly project: string
  /** What neither the agent nor its subagents may call. */
  readonly denied: readonly AllowedTool[]
  readonly #told: string
  #settings: Settings | undefined
  #model: Promise<ModelObject> | undefined

  constructor(options: AgentOptions) {
    requireOptions(knownOptions, options, 'an agent')
    const runtime = options.runtime ?? systemRuntime()
    this.options = options
    this.#told = promptText(options.instructions ?? '')
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

  /** What the agent is told before everything else; the files are read now. */
  instructions() {
    const isAsked = this.options.agentsFile === true
    const ofProject = isAsked ? projectInstructions(this.project, this.runtime) : ''
    return [this.#told, ofProject].filter((text) => text !== '').join('\n\n')
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

  /** The agent's own model; one that could not be resolved is tried again. */
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

  /** A model that is named elsewhere, such as in the definition of a subagent. */
  async resolveModel(name: string): Promise<ModelObject> {
    const { providers, baseUrl, apiKey, model } = this.options
    // An address and a key are for the provider that they were given for, and for no other.
    const isSame = typeof model === 'string' && model.split(':', 1)[0] === name.split(':', 1)[0]
    return await resolveModel(name, {
      providers,
      compatibleUrl: this.settings.agent.baseUrl,
      runtime: this.runtime,
      ...(isSame ? { baseUrl, apiKey } : {}),
    })
  }
}

const fileName = 'AGENTS.md'
const maxBytes = 256 * 1024

/**
 * What the files `AGENTS.md` of a project say, from its root down to a directory: the nearest has the
 * last word.
 *
 * @throws {AgentUsageError} for one that is there and cannot be read, or leads out of the project.
 */
function projectInstructions(directory: string, runtime: Pick<Runtime, 'home'>): string {
  const root = findWorkspace(directory, runtime)
  const start = realPathOf(directory) ?? directory
  const texts: string[] = []
  for (let place = start; isInside(root, place); place = dirname(place)) {
    const path = join(place, fileName)
    const file = readRegularFile(path, { maxBytes })
    const isOutside = !isInside(root, realPathOf(path) ?? path)
    if (file.ok && !isOutside && file.text.trim() !== '') {
      texts.unshift(`# Instructions of the project (${path})\n\n${file.text.trim()}`)
    } else if (isOutside || (!file.ok && file.code !== 'file-missing')) {
      const why = file.ok ? `${path} leads out of the project` : file.message
      throw usageError('agents-file', `${why}.`, 'Fix the file, or do not ask for it.')
    }
    if (place === root) break
  }
  return texts.join('\n\n')
}
