import { loadConfiguration } from '../core/configuration.ts'
import { type Runtime, systemRuntime } from '../core/runtime.ts'
import type { Settings } from '../core/settings.ts'
import type { AgentOptions } from './agent-options.ts'
import { resolveModel } from './resolve-model.ts'
import type { DiscoverAgentsOptions } from './subagents/discover-agents.ts'
import type { ModelObject } from './types.ts'

/** Options, runtime, settings and models of an agent. Nothing is read or loaded until it is asked for. */
export class AgentEnvironment {
  readonly options: AgentOptions
  /** With the project as its working directory. */
  readonly runtime: Runtime
  readonly project: string
  #settings: Settings | undefined
  #model: Promise<ModelObject> | undefined

  constructor(options: AgentOptions) {
    const runtime = options.runtime ?? systemRuntime()
    this.options = options
    this.project = options.project ?? runtime.cwd
    this.runtime = this.project === runtime.cwd ? runtime : { ...runtime, cwd: this.project }
  }

  get name(): string {
    return this.options.name ?? 'main'
  }

  get settings(): Settings {
    if (this.#settings === undefined) {
      const settings = this.options.settings ?? loadConfiguration(this.runtime).settings
      const { workspaceTrust = settings.workspaceTrust } = this.options
      this.#settings = { ...settings, workspaceTrust }
    }
    return this.#settings
  }

  get places(): DiscoverAgentsOptions {
    const { trustedPaths, precedence } = this.settings.skills
    const { workspaceTrust } = this.settings
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
