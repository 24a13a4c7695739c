import type { GatedCall, Prerequisite, WorkflowDefinition, WorkflowTool } from './model.ts'
import { callsTool, resolveTool } from './tool-names.ts'

export interface MatchReason {
  by: 'tool' | 'category' | 'keyword'
  value: string
}

/** A matching workflow whose required tools are not all installed. */
export interface NotInstalled {
  workflow: string
  missing: readonly string[]
}

export interface WorkflowMatch {
  /**
   * The first that matches, in the order of definition; a workflow of another category comes last.
   */
  matched?: WorkflowDefinition | undefined
  why?: MatchReason | undefined
  also: readonly string[]
  notInstalled: readonly NotInstalled[]
  /** A keyword is in the request, and the tool is outside the workflow's category. */
  keywordOnly: readonly { workflow: string; keyword: string }[]
}

/**
 * Finds the workflow that stands before a call. A disabled one never matches, and none matches a
 * call of one of its own prerequisites.
 */
export function matchWorkflows(
  call: GatedCall,
  workflows: readonly WorkflowDefinition[],
  installed: readonly WorkflowTool[],
): WorkflowMatch {
  const matches: { workflow: WorkflowDefinition; why: MatchReason }[] = []
  const notInstalled: NotInstalled[] = []
  const keywordOnly: { workflow: string; keyword: string }[] = []
  for (const workflow of workflows) {
    if (!workflow.enabled || ownStep(call, workflow) !== undefined) continue
    const found = reasonFor(call, workflow)
    if (found === undefined) continue
    if (found.by === 'keyword' && !isInCategory(call, workflow, installed)) {
      keywordOnly.push({ workflow: workflow.name, keyword: found.value })
      continue
    }
    const missing = missingTools(workflow, installed, call.tool)
    if (missing.length > 0) notInstalled.push({ workflow: workflow.name, missing })
    else matches.push({ workflow, why: found })
  }
  const isForeign = ({ workflow }: { workflow: WorkflowDefinition }): boolean =>
    isOfAnotherCategory(call, workflow)
  const [first, ...others] = [
    ...matches.filter((match) => !isForeign(match)),
    ...matches.filter(isForeign),
  ]
  return {
    matched: first?.workflow,
    why: first?.why,
    also: others.map(({ workflow }) => workflow.name),
    notInstalled,
    keywordOnly,
  }
}

/** The prerequisite that a call itself is. */
export function ownStep(
  call: GatedCall,
  { prerequisites, triggers }: WorkflowDefinition,
): Prerequisite | undefined {
  return prerequisites.find(({ tool }) => callsTool(call, tool, triggers.category))
}

/** Required tools of a workflow that no installed server has. */
function missingTools(
  { prerequisites, triggers }: WorkflowDefinition,
  installed: readonly WorkflowTool[],
  beside: WorkflowTool | undefined,
): string[] {
  return prerequisites
    .filter(({ required }) => required)
    .filter(({ tool }) => resolveTool(tool, triggers.category, installed, beside) === undefined)
    .map(({ tool }) => tool)
}

/** `execute_query` is a name that servers for databases and for GraphQL share. */
export function isOfAnotherCategory(
  { tool }: GatedCall,
  { triggers: { category } }: WorkflowDefinition,
): boolean {
  return category !== undefined && tool.category !== undefined && category !== tool.category
}

function reasonFor(call: GatedCall, { triggers }: WorkflowDefinition): MatchReason | undefined {
  const { category, tools = [], keywords = [] } = triggers
  const tool = tools.find((name) => callsTool(call, name, category))
  if (tool !== undefined) return { by: 'tool', value: tool }
  if (category !== undefined && category === call.tool.category) {
    return { by: 'category', value: category }
  }
  const keyword = call.request === undefined ? undefined : findKeyword(call.request, keywords)
  return keyword === undefined ? undefined : { by: 'keyword', value: keyword }
}

/**
 * Whether the selected tool belongs to the workflow: to its category, else to a category or a
 * server of its tools.
 */
function isInCategory(
  call: GatedCall,
  { triggers, prerequisites }: WorkflowDefinition,
  installed: readonly WorkflowTool[],
): boolean {
  if (triggers.category !== undefined) return triggers.category === call.tool.category
  const names = [...prerequisites.map(({ tool }) => tool), ...(triggers.tools ?? [])]
  const tools = names.flatMap(
    (name) => resolveTool(name, undefined, installed, call.tool)?.tool ?? [],
  )
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
