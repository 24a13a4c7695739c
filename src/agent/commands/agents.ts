import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Context, defineCommand, type Screen } from '../../core/command.ts'
import { type Diagnostic, hasErrors } from '../../core/diagnostic.ts'
import { exitCode, UsageError } from '../../core/errors.ts'
import { amount, cell, safeLine, safeText } from '../../core/text.ts'
import { discoverOptionsFrom, discoverSkills } from '../../library/discover.ts'
import { readServerConfiguration } from '../../tools/config/read-configuration.ts'
import { agentFilesIn } from '../../trust/project-files.ts'
import { findWorkspace } from '../../trust/decide.ts'
import { checkAgents } from '../subagents/check-agents.ts'
import type { SubagentConfig } from '../subagents/config.ts'
import {
  type AgentDiscovery,
  type AgentInfo,
  agentPlaces,
  discoverAgents,
  readAgentAt,
  subagentNotFound,
} from '../subagents/discover-agents.ts'

/** The definition of a subagent without its prompt, as `agents list` and `agents show` give it. */
interface AgentFacts extends Omit<SubagentConfig, 'config' | 'systemPrompt'> {
  timeoutMs: number | undefined
}

interface ListedAgent extends AgentFacts, Pick<AgentInfo, 'path' | 'scope' | 'source'> {
  shadows?: readonly string[] | undefined
  diagnostics: readonly Diagnostic[]
}

interface AgentList {
  agents: ListedAgent[]
  withheld: AgentDiscovery['withheld']
  diagnostics: readonly Diagnostic[]
}

/** The files that define subagents, as the user's and the project's settings have it. */
export function findAgents({
  runtime,
  settings,
}: Pick<Context, 'runtime' | 'settings'>): AgentDiscovery {
  const { trustedPaths, precedence } = settings.skills
  const { workspaceTrust } = settings
  return discoverAgents({ runtime, trustedPaths, precedence, workspaceTrust })
}

function factsOf({ config, ...definition }: SubagentConfig): AgentFacts {
  const { systemPrompt: _prompt, ...fields } = definition
  return { ...fields, timeoutMs: config?.timeoutMs }
}

export const list = defineCommand<AgentList>()({
  options: {},
  examples: ['agents list'],
  async run(context) {
    const { agents, withheld, diagnostics } = findAgents(context)
    return {
      agents: agents.map(({ config, path, scope, source, shadows, diagnostics: own }) => ({
        ...factsOf(config),
        path,
        scope,
        source,
        shadows: shadows.length > 0 ? shadows : undefined,
        diagnostics: own,
      })),
      withheld,
      diagnostics,
    }
  },
  render: ({ agents }, screen) => (agents.length === 0 ? '' : screen.table(rowsOf(agents, screen))),
  notes: ({ agents, diagnostics }, { verbose }) => [
    ...(agents.length > 0
      ? []
      : ['There are no subagents here. A file in .skillrail/agents or .claude/agents makes one.']),
    ...diagnostics.filter(({ severity }) => severity !== 'info' || verbose),
    ...(agents.length > 0 ? [`\n${amount(agents.length, 'subagent')}`] : []),
  ],
})

function rowsOf(agents: readonly ListedAgent[], screen: Screen): string[][] {
  const head = ['NAME', 'TOOLS', 'MODEL', 'FROM', 'DESCRIPTION']
  const rows = agents.map((agent) => {
    const tools = toolNames(agent)
    const shown = tools.includes('*') ? 'those of its parent' : tools.join(' ')
    return [
      screen.style('bold', safeLine(agent.name)),
      cell(shown === '' ? 'none' : shown, 28),
      cell(modelText(agent), 24),
      safeLine(agent.source),
      cell(agent.description, Math.max(20, screen.width - 76)),
    ]
  })
  return [head.map((text) => screen.style('dim', text)), ...rows]
}

function toolNames({ tools }: AgentFacts): string[] {
  return (tools ?? []).filter((tool) => typeof tool === 'string')
}

function modelText({ model }: AgentFacts): string {
  return typeof model === 'string' ? model : 'that of its parent'
}

interface ShownAgent extends AgentFacts, Omit<AgentInfo, 'config'> {
  systemPrompt: string
}

export const show = defineCommand<ShownAgent>()({
  arguments: { '<agent>': 'the name of a subagent' },
  options: {},
  examples: ['agents show reviewer'],
  async run(context, { arguments: [name = ''] }) {
    const found = findAgents(context)
    const agent = found.agents.find(({ config }) => config.name === name)
    if (agent === undefined) {
      const known = found.agents.map(({ config }) => config.name)
      throw subagentNotFound(name, known, found)
    }
    const { config, path, scope, source, shadows, diagnostics } = agent
    const systemPrompt = typeof config.systemPrompt === 'string' ? config.systemPrompt : ''
    return { ...factsOf(config), systemPrompt, path, scope, source, shadows, diagnostics }
  },
  render(agent, screen) {
    const { name, description, systemPrompt } = agent
    const prompt = systemPrompt === '' ? '' : safeText(systemPrompt)
    return [
      `${screen.style('bold', safeLine(name))}\n${safeLine(description)}\n\n`,
      screen.table(
        factRows(agent).map(([label, value]) => [screen.style('dim', label), safeLine(value)]),
      ),
      '\n',
      systemPrompt === '' ? `${screen.style('dim', 'no system prompt of its own')}\n` : '',
      `${prompt}\n`,
    ].join('')
  },
  notes: ({ diagnostics }) => diagnostics,
})

function factRows(agent: ShownAgent): [string, string][] {
  const { disallowedTools, skills, maxTurns, permissionMode, timeoutMs, shadows } = agent
  const rows: [string, string | undefined][] = [
    ['from', `${agent.source} (${agent.scope})`],
    ['file', agent.path],
    ['model', modelText(agent)],
    ['tools', toolNames(agent).join(' ') || 'none'],
    ['disallowed-tools', disallowedTools?.join(' ')],
    ['skills', skills?.join(', ')],
    ['max-turns', String(maxTurns ?? 50)],
    ['permission-mode', permissionMode ?? 'default'],
    ['timeout', timeoutMs === undefined ? undefined : `${timeoutMs / 1000} s`],
    ['shadows', shadows.length === 0 ? undefined : shadows.join(', ')],
  ]
  return rows.flatMap(([label, value]): [string, string][] =>
    value === undefined ? [] : [[label, value]],
  )
}

interface AgentVerdict {
  path: string
  name: string | null
  valid: boolean
  diagnostics: readonly Diagnostic[]
}

interface Verdicts {
  agents: AgentVerdict[]
  summary: { checked: number; valid: number; invalid: number; errors: number; warnings: number }
}

export const validate = defineCommand<Verdicts>()({
  arguments: { '[path...]': 'files or folders; default: all files of this project' },
  options: {},
  examples: ['agents validate', 'agents validate .claude/agents/reviewer.md'],
  async run(context, values) {
    const paths = values.arguments.map((path) => resolve(context.runtime.cwd, path))
    const agents = validateAgents(context, paths)
    const diagnostics = agents.flatMap((agent) => agent.diagnostics)
    const invalid = agents.filter(({ valid }) => !valid).length
    return {
      agents,
      summary: {
        checked: agents.length,
        valid: agents.length - invalid,
        invalid,
        errors: diagnostics.filter(({ severity }) => severity === 'error').length,
        warnings: diagnostics.filter(({ severity }) => severity === 'warning').length,
      },
    }
  },
  render({ summary: { checked, invalid, errors, warnings } }, screen) {
    const verdict =
      invalid === 0
        ? screen.style('green', checked === 1 ? 'valid' : 'all valid')
        : screen.style('red', `${invalid} invalid`)
    const found = `${amount(errors, 'error')}, ${amount(warnings, 'warning')}`
    return `${amount(checked, 'subagent')} checked, ${verdict}: ${found}\n`
  },
  notes: ({ agents }) => agents.flatMap(({ diagnostics }) => diagnostics),
  exitCode: ({ summary }) => (summary.invalid > 0 ? exitCode.badAnswer : exitCode.done),
})

/**
 * Checks the given files, or all that are found: their fields, the tools, skills and models that they
 * name, and cycles.
 *
 * @throws {UsageError} for a path that does not exist.
 */
function validateAgents(
  { runtime, settings }: Pick<Context, 'runtime' | 'settings'>,
  paths: readonly string[],
): AgentVerdict[] {
  const files =
    paths.length > 0
      ? paths.flatMap(filesAt)
      : agentPlaces({ runtime }).flatMap(({ directory }) => agentFilesIn(directory).files)
  const readings = [...new Set(files)].map((path) => ({ path, ...readAgentAt(path) }))
  const usable = readings.flatMap(({ path, config, places }) =>
    config === undefined ? [] : [{ path, config, places }],
  )
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  const project = findWorkspace(runtime.cwd, runtime)
  const { servers } = readServerConfiguration({ project, runtime, trust: settings.workspaceTrust })
  const found = checkAgents(usable, { skills, servers: servers.map(({ name }) => name) })
  return readings.map(({ path, config, diagnostics: own }) => {
    const diagnostics = [...own, ...found.filter((one) => one.path === path)]
    return { path, name: config?.name ?? null, valid: !hasErrors(diagnostics), diagnostics }
  })
}

function filesAt(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true) return agentFilesIn(path).files
  if (stats !== undefined) return [path]
  throw new UsageError({
    code: 'path-missing',
    message: `there is nothing at ${path}`,
    hint: 'Give a file such as .claude/agents/reviewer.md, or the folder that it is in.',
  })
}
