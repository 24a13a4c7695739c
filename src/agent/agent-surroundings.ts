import { loadConfiguration, type Runtime, type Settings, systemRuntime } from '../base/index.ts'
import type { AgentOptions } from './agent-options.ts'
import { type ModelObject, resolveModel } from './models/resolve-model.ts'

/** What an agent finds around it: the runtime in its project, settings, and models by name. */
export interface Surroundings {
  /** With the project as its working directory. */
  readonly runtime: Runtime
  readonly project: string
  settings(): Settings
  /** The agent's own model. */
  model(): Promise<ModelObject>
  /** A model that is named elsewhere, in the definition of a subagent say. */
  resolveModel(name: string): Promise<ModelObject>
}

/** Nothing is read or loaded until it is asked for. */
export function surroundingsOf(options: AgentOptions): Surroundings {
  const base = options.runtime ?? systemRuntime()
  const project = options.project ?? base.cwd
  const runtime = project === base.cwd ? base : { ...base, cwd: project }
  let settings: Settings | undefined
  let own: Promise<ModelObject> | undefined
  const surroundings: Surroundings = {
    runtime,
    project,
    settings() {
      settings ??= settingsOf(options, runtime)
      return settings
    },
    async model() {
      const { model } = options
      if (typeof model !== 'string') return model
      own ??= surroundings.resolveModel(model)
      try {
        return await own
      } catch (error) {
        own = undefined
        throw error
      }
    },
    resolveModel(name) {
      const { providers, baseUrl, apiKey } = options
      const place = isSameProvider(name, options.model) ? { baseUrl, apiKey } : {}
      const { baseUrl: compatibleUrl } = surroundings.settings().agent
      return resolveModel(name, { providers, compatibleUrl, runtime, ...place })
    },
  }
  return surroundings
}

function settingsOf(options: AgentOptions, runtime: Runtime): Settings {
  const settings = options.settings ?? loadConfiguration(runtime).settings
  const { workspaceTrust = settings.workspaceTrust } = options
  return { ...settings, workspaceTrust }
}

/** An address and a key are for the provider that they were given for, and for no other. */
function isSameProvider(name: string, model: AgentOptions['model']): boolean {
  return typeof model === 'string' && providerOf(model) === providerOf(name)
}

function providerOf(name: string): string {
  return name.split(':', 1)[0] ?? ''
}
