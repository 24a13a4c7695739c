import { defineCommand, option, type Screen } from '#core/command'
import { type Diagnostic, type ExitCode, exitCode } from '#core/errors'
import { amount, cell, didYouMean, linesText, safeLine, safeText } from '#core/text'
import type { ToolCaution, ToolIndex, ToolIndexLoading } from '#tools/cache/tool-index'
import { canonicalCategory } from '#tools/category/categorise'
import type { ServerConfiguration } from '#tools/config/model'
import { ToolError } from '#tools/errors'
import type { ToolDefinition, ToolSummary } from '#tools/model'
import { schemaFault } from '#tools/schema/usable-schema'
import { projectRouter } from '#tools/route/router'
import { ServerNotFoundError } from '#tools/server/errors'
import {
  denials,
  hearing,
  loadProjectTools,
  listableTools,
  sayUnasked,
  serverConfiguration,
  type ToolContext,
  toolNamed,
} from '#tools/project-tools'
import { unavailableNotes } from './servers.ts'
import { describeParameters } from '#tools/cache/describe-parameters'
import { cautionMark, cautionText, hintText, type ToolFacts, toolFacts } from '#tools/tool-facts'

interface ListResult extends Pick<ToolIndexLoading, 'path' | 'state' | 'diagnostics'> {
  refreshedAt: ToolIndex['refreshedAt']
  servers: ToolIndex['servers']
  categories: readonly ListedCategory[]
  tools: readonly ListedTool[]
}

/** A category with the IDs of its listed tools. */
interface ListedCategory {
  name: string
  description: string
  keywords: readonly string[]
  tools: readonly string[]
}

interface ListedTool extends ToolSummary {
  caution: ToolCaution | undefined
  /** Present where the configuration of the server, or the setting `tools.deny`, forbids every call. */
  denied?: true | undefined
}

interface Filter {
  category?: string | undefined
  server?: string | undefined
  changed: boolean
}

export const list = defineCommand<ListResult>()({
  options: {
    category: option.text('--category <name>', 'only of this category, also by another name'),
    server: option.text('--server <name>', 'only of this server'),
    changed: option.flag('--changed', 'only those added or changed since they were accepted'),
  },
  examples: ['tools list --category browser'],
  run: listTools,
  render: ({ categories, tools }, screen) => {
    const byId = new Map(tools.map((tool) => [tool.id, tool]))
    return categories.map((category) => categoryText(category, byId, screen)).join('')
  },
  notes({ servers, tools, diagnostics }) {
    const isFiltered = tools.length === 0 && servers.some(({ toolCount }) => toolCount > 0)
    const named = new Set(tools.map(({ server }) => server))
    return [
      diagnostics,
      isFiltered && 'There are no such tools. `skillrail tools refresh` looks for more.',
      unavailableNotes(servers),
      `${amount(tools.length, 'tool')} of ${amount(named.size, 'server')}`,
    ]
  },
})

async function listTools(context: ToolContext, filter: Filter): Promise<ListResult> {
  const { found, diagnostics } = await hearing(context, listableTools)
  const { index, state, path } = found
  requireKnown(filter, index, serverConfiguration(context))
  const tools = select(index, filter)
  const isDenied = denials(context)
  sayUnasked(context)
  return {
    path,
    state,
    refreshedAt: index.refreshedAt,
    servers: index.servers,
    categories: categoriesOf(index, tools),
    tools: tools.map((tool) => listed(tool, index, isDenied)),
    diagnostics,
  }
}

function listed(
  tool: ToolSummary,
  { caution }: ToolIndex,
  isDenied: (tool: ToolSummary) => boolean,
): ListedTool {
  return { ...tool, caution: caution(tool.id), ...(isDenied(tool) && { denied: true }) }
}

function mark({ caution, denied }: ListedTool): string {
  return denied ? 'denied' : cautionMark(caution)
}

function requireKnown(
  { category, server }: Filter,
  index: ToolIndex,
  configuration: ServerConfiguration,
): void {
  const servers = [...index.servers, ...configuration.servers].map(({ name }) => name)
  if (server !== undefined && !servers.includes(server)) {
    throw new ServerNotFoundError(server, [...new Set(servers)])
  }
  if (category === undefined || index.tools.length === 0) return
  const categories = categoriesOf(index, index.tools).map(({ name }) => name)
  if (categories.includes(canonicalCategory(category))) return
  throw new ToolError({
    code: 'category-not-found',
    message: `No tool here is in a category ${category}`,
    hint: `${didYouMean(category, categories)} There are: ${categories.join(', ')}.`.trim(),
    exitCode: exitCode.notFound,
  })
}

function select(index: ToolIndex, { category, server, changed }: Filter): ToolSummary[] {
  const categoryName = category === undefined ? undefined : canonicalCategory(category)
  return index.tools.filter(
    (tool) =>
      (categoryName === undefined || categoryOf(tool) === categoryName) &&
      (server === undefined || tool.server === server) &&
      (!changed || index.caution(tool.id)?.kind === 'changed'),
  )
}

function categoryOf({ category = 'uncategorized' }: ToolSummary) {
  return category
}

function categoriesOf(index: ToolIndex, tools: readonly ToolSummary[]): ListedCategory[] {
  const last = { name: 'uncategorized', description: 'In no category.', keywords: [] }
  return [...index.categories, last].flatMap((category) => {
    const toolsOfCategory = tools.filter((tool) => categoryOf(tool) === category.name)
    return toolsOfCategory.length === 0
      ? []
      : [{ ...category, tools: toolsOfCategory.map(({ id }) => id) }]
  })
}

function categoryText(
  { name, description, tools }: ListedCategory,
  byId: ReadonlyMap<string, ListedTool>,
  screen: Screen,
) {
  const head = `${screen.style('bold', safeLine(name))}  ${screen.style('dim', safeLine(description))}`
  const rows = tools.map((id) => {
    const tool = byId.get(id)
    const word = screen.style('yellow', tool ? mark(tool) : '')
    return [`  ${safeLine(id)}`, word, cell(tool?.description ?? '', screen.width - 40)]
  })
  return `${head}\n${screen.table(rows)}\n`
}

interface SearchResult extends Pick<ToolIndexLoading, 'state' | 'diagnostics'> {
  query: string
  tools: readonly (ListedTool & { score: number })[]
  /** The exit code if no tool matches: 4 if a server is not trusted, so it was not asked. */
  notFound: ExitCode | undefined
  /** Present if no tool matches. */
  error?: { code: string; message: string; hint: string } | undefined
}

export const search = defineCommand<SearchResult>()({
  arguments: { '<words...>': 'what the tool should do, or parts of its name' },
  options: {
    limit: option.integer('--limit <number>', 'maximum number of tools', {
      least: 1,
      most: 1000,
      default: 10,
    }),
  },
  examples: ['tools search take a screenshot'],
  run: searchTools,
  exitCode: ({ notFound = exitCode.done }) => notFound,
  render: ({ tools }, screen) =>
    screen.table(
      tools.map((tool) => [
        safeLine(tool.id),
        screen.style('dim', safeLine(tool.category ?? '')),
        screen.style('yellow', mark(tool)),
        cell(tool.description, screen.width - 50),
      ]),
    ),
  notes: ({ tools, diagnostics }) => [
    diagnostics,
    tools.length === 0 && `${noMatch.message}. ${noMatch.hint}`,
  ],
})

const noMatch = {
  code: 'tool-not-found',
  message: 'No tool matches',
  hint: '`skillrail tools list` shows all.',
}

async function searchTools(
  context: ToolContext,
  { arguments: words, limit }: { arguments: readonly string[]; limit: number },
): Promise<SearchResult> {
  const query = words.join(' ')
  const { found, diagnostics } = await hearing(context, loadProjectTools)
  const { index, state } = found
  const isDenied = denials(context)
  const tools = projectRouter(index)
    .route(query, { limit })
    .candidates.flatMap(({ tool: id, score }) => {
      const tool = index.tool(id)
      return tool ? [{ ...listed(tool, index, isDenied), score }] : []
    })
  const notFound = tools.length === 0 ? sayUnasked(context) : undefined
  const error = notFound === undefined ? undefined : noMatch
  return { query, state, tools, diagnostics, notFound, error }
}

interface ShowResult extends ToolFacts {
  diagnostics: readonly Diagnostic[]
}

export const show = defineCommand<ShowResult>()({
  arguments: { '<tool>': 'SERVER__TOOL, or a name that only one server has' },
  options: {},
  examples: ['tools show github__list_issues'],
  async run(context, { arguments: [name = ''] }) {
    const { found, diagnostics } = await hearing(context, async (heard) => {
      const projectTools = await loadProjectTools(heard)
      return { ...(await toolNamed(name, projectTools, heard)), project: projectTools.project }
    })
    const { tool, index, project } = found
    // The user reads it before accepting it.
    const definition = index.reviewed(tool.id)
    const findings: readonly Diagnostic[] = [...diagnostics, ...schemaFindings(definition)]
    return { ...toolFacts(tool, index, project), definition, diagnostics: findings }
  },
  render(result, screen) {
    const { tool, caution, definition, guards } = result
    const table = screen.table([
      ['Server', safeLine(tool.server)],
      ['Category', safeLine(tool.category ?? 'none')],
      ['Only reads', tool.readOnly === true ? 'yes' : 'no'],
      ['Hints', hintText(definition) || 'none'],
      ...guards.map(({ name, mode, first }) => [
        'Workflow',
        safeLine(`${name} [${mode}], first: ${first.join(', ')}`),
      ]),
    ])
    const warning = caution && screen.style('yellow', safeText(cautionText(caution, definition)))
    const examples = (tool.examples ?? []).map((example) => `  ${safeLine(example)}`)
    return [
      `${screen.style('bold', safeLine(tool.id))}\n`,
      `${safeText((definition?.description ?? tool.description).trim())}\n\n`,
      table,
      warning === undefined ? '' : `${warning}\n`,
      `\n${parametersText(result, screen)}`,
      examples.length === 0 ? '' : linesText(['\nExamples', ...examples]),
    ].join('')
  },
  notes: ({ definition, diagnostics }) => [
    diagnostics,
    definition === undefined && 'The full schema comes with `skillrail tools refresh`.',
  ],
})

function schemaFindings(definition: ToolDefinition | undefined): Diagnostic[] {
  const fault = definition && schemaFault(definition.inputSchema)
  if (definition === undefined || fault === undefined) return []
  const message = `${definition.id} is not offered to agents: ${fault}`
  return [{ code: 'input-schema-unusable', severity: 'warning', message, path: definition.id }]
}

function parametersText({ tool, definition }: ShowResult, screen: Screen) {
  if (!definition) {
    return `Parameters  ${safeLine(tool.parameters.join(', ')) || 'not known here'}\n`
  }
  const parameters = describeParameters(definition.inputSchema)
  const lines = parameters.flatMap((parameter) => {
    const { name, required, type, description, limits, default: preset } = parameter
    const facts = [type, limits, preset === undefined ? [] : `default ${preset}`].flat()
    const head = screen.style('cyan', `${safeLine(name)}${required ? '*' : ''}`)
    const about = safeLine(description.trim()).slice(0, 400)
    return [`  ${head}  ${safeLine(facts.join('; '))}`, about === '' ? [] : `      ${about}`].flat()
  })
  return linesText([lines.length === 0 ? 'No parameters' : 'Parameters (* required)', ...lines])
}
