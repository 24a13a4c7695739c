import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Diagnostic, hasErrors } from '../../core/diagnostic.ts'
import { nearest, safeLine } from '../../core/text.ts'
import { readRegularFile } from '../../core/read-files.ts'
import type { Runtime } from '../../core/runtime.ts'
import { agentDirectories, agentFilesIn } from '../../trust/project-files.ts'
import { agentTrust } from '../../trust/skill-trust.ts'
import { findWorkspace, readTrustPolicy } from '../../trust/decide.ts'
import type { TrustPolicy } from '../../trust/model.ts'
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

/** A subagent from a file. */
export interface AgentInfo {
  config: SubagentConfig
  /** Absolute. */
  path: string
  scope: 'project' | 'user'
  /** The directory's label, such as `.claude/agents`. */
  source: string
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
  /** The command that would allow it. */
  hint: string
}

/** A file that cannot be used. */
interface BrokenAgent {
  path: string
  /** What it calls itself, where that can be read. */
  name?: string | undefined
  diagnostics: readonly Diagnostic[]
}

export interface AgentDiscovery {
  /** One of each name, in order of precedence, then code-point order of paths. */
  agents: readonly AgentInfo[]
  withheld: readonly WithheldAgent[]
  /** Files that cannot be used. */
  broken: readonly BrokenAgent[]
  /** Everything that was found, with that of each file. */
  diagnostics: readonly Diagnostic[]
}

/**
 * Finds the files that define subagents: those of the project from the working directory up to the
 * root of its repository, then those of the user. Never throws for what it finds.
 */
export function discoverAgents(options: DiscoverAgentsOptions): AgentDiscovery {
  const { runtime, trustedPaths, workspaceTrust } = options
  const workspace = findWorkspace(runtime.cwd, runtime)
  const { policy, diagnostics: ofPolicy } = readTrustPolicy(runtime, {
    workspace,
    trustedPaths,
    workspaceTrust,
  })
  const agents = new Map<string, AgentInfo>()
  const withheld: WithheldAgent[] = []
  const broken: BrokenAgent[] = []
  const diagnostics: Diagnostic[] = [...ofPolicy]
  for (const place of agentPlaces(options)) {
    const { files, problems } = agentFilesIn(place.directory)
    diagnostics.push(...problems.map((problem) => unreadable(problem)))
    for (const path of files) take(path, place)
  }
  return { agents: [...agents.values()], withheld, broken, diagnostics }

  function take(path: string, place: AgentPlace): void {
    const reading = readAgentAt(path)
    const { config } = reading
    diagnostics.push(...reading.diagnostics)
    if (config === undefined) {
      broken.push({ path, name: reading.name, diagnostics: reading.diagnostics })
      return
    }
    const refused = untrusted(config, path, place, policy)
    if (refused !== undefined) {
      withheld.push(refused)
      diagnostics.push(notUsed(refused))
      return
    }
    const other = agents.get(config.name)
    if (other === undefined) {
      const { scope, source } = place
      agents.set(config.name, {
        config,
        path,
        scope,
        source,
        shadows: [],
        diagnostics: reading.diagnostics,
      })
    } else {
      agents.set(config.name, { ...other, shadows: [...other.shadows, path] })
      if (dirname(other.path) === dirname(path))
        diagnostics.push(sameName(config.name, other.path, path))
    }
  }
}

/** A directory that is looked into. */
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
  const home = realOr(runtime.home)
  const project = ancestors(realOr(runtime.cwd), workspace)
    .filter((directory) => directory !== home)
    .flatMap((directory) => below(directory, 'project', ''))
  const user = below(runtime.home, 'user', '~/')
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

function untrusted(
  { name, description }: SubagentConfig,
  path: string,
  { scope }: AgentPlace,
  policy: TrustPolicy,
): WithheldAgent | undefined {
  const { level, reason, hint } = agentTrust({ name, scope, path }, policy)
  return level === 'trusted' ? undefined : { name, description, path, reason, hint }
}

function below(directory: string, scope: 'project' | 'user', prefix: string): AgentPlace[] {
  return agentDirectories.map((place) => ({
    directory: join(directory, place),
    scope,
    source: `${prefix}${place}`,
  }))
}

function ancestors(from: string, root: string): string[] {
  const directories = [from]
  for (let at = from; at !== root && dirname(at) !== at;) {
    at = dirname(at)
    directories.push(at)
  }
  return directories
}

function realOr(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}

function unreadable({ path, message }: { path: string; message: string }): Diagnostic {
  return { code: 'directory-unreadable', severity: 'error', message, path }
}

function notUsed({ name, path, reason, hint }: WithheldAgent): Diagnostic {
  const message = `the subagent ${name} is not used: ${reason}`
  return { code: 'agent-untrusted', severity: 'warning', message, path, hint }
}

/** What a search found that cannot be delegated to. */
interface UnusableAgents {
  withheld: readonly WithheldAgent[]
  broken: readonly BrokenAgent[]
}

/**
 * The error for a name that no subagent has: what there is, what was meant, what is withheld, and what
 * is wrong with a file that should define it.
 */
export function subagentNotFound(
  name: string,
  known: readonly string[],
  { withheld, broken }: UnusableAgents = { withheld: [], broken: [] },
): SubagentNotFoundError {
  const refused = withheld.find((agent) => agent.name === name)
  if (refused !== undefined) {
    return new SubagentNotFoundError({
      code: 'subagent-untrusted',
      message: `The subagent ${safeLine(name)} is not used: ${refused.reason} (${refused.path}).`,
      hint: refused.hint,
    })
  }
  const unreadable = broken.find(
    (file) => file.name === name || basename(file.path, '.md') === name,
  )
  if (unreadable !== undefined) return fileBroken(name, unreadable)
  const meant = nearest(name, known)
  const guess = meant === undefined ? '' : `Did you mean ${meant}? `
  const list = known.length === 0 ? 'There are none.' : `There are ${known.join(', ')}.`
  return new SubagentNotFoundError({
    code: 'subagent-not-found',
    message: `There is no subagent named ${safeLine(name)}.`,
    hint: `${guess}${list}`,
  })
}

function fileBroken(name: string, { path, diagnostics }: BrokenAgent): SubagentNotFoundError {
  const errors: Diagnostic[] = diagnostics.filter((one) => hasErrors([one]))
  return new SubagentNotFoundError({
    code: 'subagent-broken',
    message: `The subagent ${safeLine(name)} cannot be used, because its file is broken: ${path}`,
    diagnostics: errors,
    hint: 'Fix the file; skillrail agents validate checks it.',
  })
}
