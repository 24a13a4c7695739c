import { dirname } from 'node:path'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { nearest } from '../../core/text.ts'
import { SkillrailError } from '../../core/errors.ts'
import type { SkillInfo } from '../../library/model.ts'
import { parseAllowedTools } from '../../skill/allowed-tools.ts'
import { toolSelectors } from '../approval/tool-patterns.ts'
import { knownBuiltIns } from '../built-in-tools/built-in-tools.ts'
import { readModelName } from '../resolve-model.ts'
import { wireName } from '../tool.ts'
import type { FieldPlaces } from './agent-file.ts'
import type { SubagentConfig } from './config.ts'
import { findCycle, forWhom, notForModels, splitSkill } from './skills.ts'
import { readMcpName } from './select-tools.ts'

/** A definition, with the file that it comes from. */
interface DefinedAgent {
  config: SubagentConfig
  path: string
  /** Where its fields are, for diagnostics with a line. */
  places?: FieldPlaces | undefined
}

/**
 * What is wrong with the skills that subagents have from the start: not there, for users alone, or in
 * a circle.
 */
export function checkReferences(
  agents: readonly DefinedAgent[],
  skills: readonly SkillInfo[],
): Diagnostic[] {
  const names = skills.map(({ name }) => name)
  const withheld = skills
    .filter(({ fields }) => fields.disableModelInvocation)
    .map(({ name }) => name)
  const configs = new Map(agents.map(({ config }) => [config.name, config]))
  return agents.flatMap(({ config, path, places }) => {
    const place = places?.get('skills')
    const wanted = (config.skills ?? []).map((entry) => splitSkill(entry).name)
    const missing = wanted
      .filter((name) => !names.includes(name))
      .map((name): Diagnostic => {
        const meant = nearest(name, names)
        return {
          code: 'agent-skill-missing',
          severity: 'error',
          message: `there is no skill named ${name}, which the subagent is to have`,
          path,
          ...place,
          hint: meant === undefined ? undefined : `Did you mean ${meant}?`,
        }
      })
    const personal = wanted
      .filter((name) => withheld.includes(name))
      .map((name): Diagnostic => ({
        code: 'agent-not-for-models',
        severity: 'warning',
        message: `the ${notForModels(config.name, name)}`,
        path,
        ...place,
        hint: forWhom,
      }))
    const found = [...missing, ...personal]
    const cycle = findCycle(config, skills, (name) => configs.get(name))
    if (cycle === undefined) return found
    const circle: Diagnostic = {
      code: 'agent-cycle',
      severity: 'error',
      message: `skills and subagents refer to one another in a circle: ${cycle.join(' -> ')}`,
      path,
      ...place,
      hint: 'Take the skill out of `skills`, or let the skill fork to another subagent.',
    }
    return [...found, circle]
  })
}

interface KnownTools {
  /** Names of the MCP servers that are configured. */
  servers: readonly string[]
}

/**
 * Tools that subagents name and that cannot be meant: none of the built-in ones, or those of a server
 * that is not configured. Only warnings, because a program may bring a tool of any name. Tools of
 * skills and servers (`name.tool`, `name__tool`) cannot be known without starting something. How a tool
 * of a server is called here is an info.
 */
export function checkTools(agents: readonly DefinedAgent[], { servers }: KnownTools): Diagnostic[] {
  return agents.flatMap(({ config, path, places }) => {
    const named = namedIn(config.tools).flatMap((tool): Diagnostic[] => {
      const found = tool.startsWith('mcp__') ? ofServer(tool, servers) : unknownTool(tool)
      return found === undefined ? [] : [{ ...found, path, ...places?.get('tools') }]
    })
    const inText = mcpNamesIn(config.systemPrompt).flatMap((tool): Diagnostic[] => {
      const found = otherwiseCalled(tool, servers)
      return found === undefined ? [] : [{ ...found, path }]
    })
    return [...named, ...inText]
  })
}

type Problem = Pick<Diagnostic, 'code' | 'severity' | 'message' | 'hint'>

/** Without the patterns behind the names. */
function namedIn(tools: DefinedAgent['config']['tools']): string[] {
  const entries = (tools ?? []).filter((entry) => typeof entry === 'string')
  return [...new Set(entries.flatMap((entry) => parseAllowedTools(entry).map(({ tool }) => tool)))]
}

function unknownTool(name: string): Problem | undefined {
  if (/[*.:/]|__/.test(name)) return undefined
  const builtIns = knownBuiltIns()
  if (toolSelectors([name]).some(({ selects }) => builtIns.some(selects))) return undefined
  const names = builtIns.flatMap((tool) => [...(tool.aliases ?? []), tool.name])
  const meant = nearest(name, names)
  return {
    code: 'agent-tool-unknown',
    severity: 'warning',
    message: `\`tools\` names ${name}, and there is no built-in tool called so`,
    hint:
      meant === undefined
        ? `It counts only where a program brings it. Built in are ${names.join(', ')}.`
        : `Did you mean ${meant}?`,
  }
}

function ofServer(name: string, servers: readonly string[]): Problem | undefined {
  const read = readMcpName(name, servers)
  if (read === undefined) return undefined
  const { server, tool } = read
  if (!servers.includes(server)) return unknownServer(name, server.toLowerCase(), servers)
  if (tool === '' || tool.includes('*')) return undefined
  return {
    code: 'agent-tool-of-server',
    severity: 'info',
    message: `\`tools\` names ${name}, which is called ${server}.${tool} here`,
    hint: `The delegating agent needs the server: --mcp-server ${server}, or \`mcp\` in a program.`,
  }
}

/** The names that other clients give to tools of servers, in a prompt. */
function mcpNamesIn(prompt: DefinedAgent['config']['systemPrompt']): string[] {
  const text = typeof prompt === 'string' ? prompt : ''
  return [...new Set(text.match(/\bmcp__[\w-]*\w/g))]
}

function otherwiseCalled(name: string, servers: readonly string[]): Problem | undefined {
  const read = readMcpName(name, servers)
  if (read === undefined || read.tool === '') return undefined
  const called = wireName(`${read.server}.${read.tool}`)
  return {
    code: 'agent-text-tool',
    severity: 'info',
    message: `the text names ${name}, and the model has this tool as ${called}`,
    hint: `Write ${called}, so that the model finds it.`,
  }
}

function unknownServer(name: string, wanted: string, servers: readonly string[]): Problem {
  const meant = nearest(wanted, servers)
  const guess = meant === undefined ? '' : `Did you mean mcp__${meant}? `
  const list =
    servers.length === 0 ? 'None is configured.' : `Configured are ${servers.join(', ')}.`
  return {
    code: 'agent-server-unknown',
    severity: 'warning',
    message: `\`tools\` names ${name}, and there is no MCP server called ${wanted}`,
    hint: `${guess}${list}`,
  }
}

/**
 * Models of subagents that cannot be resolved. Only warnings, because a program may bring a provider of any
 * name, and other clients have names of their own for models.
 */
export function checkModels(agents: readonly DefinedAgent[]): Diagnostic[] {
  return agents.flatMap(({ config: { model }, path, places }): Diagnostic[] => {
    if (typeof model !== 'string') return []
    try {
      readModelName(model)
      return []
    } catch (error) {
      if (!(error instanceof SkillrailError)) throw error
      const { message, hint } = error
      const place = places?.get('model')
      return [{ code: 'agent-model-unknown', severity: 'warning', message, path, ...place, hint }]
    }
  })
}

/** Definitions that are never used, because another one in their folder has their name. */
export function checkNames(agents: readonly DefinedAgent[]): Diagnostic[] {
  const first = new Map<string, string>()
  return agents.flatMap(({ config: { name }, path }) => {
    const key = `${dirname(path)} ${name}`
    const other = first.get(key)
    if (other === undefined) first.set(key, path)
    return other === undefined ? [] : [sameName(name, other, path)]
  })
}

/** @param used the file whose definition counts. */
export function sameName(name: string, used: string, path: string): Diagnostic {
  const message = `the subagent ${name} is defined by ${used} too, which is used`
  return { code: 'agent-twice', severity: 'warning', message, path, hint: 'Rename one of them.' }
}
