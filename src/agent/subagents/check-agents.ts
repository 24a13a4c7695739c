import { dirname } from 'node:path'
import { SkillrailError } from '../../core/errors.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { didYouMean } from '../../core/text.ts'
import type { SkillInfo } from '../../library/model.ts'
import { toolSelectors } from '../approval/tool-patterns.ts'
import { knownBuiltIns } from '../built-in-tools/built-in-tools.ts'
import { readModelName } from '../resolve-model.ts'
import type { AgentFileReading } from './discover-agents.ts'
import type { SubagentConfig } from './config.ts'
import { cycleHint, findCycle, forWhom, notForModels, splitSkill } from './skills.ts'

type Problem = Pick<Diagnostic, 'code' | 'severity' | 'message' | 'hint'> & { field?: string }

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

/** Tools that no built-in tool and no configured server is. Other names are a program's own. */
function toolProblems({ tools }: SubagentConfig, servers: readonly string[]): Problem[] {
  const builtIns = knownBuiltIns()
  const known = [
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
    const hint = didYouMean(isOfServer ? `mcp__${server}` : name, known)
    return [warning(code, 'tools', message, hint || `There are ${known.join(', ')}.`)]
  })
}

function warning(code: string, field: string, message: string, hint: string | undefined): Problem {
  return { code, severity: 'warning', field, message, hint }
}
