import { ownMember } from '#core/json'
import type { Settings } from '#core/settings'
import {
  type GatedCall,
  type JsonObject,
  type Prerequisite,
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

export function multipleLine(name: string, also: readonly string[]): string {
  const others = also.map((other) => `'${other}'`).join(', ')
  return `Multiple workflows matched. Using '${name}'. Also matched: ${others}`
}

export function notInstalledLine({ workflow, missing }: NotInstalled): string {
  return `Workflow '${workflow}' is not enforced: no server here has ${missing.join(', ')}`
}

function strictness({ workflow: { mode } }: ActingWorkflow) {
  return workflowModes.indexOf(mode)
}

export function ownStep(
  call: GatedCall,
  { prerequisites, triggers }: WorkflowDefinition,
): Prerequisite | undefined {
  return prerequisites.find(({ tool }) => callsTool(call, tool, triggers.category))
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
  const tool = tools.find((name) => callsTool(call, name, category))
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
  { prerequisites, triggers: { category } }: WorkflowDefinition,
  installed: readonly WorkflowTool[],
) {
  const { readOnly = false } = installed.find(({ id }) => id === tool.id) ?? tool
  const beside = installed.filter((one) => isBeside(one, tool))
  const has = (name: string) =>
    namesFor(name, category).some((alias) => beside.some((one) => isNamed(one, alias.name)))
  const required = prerequisites.filter((step) => step.required)
  return !readOnly && required.length > 0 && required.every((step) => has(step.tool))
}

/** Whether a tool is of the workflow's category, else of a category or server of its tools. */
function isInCategory(
  call: GatedCall,
  { triggers, prerequisites }: WorkflowDefinition,
  installed: readonly WorkflowTool[],
) {
  if (triggers.category !== undefined) return triggers.category === call.tool.category
  const names = [...prerequisites.map(({ tool }) => tool), ...(triggers.tools ?? [])]
  const tools = installed.filter((tool) => names.some((name) => isNamed(tool, name)))
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

/** The names that stand for `name` in workflows of a category, its own first. */
export function namesFor(name: string, category: string | undefined): readonly ToolAlias[] {
  const aliases = ownMember(toolAliases, category ?? '') ?? {}
  const others = ownMember(aliases, foldName(name)) ?? []
  const named = others.map((alias) => (typeof alias === 'string' ? { name: alias } : alias))
  return [{ name }, ...named]
}

export function callsTool(call: GatedCall, name: string, category: string | undefined): boolean {
  return namesFor(name, category).some(
    (alias) => isNamed(call.tool, alias.name) && hasParams(call.params, alias.params),
  )
}

/**
 * The installed tool for a prerequisite: beside the caller's tool, below the same prefix of an
 * aggregating server; else elsewhere, but not on a server that the workflow stands for itself,
 * unless it names the whole id.
 */
export function resolveTool(
  name: string,
  { triggers }: Pick<WorkflowDefinition, 'triggers'>,
  installed: readonly WorkflowTool[],
  beside: WorkflowTool | undefined,
): ResolvedTool | undefined {
  const { server, category, tools = [] } = triggers
  for (const alias of namesFor(name, category)) {
    const named = installed.filter(
      (tool) => isNamed(tool, alias.name) && (server ?? tool.server) === tool.server,
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
          tools.some((one) => callsTool({ tool, params: {} }, one, category)),
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

interface ToolAlias {
  name: string
  params?: JsonObject | undefined
}

type Aliases = Readonly<Record<string, readonly (ToolAlias | string)[]>>

/** Other names of tools by category; the tool that a workflow names itself comes first. */
const toolAliases: Readonly<Record<string, Aliases>> = {
  browser: {
    click: ['browser_click'],
    fill: ['browser_type'],
    fill_form: ['browser_fill_form'],
    take_snapshot: ['browser_snapshot'],
    navigate_page: ['browser_navigate', 'browser_navigate_back'],
    new_page: ['browser_tabs'],
    select_page: ['browser_tabs'],
    close_page: ['browser_close'],
  },
  database: {
    // mcp-server-sqlite-npx, @bytebase/dbhub
    execute_query: ['execute_sql', 'write_query', 'query'],
    select_query: ['read_query'],
    inspect_table: ['describe_table'],
    get_indexes: ['list_indexes'],
  },
  github: {
    // github/github-mcp-server put the readers of a pull request into one tool
    get_pull_request: [{ name: 'pull_request_read', params: { method: 'get' } }],
    get_pull_request_files: [{ name: 'pull_request_read', params: { method: 'get_files' } }],
    get_pull_request_status: [{ name: 'pull_request_read', params: { method: 'get_status' } }],
    create_pull_request_review: [
      'pull_request_review_write',
      'create_and_submit_pull_request_review',
    ],
  },
  graphql: {
    // mcp-graphql
    get_schema: ['introspect-schema', 'get_graphql_schema'],
    execute_query: ['query-graphql'],
    execute_mutation: ['query-graphql'],
  },
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
