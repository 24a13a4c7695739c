import { SubagentConfigError } from '../errors.ts'
import { requireConfig, type SubagentConfig } from './config.ts'
import {
  type AgentDiscovery,
  type AgentInfo,
  discoverAgents,
  type DiscoverAgentsOptions,
} from './discover-agents.ts'

/** The definitions that one agent knows: those of the program, then those of files. */
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
    if (known !== undefined && !sameConfig(known.given, given)) throw twice(name)
    this.#inCode.set(name, { given: { ...given }, config: ownCopy(given) })
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

  /** Those of files that no definition in code replaces. */
  get agents(): readonly AgentInfo[] {
    return this.found.agents.filter(
      ({ config: { name } }) => !this.#inCode.has(name) && !this.#removed.has(name),
    )
  }

  /** Everything that was found in files, read at the first question. */
  get found(): AgentDiscovery {
    this.#found ??= this.#files === undefined ? nothing : discoverAgents(this.#files)
    return this.#found
  }

  /** Looks at the files again. */
  refresh(): void {
    this.#removed.clear()
    this.#found = undefined
  }
}

const nothing: AgentDiscovery = { agents: [], withheld: [], broken: [], diagnostics: [] }

/** A change that the program makes later in its own value must not change a subagent. */
function ownCopy(given: SubagentConfig): SubagentConfig {
  return Object.freeze({
    ...given,
    ...(given.tools ? { tools: [...given.tools] } : {}),
    ...(given.disallowedTools ? { disallowedTools: [...given.disallowedTools] } : {}),
    ...(given.skills ? { skills: [...given.skills] } : {}),
  })
}

function sameConfig(a: SubagentConfig, b: SubagentConfig): boolean {
  const left: Readonly<Record<string, unknown>> = { ...a }
  const right: Readonly<Record<string, unknown>> = { ...b }
  const keys = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...keys].every((key) => left[key] === right[key])
}

function twice(name: string): SubagentConfigError {
  return new SubagentConfigError({
    code: 'subagent-twice',
    message: `There is another subagent called ${name}.`,
    hint: 'Choose another name, or take the first one away with deregister.',
  })
}
