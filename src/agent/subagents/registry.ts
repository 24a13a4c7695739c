import { SubagentConfigError } from '../errors.ts'
import { requireConfig, type SubagentConfig } from './config.ts'
import {
  type AgentDiscovery,
  type AgentInfo,
  discoverAgents,
  type DiscoverAgentsOptions,
} from './discover-agents.ts'

export class SubagentRegistry {
  readonly #files: DiscoverAgentsOptions | undefined
  readonly #inCode = new Map<string, { given: SubagentConfig; config: SubagentConfig }>()
  readonly #removed = new Set<string>()
  #found: AgentDiscovery | undefined

  constructor(files: DiscoverAgentsOptions | undefined) {
    this.#files = files
  }

  /** @throws {SubagentConfigError} for one that cannot be used, or another one of that name. */
  add(given: SubagentConfig): void {
    const { name } = requireConfig(given)
    const known = this.#inCode.get(name)
    if (known !== undefined && !isSame(known.given, given)) {
      throw new SubagentConfigError({
        code: 'subagent-twice',
        message: `There is another subagent called ${name}.`,
        hint: 'Choose another name, or take the first one away with deregister.',
      })
    }
    // A change that the program makes later in its own value must not change a subagent.
    const lists = Object.entries(given).filter(([, value]) => Array.isArray(value))
    const copies = Object.fromEntries(lists.map(([key, value]) => [key, [...value]]))
    this.#inCode.set(name, { given: { ...given }, config: Object.freeze({ ...given, ...copies }) })
    this.#removed.delete(name)
  }

  remove(name: string): boolean {
    const known = this.get(name) !== undefined
    this.#inCode.delete(name)
    this.#removed.add(name)
    return known
  }

  get(name: string): SubagentConfig | undefined {
    return this.all().find((config) => config.name === name)
  }

  all(): SubagentConfig[] {
    return [...this.#inCode.values(), ...this.agents].map(({ config }) => config)
  }

  get agents(): readonly AgentInfo[] {
    return this.found.agents.filter(
      ({ config: { name } }) => !this.#inCode.has(name) && !this.#removed.has(name),
    )
  }

  get found(): AgentDiscovery {
    this.#found ??= this.#files === undefined ? nothing : discoverAgents(this.#files)
    return this.#found
  }

  refresh(): void {
    this.#removed.clear()
    this.#found = undefined
  }
}

const nothing: AgentDiscovery = { agents: [], withheld: [], broken: [], diagnostics: [] }

function isSame(a: SubagentConfig, b: SubagentConfig): boolean {
  const right = new Map(Object.entries(b))
  const entries = Object.entries(a)
  return entries.length === right.size && entries.every(([key, value]) => right.get(key) === value)
}
