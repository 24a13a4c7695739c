import { basename, dirname, join } from 'node:path'
import { type Diagnostic, hasErrors } from '../../core/diagnostic.ts'
import { readRegularFile, realPathOf } from '../../core/read-files.ts'
import type { Runtime } from '../../core/runtime.ts'
import { didYouMean, safeLine } from '../../core/text.ts'
import { findWorkspace, readTrustPolicy } from '../../trust/decide.ts'
import { agentDirectories, agentFilesIn, upTo } from '../../trust/project-files.ts'
import { agentTrust } from '../../trust/skill-trust.ts'
import { SubagentNotFoundError } from '../errors.ts'
import { type AgentFileReading, readAgentFile } from './agent-file.ts'
import { sameName } from './check-agents.ts'
import type { SubagentConfig } from './config.ts'

export interface DiscoverAgentsOptions {
  runtime: Runtime
  /** Only from the user's settings or the calling program. */
  trustedPaths?: readonly string[] | undefined
  /** `trusted`: the caller vouches for the whole workspace. Default `ask`. */
  workspaceTrust?: 'ask' | 'trusted' | undefined
  /** Whose definition takes precedence; default `project`. */
  precedence?: 'project' | 'user' | undefined
}

export interface AgentInfo extends Omit<AgentPlace, 'directory'> {
  config: SubagentConfig
  path: string
  /** Files of the same name that this one takes precedence over. */
  shadows: readonly string[]
  diagnostics: readonly Diagnostic[]
}

/** A file that defines a subagent and is not used because its project is not trusted. */
export interface WithheldAgent {
  name: string
  description: string
  path: string
  reason: string
  hint: string
}

export interface AgentDiscovery {
  /** One of each name, in order of precedence, then code-point order of paths. */
  agents: readonly AgentInfo[]
  withheld: readonly WithheldAgent[]
  broken: readonly { path: string; name?: string | undefined; diagnostics: readonly Diagnostic[] }[]
  diagnostics: readonly Diagnostic[]
}

/** Finds definitions in the project, then in the home directory. Never throws for what it finds. */
export function discoverAgents(options: DiscoverAgentsOptions): AgentDiscovery {
  const { runtime, trustedPaths, workspaceTrust } = options
  const workspace = findWorkspace(runtime.cwd, runtime)
  const trust = readTrustPolicy(runtime, { workspace, trustedPaths, workspaceTrust })
  const agents = new Map<string, AgentInfo>()
  const withheld: WithheldAgent[] = []
  const broken: AgentDiscovery['broken'][number][] = []
  const diagnostics: Diagnostic[] = [...trust.diagnostics]
  for (const { directory, ...place } of agentPlaces(options)) {
    const { files, problems } = agentFilesIn(directory)
    for (const problem of problems) {
      diagnostics.push({ code: 'directory-unreadable', severity: 'error', ...problem })
    }
    for (const path of files) {
      const { config, name: written, diagnostics: own } = readAgentAt(path)
      diagnostics.push(...own)
      if (config === undefined) {
        broken.push({ path, name: written, diagnostics: own })
        continue
      }
      const { name, description } = config
      const subject = { name, scope: place.scope, path }
      const { level, reason, hint } = agentTrust(subject, trust.policy)
      const first = agents.get(name)
      if (level !== 'trusted') {
        withheld.push({ name, description, path, reason, hint })
        const message = `the subagent ${name} is not used: ${reason}`
        diagnostics.push({ code: 'agent-untrusted', severity: 'warning', message, path, hint })
      } else if (first === undefined) {
        agents.set(name, { config, path, ...place, shadows: [], diagnostics: own })
      } else {
        agents.set(name, { ...first, shadows: [...first.shadows, path] })
        if (dirname(first.path) === dirname(path)) {
          diagnostics.push(sameName(name, first.path, path))
        }
      }
    }
  }
  return { agents: [...agents.values()], withheld, broken, diagnostics }
}

interface AgentPlace {
  directory: string
  scope: 'project' | 'user'
  source: string
}

/** Every directory that is looked into, highest precedence first. */
export function agentPlaces({
  runtime,
  precedence,
}: Pick<DiscoverAgentsOptions, 'runtime' | 'precedence'>): AgentPlace[] {
  const workspace = findWorkspace(runtime.cwd, runtime)
  const home = realPathOf(runtime.home) ?? runtime.home
  const project = upTo(realPathOf(runtime.cwd) ?? runtime.cwd, workspace)
    .filter((directory) => directory !== home)
    .flatMap((root) =>
      agentDirectories.map((source): AgentPlace => {
        return { directory: join(root, source), scope: 'project', source }
      }),
    )
  const user = agentDirectories.map((place): AgentPlace => {
    return { directory: join(runtime.home, place), scope: 'user', source: `~/${place}` }
  })
  return precedence === 'user' ? [...user, ...project] : [...project, ...user]
}

/** Reads one file by the rules of the directory it lies in. Never throws for what it finds. */
export function readAgentAt(path: string): AgentFileReading {
  const file = readRegularFile(path, { maxBytes: 1024 * 1024, followSymlinks: true })
  if (!file.ok) {
    const { code, message } = file
    return { config: undefined, diagnostics: [{ code, severity: 'error', message, path }] }
  }
  const toolsWhenAbsent = /[\\/]\.claude[\\/]agents[\\/]/.test(path) ? 'parent' : 'none'
  return readAgentFile(file.bytes, { path, toolsWhenAbsent })
}

/** The error for a name that no subagent has: withheld, broken or not there. */
export function subagentNotFound(
  name: string,
  known: readonly string[],
  { withheld, broken }: Pick<AgentDiscovery, 'withheld' | 'broken'>,
): SubagentNotFoundError {
  const subagent = `subagent ${safeLine(name)}`
  const refused = withheld.find((agent) => agent.name === name)
  if (refused !== undefined) {
    return new SubagentNotFoundError({
      code: 'subagent-untrusted',
      message: `The ${subagent} is not used: ${refused.reason} (${refused.path}).`,
      hint: refused.hint,
    })
  }
  const file = broken.find((one) => one.name === name || basename(one.path, '.md') === name)
  if (file !== undefined) {
    return new SubagentNotFoundError({
      code: 'subagent-broken',
      message: `The ${subagent} cannot be used, because its file is broken: ${file.path}`,
      diagnostics: file.diagnostics.filter((one) => hasErrors([one])),
      hint: 'Fix the file; skillrail agents validate checks it.',
    })
  }
  return new SubagentNotFoundError({
    code: 'subagent-not-found',
    message: `There is no subagent named ${safeLine(name)}.`,
    hint: `${didYouMean(name, known)} There are ${known.join(', ') || 'none'}.`.trim(),
  })
}
