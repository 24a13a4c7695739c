import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type Context, defineCommand } from '#core/command'
import {
  type Diagnostic,
  hasErrors,
  summaryLine,
  summaryOf,
  type ValidationSummary,
  exitCode,
  SkillrailError,
  UsageError,
} from '#core/errors'
import { amount, cell, didYouMean, safeLine, safeText } from '#core/text'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import type { SkillInfo } from '#library/model'
import { readServerConfiguration } from '#tools/config/read-configuration'
import { findWorkspace } from '#core/read-files'
import { agentFilesIn } from '#trust/agent-files'
import { toolSelectors } from '#agent/approval/tool-patterns'
import { allBuiltIns } from '#agent/built-in-tools/built-in-tools'
import { readModelName } from '#agent/resolve-model'
import type { SubagentConfig } from '#agent/subagents/config'
import {
  type AgentDiscovery,
  type AgentInfo,
  agentPlaces,
  discoverAgents,
  type AgentFileReading,
  readAgentAt,
  sameName,
  subagentNotFound,
} from '#agent/subagents/discover-agents'
import { splitSkill } from '#agent/skills/skill-set'
import { cycleHint, findCycle, notForModelsHint, notForModels } from '#agent/subagents/skills'

type AgentFacts = Omit<SubagentConfig, 'config' | 'systemPrompt'> &
  Omit<AgentInfo, 'config' | 'shadows'> & {
    timeoutMs: number | undefined
    shadows?: readonly string[] | undefined
  }

type Place = Pick<Context, 'runtime' | 'settings'>

export function findAgents({ runtime, settings }: Place): AgentDiscovery {
  return discoverAgents(discoverOptionsFrom(runtime, settings))
}

function factsOf({ config, ...info }: AgentInfo): AgentFacts {
  const { config: overrides, systemPrompt: _prompt, ...fields } = config
  return { ...fields, timeoutMs: overrides?.timeoutMs, ...info }
}

export const list = defineCommand<
  Omit<AgentDiscovery, 'agents' | 'broken'> & { agents: AgentFacts[] }
>()({
  options: {},
  examples: ['agent subagents list'],
  async run(context) {
    const { agents, withheld, diagnostics } = findAgents(context)
    const listed = agents.map((agent) => {
      return { ...factsOf(agent), shadows: agent.shadows.length > 0 ? agent.shadows : undefined }
    })
    return { agents: listed, withheld, diagnostics }
  },
  render({ agents }, { style, table, width }) {
    if (agents.length === 0) return ''
    const head = ['NAME', 'TOOLS', 'MODEL', 'FROM', 'DESCRIPTION']
    const rows = agents.map((agent) => {
      const tools = toolNames(agent)
      const shown = tools.includes('*') ? 'those of its parent' : tools.join(' ')
      return [
        style('bold', safeLine(agent.name)),
        cell(shown || 'none', 28),
        cell(modelText(agent), 24),
        safeLine(agent.source),
        cell(agent.description, Math.max(20, width - 76)),
      ]
    })
    return table([head.map((text) => style('dim', text)), ...rows])
  },
  notes: ({ agents, diagnostics }, { verbose }) => [
    agents.length === 0 &&
      'There are no subagents here. A file in .skillrail/agents or .claude/agents makes one.',
    ...diagnostics.filter(({ severity }) => severity !== 'info' || verbose),
    agents.length > 0 && `\n${amount(agents.length, 'subagent')}`,
  ],
})

function toolNames({ tools }: AgentFacts) {
  return (tools ?? []).filter((tool) => typeof tool === 'string')
}

function modelText({ model }: AgentFacts) {
  return typeof model === 'string' ? model : 'that of its parent'
}

export const show = defineCommand<AgentFacts & { systemPrompt: string }>()({
  arguments: { '<agent>': 'the name of a subagent' },
  options: {},
  examples: ['agent subagents show reviewer'],
  async run(context, { arguments: [name = ''] }) {
    const found = findAgents(context)
    const agent = found.agents.find(({ config }) => config.name === name)
    if (!agent) {
      const configs = found.agents.map(({ config }) => config)
      throw subagentNotFound(name, configs, found)
    }
    const { systemPrompt } = agent.config
    return { ...factsOf(agent), systemPrompt: typeof systemPrompt === 'string' ? systemPrompt : '' }
  },
  render(agent, { style, table }) {
    const rows = {
      from: `${agent.source} (${agent.scope})`,
      file: agent.path,
      model: modelText(agent),
      tools: toolNames(agent).join(' ') || 'none',
      'disallowed-tools': agent.disallowedTools?.join(' '),
      skills: agent.skills?.join(', '),
      'max-turns': String(agent.maxTurns ?? 50),
      'permission-mode': agent.permissionMode ?? 'default',
      timeout: agent.timeoutMs === undefined ? undefined : `${agent.timeoutMs / 1000} s`,
      shadows: agent.shadows?.join(', ') || undefined,
    }
    const facts = Object.entries(rows).flatMap(([label, value]) =>
      value === undefined ? [] : [[style('dim', label), safeLine(value)]],
    )
    const head = `${style('bold', safeLine(agent.name))}\n${safeLine(agent.description)}`
    const none = `${style('dim', 'no system prompt of its own')}\n`
    return `${head}\n\n${table(facts)}\n${safeText(agent.systemPrompt) || none}\n`
  },
  notes: ({ diagnostics }) => diagnostics,
})

interface AgentVerdict {
  path: string
  name: string | null
  valid: boolean
  diagnostics: readonly Diagnostic[]
}

export const validate = defineCommand<{ agents: AgentVerdict[]; summary: ValidationSummary }>()({
  arguments: { '[path...]': 'files or folders; default: all files of this project' },
  options: {},
  examples: ['agent subagents validate', 'agent subagents validate .claude/agents/reviewer.md'],
  async run(context, values) {
    const paths = values.arguments.map((path) => resolve(context.runtime.cwd, path))
    const agents = validateAgents(context, paths)
    return { agents, summary: summaryOf(agents) }
  },
  render: ({ summary }, { style }) =>
    `${summaryLine(amount(summary.checked, 'subagent'), summary, style)}\n`,
  notes: ({ agents }) => agents.flatMap(({ diagnostics }) => diagnostics),
  exitCode: ({ summary }) => (summary.invalid > 0 ? exitCode.failed : exitCode.done),
})

function validateAgents({ runtime, settings }: Place, paths: readonly string[]): AgentVerdict[] {
  const files =
    paths.length > 0
      ? paths.flatMap(filesAt)
      : agentPlaces(runtime).flatMap(({ directory }) => agentFilesIn(directory).files)
  const readings = [...new Set(files)].map((path) => ({ path, ...readAgentAt(path) }))
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  const project = findWorkspace(runtime.cwd, runtime)
  const { servers } = readServerConfiguration({ project, runtime, trust: settings.workspaceTrust })
  const serverNames = servers.map(({ name }) => name)
  const found = checkAgents(readings, skills, serverNames)
  return readings.map(({ path, config, diagnostics: own }) => {
    const diagnostics = [...own, ...found.filter((one) => one.path === path)]
    return { path, name: config?.name ?? null, valid: !hasErrors(diagnostics), diagnostics }
  })
}

function filesAt(path: string) {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) {
    throw new UsageError({ code: 'path-missing', message: `there is nothing at ${path}` })
  }
  return stats.isDirectory() ? agentFilesIn(path).files : [path]
}

type Problem = Pick<Diagnostic, 'code' | 'severity' | 'message' | 'hint'> & { field?: string }

function checkAgents(
  readings: readonly (Pick<AgentFileReading, 'config' | 'places'> & { path: string })[],
  skills: readonly SkillInfo[],
  servers: readonly string[],
): Diagnostic[] {
  const agents = readings.flatMap(({ config, ...file }) => (config ? [{ config, ...file }] : []))
  const configs = new Map(agents.map(({ config }) => [config.name, config]))
  const groups = Map.groupBy(agents, ({ config, path }) => `${dirname(path)} ${config.name}`)
  const twice = [...groups.values()].flatMap(([first, ...others]) =>
    others.map(({ config, path }) => sameName(config.name, first?.path ?? '', path)),
  )
  const found = agents.flatMap(({ config, path, places }) => {
    const problems = [
      ...skillProblems(config, skills),
      ...cycleProblems(findCycle(`agent:${config.name}`, skills, (name) => configs.get(name))),
      ...modelProblems(config),
      ...toolProblems(config, servers),
    ]
    return problems.map(({ field = '', ...problem }) => {
      const { line, column } = places?.get(field) ?? {}
      return { ...problem, path, line, column }
    })
  })
  return [...twice, ...found]
}

function skillProblems(config: SubagentConfig, skills: readonly SkillInfo[]): Problem[] {
  return (config.skills ?? []).flatMap((entry): Problem[] => {
    const { name } = splitSkill(entry)
    const skill = skills.find((one) => one.name === name)
    if (!skill) {
      const message = `there is no skill named ${name}, which the subagent is to have`
      const names = skills.map((one) => one.name)
      const hint = didYouMean(name, names) || undefined
      return [{ code: 'agent-skill-missing', severity: 'error', field: 'skills', message, hint }]
    }
    if (!skill.fields.disableModelInvocation) return []
    const message = `the ${notForModels(config.name, name)}`
    return [warning('agent-not-for-models', 'skills', message, notForModelsHint)]
  })
}

function cycleProblems(cycle: readonly string[] | undefined): Problem[] {
  if (!cycle) return []
  const message = `skills and subagents refer to one another in a circle: ${cycle.join(' -> ')}`
  return [{ code: 'agent-cycle', severity: 'error', field: 'skills', message, hint: cycleHint }]
}

function modelProblems({ model }: SubagentConfig): Problem[] {
  try {
    if (typeof model === 'string') readModelName(model)
    return []
  } catch (error) {
    if (!(error instanceof SkillrailError)) throw error
    return [warning('agent-model-unknown', 'model', error.message, error.hint)]
  }
}

/**
 * Reports tools that are neither built in nor from a configured server. A program can define other
 * names.
 */
function toolProblems({ tools }: SubagentConfig, servers: readonly string[]): Problem[] {
  const builtIns = allBuiltIns()
  const availableTools = [
    ...builtIns.flatMap((tool) => [...(tool.aliases ?? []), tool.name]),
    ...servers.map((server) => `mcp__${server}`),
  ]
  const selectors = toolSelectors((tools ?? []).filter((entry) => typeof entry === 'string'))
  return selectors.flatMap(({ name, selects }) => {
    const [, server] = /^mcp__(.*?)(?:__|$)/.exec(name) ?? []
    const isOfServer = server !== undefined
    const isOwn = isOfServer ? /\*|^$/.test(server) : /[*.:/]|__/.test(name)
    const isThere = servers.some((one) => `${name}__`.startsWith(`mcp__${one}__`))
    if (isOwn || isThere || builtIns.some(selects)) return []
    const code = isOfServer ? 'agent-server-unknown' : 'agent-tool-unknown'
    const message = `\`tools\` names ${name}, which ${isOfServer ? 'no configured MCP server has' : 'is not a built-in tool'}`
    const hint = didYouMean(isOfServer ? `mcp__${server}` : name, availableTools)
    return [warning(code, 'tools', message, hint || `There are ${availableTools.join(', ')}.`)]
  })
}

function warning(code: string, field: string, message: string, hint: string | undefined): Problem {
  return { code, severity: 'warning', field, message, hint }
}
