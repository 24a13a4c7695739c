import type { Diagnostic } from '../../base/index.ts'
import { SubagentConfigError } from '../errors.ts'
import { requireConfig, type SubagentConfig } from './config.ts'
import {
  type AgentInfo,
  type BrokenAgent,
  discoverAgents,
  type DiscoverAgentsOptions,
  type WithheldAgent,
} from './discover-agents.ts'

/** The definitions that one agent knows: those of the program, then those of files. */
export interface SubagentRegistry {
  /** @throws {SubagentConfigError} for one that cannot be used, or another one of that name. */
  add(config: SubagentConfig): void
  remove(name: string): boolean
  get(name: string): SubagentConfig | undefined
  all(): SubagentConfig[]
  /** Looks at the files, the first time, or again. */
  search(again: boolean): Promise<void>
  readonly agents: readonly AgentInfo[]
  readonly withheld: readonly WithheldAgent[]
  readonly broken: readonly BrokenAgent[]
  readonly diagnostics: readonly Diagnostic[]
}

export function createRegistry(files: DiscoverAgentsOptions | undefined): SubagentRegistry {
  const inCode = new Map<string, { given: SubagentConfig; config: SubagentConfig }>()
  const removed = new Set<string>()
  let searched: Promise<void> | undefined
  let agents: readonly AgentInfo[] = []
  let withheld: readonly WithheldAgent[] = []
  let broken: readonly BrokenAgent[] = []
  let diagnostics: readonly Diagnostic[] = []

  return {
    add(given) {
      const { name } = requireConfig(given)
      const known = inCode.get(name)
      if (known !== undefined && !sameConfig(known.given, given)) throw twice(name)
      inCode.set(name, { given: { ...given }, config: ownCopy(given) })
      removed.delete(name)
    },
    remove(name) {
      const known = find(name) !== undefined
      inCode.delete(name)
      removed.add(name)
      return known
    },
    get: find,
    all: () => [...inCode.values(), ...fromFiles()].map(({ config }) => config),
    async search(again) {
      if (again) removed.clear()
      if (again || searched === undefined) searched = read()
      await searched
    },
    get agents() {
      return fromFiles()
    },
    get withheld() {
      return withheld
    },
    get broken() {
      return broken
    },
    get diagnostics() {
      return diagnostics
    },
  }

  function find(name: string): SubagentConfig | undefined {
    return (
      inCode.get(name)?.config ?? fromFiles().find(({ config }) => config.name === name)?.config
    )
  }

  function fromFiles(): AgentInfo[] {
    return agents.filter(({ config: { name } }) => !inCode.has(name) && !removed.has(name))
  }

  async function read(): Promise<void> {
    if (files === undefined) return
    const discovery = discoverAgents(files)
    agents = discovery.agents
    withheld = discovery.withheld
    broken = discovery.broken
    diagnostics = discovery.diagnostics
  }
}

/** What the program changes later in its own value must not change a subagent. */
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
