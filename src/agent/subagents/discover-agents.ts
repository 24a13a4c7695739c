import { basename, dirname, join } from 'node:path'
import { type Diagnostic, hasErrors } from '#core/errors'
import { findWorkspace, readRegularFile, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { didYouMean, safeLine } from '#core/text'
import { type DiscoverOptions, trustPolicy } from '#library/discover'
import { formatAllowedTools, parseAllowedTools } from '#skill/allowed-tools'
import { splitArguments } from '#skill/arguments'
import { readFrontmatter } from '#skill/parse'
import type { YamlNode } from '#skill/read-yaml'
import { agentDirectories, agentFilesIn, upTo } from '#trust/project-files'
import { agentTrust } from '#trust/skill-trust'
import { SubagentNotFoundError } from '#agent/errors'
import { type PermissionMode, readConfig, type SubagentConfig } from './config.ts'

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
  /** One of each name, in order of precedence, then code-point order of paths. */
  agents: readonly AgentInfo[]
  /** Not used because their project is not trusted. */
  withheld: readonly Record<'name' | 'description' | 'path' | 'reason' | 'hint', string>[]
  broken: readonly { path: string; name?: string | undefined; diagnostics: readonly Diagnostic[] }[]
  diagnostics: readonly Diagnostic[]
}

/** Finds definitions in the project, then in the home directory. Never throws for what it finds. */
export function discoverAgents(options: DiscoverAgentsOptions): AgentDiscovery {
  const trust = trustPolicy(options)
  const agents = new Map<string, AgentInfo>()
  const withheld: AgentDiscovery['withheld'][number][] = []
  const broken: AgentDiscovery['broken'][number][] = []
  const diagnostics: Diagnostic[] = [...trust.diagnostics]
  for (const { directory, ...place } of agentPlaces(options.runtime, options.precedence)) {
    const { files, problems } = agentFilesIn(directory)
    for (const problem of problems) {
      diagnostics.push({ code: 'directory-unreadable', severity: 'error', ...problem })
    }
    for (const path of files) {
      const { config, name: written, diagnostics: own } = readAgentAt(path)
      diagnostics.push(...own)
      if (!config) {
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
      } else if (!first) {
        agents.set(name, { config, path, ...place, shadows: [], diagnostics: own })
      } else {
        agents.set(name, { ...first, shadows: [...first.shadows, path] })
        const isTwice = dirname(first.path) === dirname(path)
        if (isTwice) diagnostics.push(sameName(name, first.path, path))
      }
    }
  }
  return { agents: [...agents.values()], withheld, broken, diagnostics }
}

/** A definition that is never used, because another one in its folder has its name. */
export function sameName(name: string, used: string, path: string): Diagnostic {
  const message = `the subagent ${name} is defined by ${used} too, which is used`
  return { code: 'agent-twice', severity: 'warning', message, path, hint: 'Rename one of them.' }
}

interface AgentPlace {
  directory: string
  scope: 'project' | 'user'
  source: string
}

/** Every directory that is looked into, highest precedence first. */
export function agentPlaces(runtime: Runtime, precedence?: 'project' | 'user'): AgentPlace[] {
  const below = (root: string, scope: AgentPlace['scope'], prefix: string): AgentPlace[] =>
    agentDirectories.map((place) => {
      return { directory: join(root, place), scope, source: `${prefix}${place}` }
    })
  const home = realPathOf(runtime.home) ?? runtime.home
  const workspace = findWorkspace(runtime.cwd, runtime)
  const roots = upTo(realPathOf(runtime.cwd) ?? runtime.cwd, workspace)
  const project = roots.flatMap((root) => (root === home ? [] : below(root, 'project', '')))
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
  return readAgentFile(file.bytes, path)
}

export function subagentNotFound(
  name: string,
  known: readonly SubagentConfig[],
  { withheld, broken }: AgentDiscovery,
): SubagentNotFoundError {
  const subagent = `subagent ${safeLine(name)}`
  const refused = withheld.find((agent) => agent.name === name)
  if (refused) {
    const message = `The ${subagent} is not used: ${refused.reason} (${refused.path}).`
    const hint = refused.hint
    return new SubagentNotFoundError({ code: 'subagent-untrusted', message, hint })
  }
  const file = broken.find((one) => one.name === name || basename(one.path, '.md') === name)
  if (file) {
    return new SubagentNotFoundError({
      code: 'subagent-broken',
      message: `The ${subagent} cannot be used, because its file is broken: ${file.path}`,
      diagnostics: file.diagnostics.filter((one) => hasErrors([one])),
      hint: 'Fix the file; skillrail agents validate checks it.',
    })
  }
  const message = `There is no subagent named ${safeLine(name)}.`
  const names = known.map((config) => config.name)
  const hint = `${didYouMean(name, names)} There are ${names.join(', ') || 'none'}.`.trim()
  return new SubagentNotFoundError({ code: 'subagent-not-found', message, hint })
}

export interface AgentFileReading {
  config: SubagentConfig | undefined
  name?: string | undefined
  /** The positions of the values of its fields, by the names of the documentation. */
  places?: ReadonlyMap<string, { line: number; column: number }> | undefined
  diagnostics: readonly Diagnostic[]
}

export function readAgentFile(content: string | Uint8Array, path: string): AgentFileReading {
  const reading = readFrontmatter(content, path)
  if (!reading.ok) return { config: undefined, diagnostics: reading.diagnostics }
  const { root, split } = reading
  const diagnostics = [...reading.diagnostics]
  const report = (
    severity: 'error' | 'warning',
    code: string,
    { line, column }: YamlNode,
    message: string,
    hint?: string,
  ) => void diagnostics.push({ code, severity, message, path, line, column, hint })
  const nodes = new Map<string, YamlNode>()
  for (const { key, value } of root.entries) {
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
  const valueOf = (field: string): unknown => plainValue(nodes.get(field))
  const written = valueOf('permission-mode')
  if (modesWithoutEffect.includes(written)) {
    const message = `\`permission-mode: ${String(written)}\` has no effect here; the approver is still asked.`
    report('warning', 'permission-mode', nodes.get('permission-mode') ?? root, message)
  }
  // Where no `tools` are named, the owner of this directory means all that the parent has
  // (code.claude.com/docs/en/sub-agents).
  const absent = /[\\/]\.claude[\\/]agents[\\/]/.test(path) ? ['*'] : undefined
  const model = valueOf('model')
  const timeout = numberOf(valueOf('timeout'))
  const { config, problems } = readConfig({
    name: valueOf('name'),
    description: valueOf('description'),
    model: model === 'inherit' ? undefined : model,
    tools: toolsOf(nodes.get('tools')) ?? absent,
    disallowedTools: toolsOf(nodes.get('disallowed-tools')),
    skills: skillsOf(valueOf('skills')),
    maxTurns: numberOf(valueOf('max-turns')),
    permissionMode: modeOf(written),
    systemPrompt: split.body.trim() || undefined,
    config: timeout === undefined ? undefined : { timeoutMs: timeout * 1000 },
  })
  for (const { field, problem, hint } of problems) {
    const name = field === 'config.timeoutMs' ? 'timeout' : fieldName(field)
    const code = name === 'name' || name === 'description' ? `agent-${name}` : 'field-type'
    report('error', code, nodes.get(name) ?? root, `\`${name}\` ${problem}.`, hint)
  }
  const name = valueOf('name')
  return {
    config: hasErrors(diagnostics) ? undefined : config,
    name: typeof name === 'string' ? name : undefined,
    places: nodes,
    diagnostics,
  }
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

function modeOf(written: unknown): unknown {
  if (modesWithoutEffect.includes(written)) return 'default'
  return written === 'dontAsk' ? ('dont-ask' satisfies PermissionMode) : written
}

/** The spelling of the documentation: `maxTurns` and `max_turns` are `max-turns`. */
function fieldName(written: string) {
  return written
    .replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`)
    .replaceAll('_', '-')
    .toLowerCase()
}

/** A text, a list, or undefined for nothing. A map is `false`, which no field may be. */
function plainValue(node: YamlNode | undefined): unknown {
  if (!node) return undefined
  if (node.kind === 'scalar') return node.value === null ? undefined : node.text.trim() || undefined
  return node.kind === 'list' && node.items.map(plainValue)
}

/** NaN for what is not a whole number from 1. */
function numberOf(value: unknown) {
  if (value === undefined) return undefined
  return typeof value === 'string' && /^[1-9]\d{0,8}$/.test(value) ? Number(value) : Number.NaN
}

/** Undefined where the field is absent; empty where it is there and names nothing. */
function toolsOf(node: YamlNode | undefined): unknown {
  if (!node) return undefined
  const isList = node.kind === 'list' && node.items.every(({ kind }) => kind === 'scalar')
  if (!isList && node.kind !== 'scalar') return false
  return parseAllowedTools(node).map((tool) => formatAllowedTools([tool]))
}

/** Words of a text; an item of a list may carry arguments after the name of the skill. */
function skillsOf(value: unknown): unknown {
  if (typeof value === 'string') return splitArguments(value.replaceAll(',', ' '))
  return Array.isArray(value) ? value.filter((item) => item !== undefined) : value
}
