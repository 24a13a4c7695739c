import { fitsText } from '#core/fits-text'
import { foldToolName } from '#core/mcp-names'
import type { Settings } from '#core/settings'
import { contractCategories } from '#tools/contract'
import {
  type GatedCall,
  type JsonObject,
  type Prerequisite,
  type ToolAlias,
  type WorkflowDefinition,
  workflowModes,
  type WorkflowTool,
} from './model.ts'

export interface MatchReason {
  by: 'tool' | 'category' | 'changes' | 'server' | 'keyword'
  value: string
}

export interface NotInstalled {
  workflow: string
  missing: readonly string[]
}

interface ActingWorkflow {
  workflow: WorkflowDefinition
  why: MatchReason
}

/** Finds the workflows before a call: never a disabled one, nor one that has the call as a prerequisite. */
export function matchWorkflows(
  call: GatedCall,
  workflows: readonly WorkflowDefinition[],
  installedTools: readonly WorkflowTool[],
) {
  const matches: ActingWorkflow[] = []
  const notInstalled: NotInstalled[] = []
  const keywordOnly: { workflow: string; keyword: string }[] = []
  for (const workflow of workflows) {
    if (!workflow.enabled || ownStep(call, workflow)) continue
    const reason = reasonFor(call, workflow, installedTools)
    if (!reason) continue
    if (reason.by === 'keyword' && !isInCategory(call, workflow, installedTools)) {
      keywordOnly.push({ workflow: workflow.name, keyword: reason.value })
      continue
    }
    const missing = missingTools(workflow, installedTools, call.tool)
    if (missing.length > 0) notInstalled.push({ workflow: workflow.name, missing })
    else matches.push({ workflow, why: reason })
  }
  const rankedMatches = matches.toSorted((a, b) => strictness(a) - strictness(b))
  const acting = withoutOtherCategories(call, rankedMatches)
  const otherMatches = rankedMatches.filter((match) => match !== acting[0])
  return {
    /** The strictest mode first. */
    acting,
    /** The first of them. */
    matched: acting[0]?.workflow,
    why: acting[0]?.why,
    also: otherMatches.map(({ workflow }) => workflow.name),
    notInstalled,
    /** A keyword is in the request, and the tool is outside the workflow's category. */
    keywordOnly,
  }
}

/** @param also all further matches; those that are not used belong to another category */
export function multipleLine(usedNames: readonly string[], also: readonly string[]): string {
  const quoteNames = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ')
  const otherNames = also.filter((name) => !usedNames.includes(name))
  const order = usedNames.length > 1 ? ', in this order' : ''
  const addition = otherNames.length > 0 ? ` Also matched: ${quoteNames(otherNames)}` : ''
  return `Multiple workflows matched. Using ${quoteNames(usedNames)}${order}.${addition}`
}

export function notInstalledLine({ workflow, missing }: NotInstalled): string {
  return `Workflow '${workflow}' is not enforced: no server here has ${missing.join(', ')}`
}

function strictness({ workflow: { mode } }: ActingWorkflow) {
  return workflowModes.indexOf(mode)
}

export function ownStep(call: GatedCall, workflow: WorkflowDefinition): Prerequisite | undefined {
  return workflow.prerequisites.find(({ tool }) => callsTool(call, tool, workflow))
}

function missingTools(
  workflow: WorkflowDefinition,
  installedTools: readonly WorkflowTool[],
  beside: WorkflowTool | undefined,
) {
  return workflow.prerequisites
    .filter(({ required }) => required)
    .filter(({ tool }) => resolveTool(tool, workflow, installedTools, beside) === undefined)
    .map(({ tool }) => tool)
}

/**
 * Leaves out workflows of another category if one of the tool's own category matches: servers for databases
 * and servers for GraphQL share the name `execute_query`. Only categories of the format count. A label, such
 * as the name of a server, does not say that a tool is something else.
 */
function withoutOtherCategories(
  { tool }: GatedCall,
  matches: readonly ActingWorkflow[],
): readonly ActingWorkflow[] {
  const isOfFormat = (category: string | undefined) =>
    contractCategories.some(({ name }) => name === category)
  const categoryOf = ({ workflow }: ActingWorkflow) => workflow.triggers.category
  const isOwn = (match: ActingWorkflow) => categoryOf(match) === tool.category
  if (!isOfFormat(tool.category) || !matches.some(isOwn)) return matches
  return matches.filter((match) => isOwn(match) || !isOfFormat(categoryOf(match)))
}

function reasonFor(
  call: GatedCall,
  workflow: WorkflowDefinition,
  installedTools: readonly WorkflowTool[],
): MatchReason | undefined {
  const { server, category, tools = [], changes = false, keywords = [] } = workflow.triggers
  if (server !== undefined && server !== call.tool.server) return undefined
  const tool = tools.find((name) => callsTool(call, name, workflow))
  if (tool !== undefined) return { by: 'tool', value: tool }
  if (category !== undefined && category === call.tool.category) {
    return { by: 'category', value: category }
  }
  if (changes && mayChange(call, workflow, installedTools)) {
    return { by: 'changes', value: call.tool.name }
  }
  const isWhole = !changes && category === undefined && tools.length + keywords.length === 0
  if (server !== undefined && isWhole) return { by: 'server', value: server }
  const keyword = call.request === undefined ? undefined : findKeyword(call.request, keywords)
  return keyword === undefined ? undefined : { by: 'keyword', value: keyword }
}

/**
 * Whether a tool is not known to be read-only, and its own server has everything that the workflow
 * requires.
 */
function mayChange(
  { tool }: GatedCall,
  workflow: WorkflowDefinition,
  installedTools: readonly WorkflowTool[],
) {
  const { readOnly = false } = installedTools.find(({ id }) => id === tool.id) ?? tool
  const beside = installedTools.filter((one) => isBeside(one, tool))
  const has = (name: string) =>
    namesFor(name, workflow).some((alias) => beside.some((one) => isNamed(one, alias.tool)))
  const requiredSteps = workflow.prerequisites.filter((step) => step.required)
  return !readOnly && requiredSteps.length > 0 && requiredSteps.every((step) => has(step.tool))
}

/** Whether a tool belongs to the workflow's category, or else to a category or server of its tools. */
function isInCategory(
  call: GatedCall,
  workflow: WorkflowDefinition,
  installedTools: readonly WorkflowTool[],
) {
  const { triggers, prerequisites } = workflow
  if (triggers.category !== undefined) return triggers.category === call.tool.category
  const names = [...prerequisites.map(({ tool }) => tool), ...(triggers.tools ?? [])]
  const aliases = names.flatMap((name) => namesFor(name, workflow))
  const tools = installedTools.filter((tool) => aliases.some((alias) => isNamed(tool, alias.tool)))
  return tools.some(
    ({ category, server }) =>
      server === call.tool.server || (category !== undefined && category === call.tool.category),
  )
}

/** The first keyword that the text contains as whole words: `form` is not in `information`. */
export function findKeyword(text: string, keywords: readonly string[]): string | undefined {
  const words = ` ${wordsOf(text).join(' ')} `
  return keywords.find((keyword) => {
    const phrase = wordsOf(keyword)
    return phrase.length > 0 && words.includes(` ${phrase.join(' ')} `)
  })
}

const maxLength = 100_000

function wordsOf(text: string): readonly string[] {
  return (
    text
      .slice(0, maxLength)
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}\p{M}]+/gu) ?? []
  )
}

interface ResolvedTool {
  tool: WorkflowTool
  params: JsonObject
}

/** Lower case, with `_` for `-`, because servers spell one name differently. */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}

/** Letters and digits only: `pull_number` and `pullNumber` are one parameter. */
export function foldParameter(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** Returns a tool's name without the servers before it: `click` for `MetaMCP_chrome__click`. */
export function lastSegment(name: string): string {
  const at = name.lastIndexOf('__')
  return at > 0 && at + 2 < name.length ? name.slice(at + 2) : name
}

/** Whether a name in a workflow means a tool: its ID, its name or the last segment. */
export function isNamed(tool: WorkflowTool, name: string): boolean {
  if (tool.id === name) return true
  const foldedName = foldName(name)
  const names = [tool.name, lastSegment(tool.name)].map(foldName)
  if (!name.includes('*')) return names.includes(foldedName)
  return matchesName(name, tool.id) || names.some((one) => matchesName(foldedName, one))
}

/** Returns the tools that a name in a workflow means: the tool of that name, then its `aliases`. */
export function namesFor(
  name: string,
  { aliases = {} }: Pick<WorkflowDefinition, 'aliases'>,
): readonly ToolAlias[] {
  const entries = Object.entries(aliases).filter(([key]) => foldName(key) === foldName(name))
  return [{ tool: name }, ...entries.flatMap(([, tools]) => tools)]
}

export function callsTool(
  call: GatedCall,
  name: string,
  workflow: Pick<WorkflowDefinition, 'aliases'>,
): boolean {
  return namesFor(name, workflow).some(
    (alias) => isNamed(call.tool, alias.tool) && hasParams(call.params, alias.params),
  )
}

/**
 * Finds the installed tool for a prerequisite. A tool beside the caller's tool, below the same prefix of an
 * aggregating server, takes precedence. A server that the workflow itself applies to counts only if the
 * name is a whole ID.
 */
export function resolveTool(
  name: string,
  workflow: Pick<WorkflowDefinition, 'triggers' | 'aliases'>,
  installedTools: readonly WorkflowTool[],
  beside: WorkflowTool | undefined,
): ResolvedTool | undefined {
  const { server, category, tools = [] } = workflow.triggers
  for (const alias of namesFor(name, workflow)) {
    const candidates = installedTools.filter(
      (tool) => isNamed(tool, alias.tool) && (server ?? tool.server) === tool.server,
    )
    const match = beside ? nearest(candidates, beside) : candidates[0]
    if (match) return { tool: match, params: alias.params ?? {} }
  }
  return undefined

  function nearest(candidates: readonly WorkflowTool[], caller: WorkflowTool) {
    const { server: ownServer } = caller
    const sibling = candidates.find((tool) => isBeside(tool, caller))
    if (sibling) return sibling
    const allowedCandidates = candidates.filter(
      (tool) => ownServer === '' || tool.id === name || !hasTrigger(tool),
    )
    return allowedCandidates.find((tool) => tool.server === ownServer) ?? allowedCandidates[0]
  }

  function hasTrigger(other: WorkflowTool) {
    return installedTools
      .filter((tool) => isBeside(tool, other))
      .some(
        (tool) =>
          (category !== undefined && tool.category === category) ||
          tools.some((one) => callsTool({ tool, params: {} }, one, workflow)),
      )
  }
}

function isBeside(a: WorkflowTool, b: WorkflowTool) {
  return prefixOf(a) === prefixOf(b)
}

function prefixOf({ id }: WorkflowTool) {
  return id.slice(0, Math.max(0, id.lastIndexOf('__')))
}

function hasParams(params: JsonObject, expected: JsonObject | undefined) {
  return Object.entries(expected ?? {}).every(([key, value]) => params[key] === value)
}

/** Settings of the user and the project for tools, by patterns of their IDs. */
export type ToolPermissions = Pick<Settings['tools'], 'allow' | 'ask' | 'deny' | 'readOnly'>

/** Returns the strictest setting; undefined if there is none, so that only hints and names decide. */
export function permissionOf(
  id: string,
  permissions: ToolPermissions | undefined,
): 'deny' | 'ask' | 'allow' | undefined {
  if (!permissions) return undefined
  if (isRestricted(id, permissions.deny)) return 'deny'
  if (isRestricted(id, permissions.ask)) return 'ask'
  return matchesAny(permissions.allow, id) ? 'allow' : undefined
}

/** The prefixes with which clients write the IDs of tools. */
export const clientPrefix = /^(?:mcp__|MetaMCP__?)+/i

/**
 * Whether a list that restricts has a tool: under its ID, its name without the server, a client's name for
 * it, or the name of its server. Case and punctuation do not count, so that another spelling of a tool does
 * not allow what the user denied.
 */
export function isRestricted(id: string, patterns: readonly string[]): boolean {
  if (patterns.length === 0) return false
  const places = [...id.matchAll(/__/g)].map(({ index }) => index).filter((at) => at > 0)
  const servers = places.map((at) => foldToolName(id.slice(0, at)))
  const names = [
    id,
    ...places.map((at) => id.slice(at + 2)),
    ...places.map((at) => `${id.slice(0, at)}_${id.slice(at + 2)}`),
  ].map(foldToolName)
  const written = patterns
    .flatMap((pattern) => [
      pattern,
      pattern.replace(clientPrefix, ''),
      pattern.replace(/^mcp_/i, ''),
    ])
    .flatMap((pattern) => [pattern, pattern.replaceAll(/[.:/]/g, '__')])
    .map(foldToolName)
  return written.some(
    (pattern) =>
      names.some((name) => fitsText(name, pattern)) ||
      (!pattern.includes('*') && servers.includes(pattern)),
  )
}

export function isDeclaredReadOnly(id: string, permissions: ToolPermissions | undefined): boolean {
  return permissions !== undefined && matchesAny(permissions.readOnly, id)
}

export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesName(pattern, name))
}

/** Whether a name matches a pattern, in which `*` matches any characters. */
export function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first) || name.length < first.length + last.length) return false
  let from = first.length
  const end = name.length - last.length
  for (const part of parts) {
    const start = name.indexOf(part, from)
    if (start < 0 || start + part.length > end) return false
    from = start + part.length
  }
  return name.endsWith(last)
}
