import type { Settings } from '#core/settings'
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

/** Finds the workflows before a call; never a disabled one, or one whose prerequisite it is. */
export function matchWorkflows(
  call: GatedCall,
  workflows: readonly WorkflowDefinition[],
  installed: readonly WorkflowTool[],
) {
  const matches: ActingWorkflow[] = []
  const notInstalled: NotInstalled[] = []
  const keywordOnly: { workflow: string; keyword: string }[] = []
  for (const workflow of workflows) {
    if (!workflow.enabled || ownStep(call, workflow)) continue
    const found = reasonFor(call, workflow, installed)
    if (!found) continue
    if (found.by === 'keyword' && !isInCategory(call, workflow, installed)) {
      keywordOnly.push({ workflow: workflow.name, keyword: found.value })
      continue
    }
    const missing = missingTools(workflow, installed, call.tool)
    if (missing.length > 0) notInstalled.push({ workflow: workflow.name, missing })
    else matches.push({ workflow, why: found })
  }
  const ranked = matches.toSorted((a, b) => strictness(a) - strictness(b))
  const own = ranked.filter(({ workflow }) => !isOfAnotherCategory(call, workflow))
  const acting = own.length > 0 ? own : ranked
  const others = ranked.filter((match) => match !== acting[0])
  return {
    /** The strictest mode first. One of another category only where no other matches. */
    acting,
    /** The first of them. */
    matched: acting[0]?.workflow,
    why: acting[0]?.why,
    also: others.map(({ workflow }) => workflow.name),
    notInstalled,
    /** A keyword is in the request, and the tool is outside the workflow's category. */
    keywordOnly,
  }
}

/** @param also all others that match; those that are not used belong to another category */
export function multipleLine(used: readonly string[], also: readonly string[]): string {
  const listed = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ')
  const others = also.filter((name) => !used.includes(name))
  const order = used.length > 1 ? ', in this order' : ''
  const rest = others.length > 0 ? ` Also matched: ${listed(others)}` : ''
  return `Multiple workflows matched. Using ${listed(used)}${order}.${rest}`
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
  installed: readonly WorkflowTool[],
  beside: WorkflowTool | undefined,
) {
  return workflow.prerequisites
    .filter(({ required }) => required)
    .filter(({ tool }) => resolveTool(tool, workflow, installed, beside) === undefined)
    .map(({ tool }) => tool)
}

/** `execute_query` is a name that servers for databases and for GraphQL share. */
function isOfAnotherCategory({ tool }: GatedCall, { triggers: { category } }: WorkflowDefinition) {
  return category !== undefined && tool.category !== undefined && category !== tool.category
}

function reasonFor(
  call: GatedCall,
  workflow: WorkflowDefinition,
  installed: readonly WorkflowTool[],
): MatchReason | undefined {
  const { server, category, tools = [], changes = false, keywords = [] } = workflow.triggers
  if (server !== undefined && server !== call.tool.server) return undefined
  const tool = tools.find((name) => callsTool(call, name, workflow))
  if (tool !== undefined) return { by: 'tool', value: tool }
  if (category !== undefined && category === call.tool.category) {
    return { by: 'category', value: category }
  }
  if (changes && mayChange(call, workflow, installed)) {
    return { by: 'changes', value: call.tool.name }
  }
  const isWhole = !changes && category === undefined && tools.length + keywords.length === 0
  if (server !== undefined && isWhole) return { by: 'server', value: server }
  const keyword = call.request === undefined ? undefined : findKeyword(call.request, keywords)
  return keyword === undefined ? undefined : { by: 'keyword', value: keyword }
}

/** Whether a tool is not known to read only, and its own server has what the workflow requires. */
function mayChange(
  { tool }: GatedCall,
  workflow: WorkflowDefinition,
  installed: readonly WorkflowTool[],
) {
  const { readOnly = false } = installed.find(({ id }) => id === tool.id) ?? tool
  const beside = installed.filter((one) => isBeside(one, tool))
  const has = (name: string) =>
    namesFor(name, workflow).some((alias) => beside.some((one) => isNamed(one, alias.tool)))
  const required = workflow.prerequisites.filter((step) => step.required)
  return !readOnly && required.length > 0 && required.every((step) => has(step.tool))
}

/** Whether a tool is of the workflow's category, else of a category or server of its tools. */
function isInCategory(
  call: GatedCall,
  workflow: WorkflowDefinition,
  installed: readonly WorkflowTool[],
) {
  const { triggers, prerequisites } = workflow
  if (triggers.category !== undefined) return triggers.category === call.tool.category
  const names = [...prerequisites.map(({ tool }) => tool), ...(triggers.tools ?? [])]
  const all = names.flatMap((name) => namesFor(name, workflow))
  const tools = installed.filter((tool) => all.some((alias) => isNamed(tool, alias.tool)))
  return tools.some(
    ({ category, server }) =>
      server === call.tool.server || (category !== undefined && category === call.tool.category),
  )
}

/** The first keyword that the text contains as whole words: `form` is not in `information`. */
export function findKeyword(text: string, keywords: readonly string[]): string | undefined {
  const words = ` ${wordsOf(text).join(' ')} `
  return keywords.find((keyword) => {
    const wanted = wordsOf(keyword)
    return wanted.length > 0 && words.includes(` ${wanted.join(' ')} `)
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

/** Small letters, `-` as `_`: how servers spell one name differently. */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll('-', '_')
}

/** Letters and digits only: `pull_number` and `pullNumber` are one parameter. */
export function foldParameter(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/** A tool's name without the servers before it: `MetaMCP_chrome__click` is `click`. */
export function lastSegment(name: string): string {
  const at = name.lastIndexOf('__')
  return at > 0 && at + 2 < name.length ? name.slice(at + 2) : name
}

/** Whether a tool is meant by a name in a workflow: its id, its name, or the last segment. */
export function isNamed(tool: WorkflowTool, name: string): boolean {
  if (tool.id === name) return true
  const wanted = foldName(name)
  const names = [tool.name, lastSegment(tool.name)].map(foldName)
  if (!name.includes('*')) return names.includes(wanted)
  return matchesName(name, tool.id) || names.some((one) => matchesName(wanted, one))
}

/** The tools that a workflow means by a name: the tool of that name, then its `aliases`. */
export function namesFor(
  name: string,
  { aliases = {} }: Pick<WorkflowDefinition, 'aliases'>,
): readonly ToolAlias[] {
  const others = Object.entries(aliases).filter(([key]) => foldName(key) === foldName(name))
  return [{ tool: name }, ...others.flatMap(([, tools]) => tools)]
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
 * The installed tool for a prerequisite: beside the caller's tool, below the same prefix of an
 * aggregating server; else elsewhere, but not on a server that the workflow stands for itself,
 * unless it names the whole id.
 */
export function resolveTool(
  name: string,
  workflow: Pick<WorkflowDefinition, 'triggers' | 'aliases'>,
  installed: readonly WorkflowTool[],
  beside: WorkflowTool | undefined,
): ResolvedTool | undefined {
  const { server, category, tools = [] } = workflow.triggers
  for (const alias of namesFor(name, workflow)) {
    const named = installed.filter(
      (tool) => isNamed(tool, alias.tool) && (server ?? tool.server) === tool.server,
    )
    const found = beside ? nearest(named, beside) : named[0]
    if (found) return { tool: found, params: alias.params ?? {} }
  }
  return undefined

  function nearest(named: readonly WorkflowTool[], caller: WorkflowTool) {
    const { server: own } = caller
    const found = named.find((tool) => isBeside(tool, caller))
    if (found) return found
    const free = named.filter((tool) => own === '' || tool.id === name || !hasTrigger(tool))
    return free.find((tool) => tool.server === own) ?? free[0]
  }

  function hasTrigger(other: WorkflowTool) {
    return installed
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

function hasParams(params: JsonObject, wanted: JsonObject | undefined) {
  return Object.entries(wanted ?? {}).every(([key, value]) => params[key] === value)
}

/** What the user and the project say of tools, by patterns of their IDs. */
export type ToolPermissions = Pick<Settings['tools'], 'allow' | 'ask' | 'deny' | 'readOnly'>

/** The strictest that is said; undefined where only hints and names tell. */
export function permissionOf(
  id: string,
  permissions: ToolPermissions | undefined,
): 'deny' | 'ask' | 'allow' | undefined {
  if (!permissions) return undefined
  return (['deny', 'ask', 'allow'] as const).find((one) => matchesAny(permissions[one], id))
}

export function isDeclaredReadOnly(id: string, permissions: ToolPermissions | undefined): boolean {
  return permissions !== undefined && matchesAny(permissions.readOnly, id)
}

export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchesName(pattern, name))
}

/** Whether a name fits a pattern, in which `*` stands for any characters. */
export function matchesName(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first) || name.length < first.length + last.length) return false
  let from = first.length
  const end = name.length - last.length
  for (const part of rest) {
    const found = name.indexOf(part, from)
    if (found < 0 || found + part.length > end) return false
    from = found + part.length
  }
  return name.endsWith(last)
}
