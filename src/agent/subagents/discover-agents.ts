import { basename, dirname, join } from 'node:path'
import { type Diagnostic, hasErrors } from '#core/errors'
import { findWorkspace, readRegularFile, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { didYouMean, safeLine } from '#core/text'
import { type DiscoverOptions, trustPolicy } from '#library/discover'
import { formatAllowedTools, parseAllowedTools } from '#skill/allowed-tools'
import { splitArguments } from '#skill/arguments'
import { readFrontmatter } from '#skill/parse'
import type { YamlEntry, YamlNode } from '#skill/read-yaml'
import { agentDirectories, agentFilesIn } from '#trust/agent-files'
import { upTo } from '#core/folders'
import { agentTrust } from '#trust/skill-trust'
import { SubagentNotFoundError } from '#agent/errors'
import type { PermissionMode } from '#agent/approval/permission-mode'
import { readConfig, type SubagentConfig } from './config.ts'

export type DiscoverAgentsOptions = Pick<
  DiscoverOptions,
  'runtime' | 'trustedPaths' | 'workspaceTrust' | 'precedence'
>

export interface AgentInfo extends Omit<AgentPlace, 'directory'> {
  config: SubagentConfig
  path: string
  /** Files of the same name that this one takes precedence over. */
  shadows: readonly string[]
  diagnostics: readonly Diagnostic[]
}

export interface AgentDiscovery {
  /** One subagent for each name, in order of precedence, then of paths by code points. */
  agents: readonly AgentInfo[]
  /** Not used, because their project is not trusted. */
  withheld: readonly WithheldAgent[]
  /** Files with errors. */
  broken: readonly BrokenAgent[]
  diagnostics: readonly Diagnostic[]
}

export type WithheldAgent = Record<'name' | 'description' | 'path' | 'reason' | 'hint', string>

export interface BrokenAgent {
  path: string
  /** The field `name`, if it is a text. */
  name?: string | undefined
  diagnostics: readonly Diagnostic[]
}

/** Finds definitions in the project, then in the home directory. An invalid file is a diagnostic. */
export function discoverAgents(options: DiscoverAgentsOptions): AgentDiscovery {
  const trust = trustPolicy(options)
  const agents = new Map<string, AgentInfo>()
  const withheld: WithheldAgent[] = []
  const brokenAgents: BrokenAgent[] = []
  const diagnostics: Diagnostic[] = [...trust.diagnostics]
  for (const { directory, ...place } of agentPlaces(options.runtime, options.precedence)) {
    const { files, problems } = agentFilesIn(directory)
    for (const problem of problems) {
      diagnostics.push({ code: 'directory-unreadable', severity: 'error', ...problem })
    }
    for (const path of files) {
      const { config, ...reading } = readAgentAt(path)
      diagnostics.push(...reading.diagnostics)
      if (!config) {
        brokenAgents.push({ path, name: reading.name, diagnostics: reading.diagnostics })
        continue
      }
      const { name, description } = config
      const subject = { name, scope: place.scope, path }
      const { level, reason, hint } = agentTrust(subject, trust.policy)
      const preferredAgent = agents.get(name)
      if (level !== 'trusted') {
        withheld.push({ name, description, path, reason, hint })
        const message = `the subagent ${name} is not used: ${reason}`
        diagnostics.push({ code: 'agent-untrusted', severity: 'warning', message, path, hint })
      } else if (!preferredAgent) {
        agents.set(name, { config, path, ...place, shadows: [], diagnostics: reading.diagnostics })
      } else {
        agents.set(name, { ...preferredAgent, shadows: [...preferredAgent.shadows, path] })
        const isSameFolder = dirname(preferredAgent.path) === dirname(path)
        if (isSameFolder) diagnostics.push(sameName(name, preferredAgent.path, path))
      }
    }
  }
  return { agents: [...agents.values()], withheld, broken: brokenAgents, diagnostics }
}

/** Warns about a definition whose name another definition in the same folder has. */
export function sameName(name: string, usedPath: string, path: string): Diagnostic {
  const message = `the subagent ${name} is defined by ${usedPath} too, which is used`
  return { code: 'agent-twice', severity: 'warning', message, path, hint: 'Rename one of them.' }
}

interface AgentPlace {
  directory: string
  scope: 'project' | 'user'
  source: string
}

/** Returns every directory that is searched, highest precedence first. */
export function agentPlaces(runtime: Runtime, precedence?: 'project' | 'user'): AgentPlace[] {
  const placesBelow = (root: string, scope: AgentPlace['scope'], prefix: string): AgentPlace[] =>
    agentDirectories.map((path) => {
      return { directory: join(root, path), scope, source: `${prefix}${path}` }
    })
  const home = realPathOf(runtime.home) ?? runtime.home
  const workspace = findWorkspace(runtime.cwd, runtime)
  const roots = upTo(realPathOf(runtime.cwd) ?? runtime.cwd, workspace)
  const project = roots.flatMap((root) => (root === home ? [] : placesBelow(root, 'project', '')))
  const user = placesBelow(runtime.home, 'user', '~/')
  return precedence === 'user' ? [...user, ...project] : [...project, ...user]
}

/** Reads a file by the rules of its directory. An invalid file is a diagnostic. */
export function readAgentAt(path: string): AgentFileReading {
  const file = readRegularFile(path, { maxBytes: 1024 * 1024, followSymlinks: true })
  if (!file.ok) {
    const { code, message } = file
    return { config: undefined, diagnostics: [{ code, severity: 'error', message, path }] }
  }
  return readAgentFile(file.bytes, path)
}

export function subagentNotFound(
  name: string,
  configs: readonly SubagentConfig[],
  { withheld, broken }: AgentDiscovery,
): SubagentNotFoundError {
  const subagent = `subagent ${safeLine(name)}`
  const untrustedAgent = withheld.find((agent) => agent.name === name)
  if (untrustedAgent) {
    const message = `The ${subagent} is not used: ${untrustedAgent.reason} (${untrustedAgent.path}).`
    const { hint } = untrustedAgent
    return new SubagentNotFoundError({ code: 'subagent-untrusted', message, hint })
  }
  const file = broken.find((agent) => agent.name === name || basename(agent.path, '.md') === name)
  if (file) {
    return new SubagentNotFoundError({
      code: 'subagent-broken',
      message: `The ${subagent} cannot be used, because its file is broken: ${file.path}`,
      diagnostics: file.diagnostics.filter((one) => hasErrors([one])),
      hint: 'Fix the file; skillrail agent subagents validate checks it.',
    })
  }
  const message = `There is no subagent named ${safeLine(name)}.`
  const names = configs.map((config) => config.name)
  const hint = `${didYouMean(name, names)} There are ${names.join(', ') || 'none'}.`.trim()
  return new SubagentNotFoundError({ code: 'subagent-not-found', message, hint })
}

export interface AgentFileReading {
  config: SubagentConfig | undefined
  name?: string | undefined
  /** Positions of the values, by the documented names of the fields. */
  places?: ReadonlyMap<string, { line: number; column: number }> | undefined
  diagnostics: readonly Diagnostic[]
}

export function readAgentFile(content: string | Uint8Array, path: string): AgentFileReading {
  const reading = readFrontmatter(content, path)
  if (!reading.ok) return { config: undefined, diagnostics: reading.diagnostics }
  const { root, split } = reading
  const diagnostics = [...reading.diagnostics]
  const report: Report = (severity, code, { line, column }, message, hint) => {
    diagnostics.push({ code, severity, message, path, line, column, hint })
  }
  const nodes = readFields(root.entries, report)
  const valueOf = (field: string): unknown => plainValue(nodes.get(field))

  const mode = valueOf('permission-mode')
  if (modesWithoutEffect.includes(mode)) {
    const message = `\`permission-mode: ${String(mode)}\` has no effect here; the approver is still asked.`
    report('warning', 'permission-mode', nodes.get('permission-mode') ?? root, message)
  }
  const name = valueOf('name')
  const model = valueOf('model')
  const timeout = numberOf(valueOf('timeout'))
  const { config, problems } = readConfig({
    name,
    description: valueOf('description'),
    model: model === 'inherit' ? undefined : model,
    tools: toolsOf(nodes.get('tools')) ?? defaultTools(path),
    disallowedTools: toolsOf(nodes.get('disallowed-tools')),
    skills: skillsOf(valueOf('skills')),
    maxTurns: numberOf(valueOf('max-turns')),
    permissionMode: modeOf(mode),
    systemPrompt: split.body.trim() || undefined,
    config: timeout === undefined ? undefined : { timeoutMs: timeout * 1000 },
  })
  for (const { field, problem, hint } of problems) {
    const key = field === 'config.timeoutMs' ? 'timeout' : fieldName(field)
    const code = key === 'name' || key === 'description' ? `agent-${key}` : 'field-type'
    report('error', code, nodes.get(key) ?? root, `\`${key}\` ${problem}.`, hint)
  }
  return {
    config: hasErrors(diagnostics) ? undefined : config,
    name: typeof name === 'string' ? name : undefined,
    places: nodes,
    diagnostics,
  }
}

type Report = (
  severity: 'error' | 'warning',
  code: string,
  position: Pick<YamlNode, 'line' | 'column'>,
  message: string,
  hint?: string,
) => void

/** Returns the values by the documented names of their fields. */
function readFields(entries: readonly YamlEntry[], report: Report): Map<string, YamlNode> {
  const nodes = new Map<string, YamlNode>()
  for (const { key, value } of entries) {
    const field = fieldName(key.text)
    if (nodes.has(field)) {
      const message = `\`${key.text}\` is there twice, in two spellings; the first one counts.`
      report('warning', 'field-twice', key, message, 'Remove one of them.')
    } else if (fieldNames.includes(field)) nodes.set(field, value)
    else if (!foreignFields.has(field)) {
      const hint = didYouMean(field, fieldNames) || `There are ${fieldNames.join(', ')}.`
      const message = `\`${key.text}\` is not a field of a subagent and has no effect.`
      report('warning', 'field-unknown', key, message, hint)
    }
  }
  return nodes
}

/** Without `tools`, a subagent of Claude Code has all of its parent (code.claude.com/docs/en/sub-agents). */
function defaultTools(path: string): readonly string[] | undefined {
  return /[\\/]\.claude[\\/]agents[\\/]/.test(path) ? ['*'] : undefined
}

const fieldNames: readonly string[] =
  'name description model tools disallowed-tools skills max-turns permission-mode timeout'.split(
    ' ',
  )

/** Fields of Claude Code that have no effect here, so that they are not reported as misspellings. */
const foreignFields: ReadonlySet<string> = new Set(
  'background color effort hooks initial-prompt isolation mcp-servers memory'.split(' '),
)

/** Permission modes of other clients that allow more than `default`. */
const modesWithoutEffect: readonly unknown[] = ['acceptEdits', 'auto', 'bypassPermissions']

function modeOf(mode: unknown): unknown {
  if (modesWithoutEffect.includes(mode)) return 'default'
  return mode === 'dontAsk' ? ('dont-ask' satisfies PermissionMode) : mode
}

/** Returns the documented spelling: `maxTurns` and `max_turns` are `max-turns`. */
function fieldName(text: string) {
  return text
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`)
    .replaceAll('_', '-')
    .toLowerCase()
}

/** Returns a text, a list, or undefined for an empty value; for a map `false`, which no field accepts. */
function plainValue(node: YamlNode | undefined): unknown {
  if (!node) return undefined
  if (node.kind === 'scalar') return node.value === null ? undefined : node.text.trim() || undefined
  return node.kind === 'list' && node.items.map(plainValue)
}

/** Returns NaN, which no field accepts, for any value but a whole number from 1. */
function numberOf(value: unknown) {
  if (value === undefined) return undefined
  return typeof value === 'string' && /^[1-9]\d{0,8}$/.test(value) ? Number(value) : Number.NaN
}

/** Undefined if the field is absent; an empty list if it is empty. */
function toolsOf(node: YamlNode | undefined): unknown {
  if (!node) return undefined
  const isList = node.kind === 'list' && node.items.every(({ kind }) => kind === 'scalar')
  if (!isList && node.kind !== 'scalar') return false
  return parseAllowedTools(node).map((tool) => formatAllowedTools([tool]))
}

/** A text is split into words. An item of a list may contain arguments after the name of the skill. */
function skillsOf(value: unknown): unknown {
  if (typeof value === 'string') return splitArguments(value.replaceAll(',', ' '))
  return Array.isArray(value) ? value.filter((item) => item !== undefined) : value
}
