import { dirname } from 'node:path'
import { SkillrailError } from '../../core/errors.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { didYouMean } from '../../core/text.ts'
import type { SkillInfo } from '../../library/model.ts'
import { parseAllowedTools } from '../../skill/allowed-tools.ts'
import { toolSelectors } from '../approval/tool-patterns.ts'
import { knownBuiltIns } from '../built-in-tools/built-in-tools.ts'
import { readModelName } from '../resolve-model.ts'
import { wireName } from '../tool.ts'
import type { AgentFileReading } from './discover-agents.ts'
import type { SubagentConfig } from './config.ts'
import { readMcpName } from './select-tools.ts'
import { findCycle, forWhom, notForModels, splitSkill } from './skills.ts'

type Problem = Pick<Diagnostic, 'code' | 'severity' | 'message' | 'hint'> & { field?: string }

/** Finds problems beside the fields: names, skills, models and tools that cannot be resolved. */
export function checkAgents(
  readings: readonly (Pick<AgentFileReading, 'config' | 'places'> & { path: string })[],
  skills: readonly SkillInfo[],
  servers: readonly string[],
): Diagnostic[] {
  const agents = readings.flatMap(({ config, ...file }) =>
    config === undefined ? [] : [{ config, ...file }],
  )
  const configs = new Map(agents.map(({ config }) => [config.name, config]))
  const groups = Map.groupBy(agents, ({ config, path }) => `${dirname(path)} ${config.name}`)
  const twice = [...groups.values()].flatMap(([first, ...others]) =>
    others.map(({ config, path }) => sameName(config.name, first?.path ?? '', path)),
  )
  const found = agents.flatMap(({ config, path, places }) => {
    const problems = [
      ...skillProblems(config, skills),
      ...cycleProblems(findCycle(config, skills, (name) => configs.get(name))),
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

/** A definition that is never used, because another one in its folder has its name. */
export function sameName(name: string, used: string, path: string): Diagnostic {
  const message = `the subagent ${name} is defined by ${used} too, which is used`
  return { code: 'agent-twice', severity: 'warning', message, path, hint: 'Rename one of them.' }
}

function skillProblems(config: SubagentConfig, skills: readonly SkillInfo[]): Problem[] {
  return (config.skills ?? []).flatMap((entry): Problem[] => {
    const { name } = splitSkill(entry)
    const skill = skills.find((one) => one.name === name)
    if (skill === undefined) {
      const message = `there is no skill named ${name}, which the subagent is to have`
      const names = skills.map((one) => one.name)
      const hint = didYouMean(name, names) || undefined
      return [{ code: 'agent-skill-missing', severity: 'error', field: 'skills', message, hint }]
    }
    if (!skill.fields.disableModelInvocation) return []
    const message = `the ${notForModels(config.name, name)}`
    return [warning('agent-not-for-models', 'skills', message, forWhom)]
  })
}

function cycleProblems(cycle: readonly string[] | undefined): Problem[] {
  if (cycle === undefined) return []
  const message = `skills and subagents refer to one another in a circle: ${cycle.join(' -> ')}`
  const hint = 'Take the skill out of `skills`, or let the skill fork to another subagent.'
  return [{ code: 'agent-cycle', severity: 'error', field: 'skills', message, hint }]
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

function toolProblems({ tools, systemPrompt }: SubagentConfig, servers: readonly string[]) {
  const entries = (tools ?? []).filter((entry) => typeof entry === 'string')
  const names = new Set(entries.flatMap((entry) => parseAllowedTools(entry).map((one) => one.tool)))
  const prompt = typeof systemPrompt === 'string' ? systemPrompt : ''
  // The names that other clients give to tools of servers.
  const inPrompt = new Set(prompt.match(/\bmcp__[\w-]*\w/g))
  return [
    ...[...names].flatMap((name) =>
      name.startsWith('mcp__') ? ofServer(name, servers) : unknownTool(name),
    ),
    ...[...inPrompt].flatMap((name): Problem[] => {
      const read = readMcpName(name, servers)
      if (read === undefined || read.tool === '') return []
      const called = wireName(`${read.server}.${read.tool}`)
      const message = `the text names ${name}, and the model has this tool as ${called}`
      const hint = `Write ${called}, so that the model finds it.`
      return [{ code: 'agent-text-tool', severity: 'info', message, hint }]
    }),
  ]
}

function unknownTool(name: string): Problem[] {
  const builtIns = knownBuiltIns()
  const isKnown = toolSelectors([name]).some(({ selects }) => builtIns.some(selects))
  if (isKnown || /[*.:/]|__/.test(name)) return []
  const names = builtIns.flatMap((tool) => [...(tool.aliases ?? []), tool.name])
  const all = `It counts only where a program brings it. Built in are ${names.join(', ')}.`
  const message = `\`tools\` names ${name}, and there is no built-in tool called so`
  return [warning('agent-tool-unknown', 'tools', message, didYouMean(name, names) || all)]
}

function ofServer(name: string, servers: readonly string[]): Problem[] {
  const { server, tool } = readMcpName(name, servers) ?? { server: '', tool: '' }
  if (server === '') return []
  if (servers.includes(server)) {
    if (tool === '' || tool.includes('*')) return []
    const message = `\`tools\` names ${name}, which is called ${server}.${tool} here`
    const hint = `The delegating agent needs the server: --mcp-server ${server}, or \`mcp\` in a program.`
    return [{ code: 'agent-tool-of-server', severity: 'info', field: 'tools', message, hint }]
  }
  const wanted = server.toLowerCase()
  const all = servers.length === 0 ? 'None is configured.' : `Configured are ${servers.join(', ')}.`
  const message = `\`tools\` names ${name}, and there is no MCP server called ${wanted}`
  const names = servers.map((known) => `mcp__${known}`)
  const hint = `${didYouMean(`mcp__${wanted}`, names)} ${all}`.trim()
  return [warning('agent-server-unknown', 'tools', message, hint)]
}

function warning(code: string, field: string, message: string, hint: string | undefined): Problem {
  return { code, severity: 'warning', field, message, hint }
}
