import { defineCommand, option, type Screen } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { exitCode, type ExitCode } from '../../core/errors.ts'
import { amount, cell, didYouMean, safeLine } from '../../core/text.ts'
import type {
  IndexedServer,
  ToolCaution,
  ToolIndex,
  ToolIndexLoading,
} from '../cache/tool-index.ts'
import { canonicalCategory } from '../category/categorise.ts'
import type { ServerConfiguration } from '../config/model.ts'
import { ToolError } from '../errors.ts'
import type { ToolSummary } from '../model.ts'
import { projectRouter } from '../route/router.ts'
import { ServerNotFoundError } from '../server/errors.ts'
import { cautionMark } from './show.ts'
import {
  hearing,
  knownTools,
  listableTools,
  sayUnasked,
  serverConfiguration,
} from './project-tools.ts'
import { unavailableNotes } from './server-rows.ts'

interface ListResult {
  path: string
  state: ToolIndexLoading['state']
  refreshedAt: string
  servers: readonly IndexedServer[]
  categories: readonly ListedCategory[]
  tools: readonly (ToolSummary & { caution?: ToolCaution | undefined })[]
  diagnostics: readonly Diagnostic[]
}

interface ListedCategory {
  name: string
  description: string
  keywords: readonly string[]
  tools: readonly string[]
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
  async run(context, filter) {
    const { found, diagnostics } = await hearing(context, listableTools)
    const { index, state, path } = found
    const configuration = serverConfiguration(context)
    requireKnown(filter, index, configuration)
    const tools = select(index, filter)
    sayUnasked(context)
    return {
      path,
      state,
      refreshedAt: index.refreshedAt,
      servers: index.servers,
      categories: categoriesOf(index, tools),
      tools: tools.map((tool) => ({ ...tool, caution: index.caution(tool.id) })),
      diagnostics,
    }
  },
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
  const wanted = category === undefined ? undefined : canonicalCategory(category)
  return index.tools.filter(
    (tool) =>
      (wanted === undefined || categoryOf(tool) === wanted) &&
      (server === undefined || tool.server === server) &&
      (!changed || index.caution(tool.id)?.kind === 'changed'),
  )
}

function categoryOf({ category = 'uncategorized' }: ToolSummary): string {
  return category
}

function categoriesOf(index: ToolIndex, tools: readonly ToolSummary[]): ListedCategory[] {
  const last = { name: 'uncategorized', description: 'In no category.', keywords: [] }
  return [...index.categories, last].flatMap((category) => {
    const own = tools.filter((tool) => categoryOf(tool) === category.name)
    return own.length === 0 ? [] : [{ ...category, tools: own.map(({ id }) => id) }]
  })
}

function categoryText(
  { name, description, tools }: ListedCategory,
  byId: ReadonlyMap<string, ListResult['tools'][number]>,
  screen: Screen,
): string {
  const head = `${screen.style('bold', safeLine(name))}  ${screen.style('dim', safeLine(description))}`
  const rows = tools.map((id) => {
    const tool = byId.get(id)
    const mark = screen.style('yellow', cautionMark(tool?.caution))
    return [`  ${safeLine(id)}`, mark, cell(tool?.description ?? '', screen.width - 40)]
  })
  return `${head}\n${screen.table(rows)}\n`
}

interface SearchResult {
  query: string
  state: ToolIndexLoading['state']
  tools: readonly (ToolSummary & { score: number; caution?: ToolCaution | undefined })[]
  diagnostics: readonly Diagnostic[]
  /** The exit code where nothing was found: 4 where a server was not asked for lack of trust. */
  notFound?: ExitCode | undefined
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
  async run(context, { arguments: words, limit }) {
    const query = words.join(' ')
    const { found, diagnostics } = await hearing(context, knownTools)
    const { index, project, state } = found
    const { router } = projectRouter(index, { project, runtime: context.runtime })
    const tools = router.route(query, { limit }).candidates.flatMap(({ tool: id, score }) => {
      const tool = index.tool(id)
      return tool === undefined ? [] : [{ ...tool, score, caution: index.caution(id) }]
    })
    const notFound = tools.length === 0 ? sayUnasked(context) : undefined
    return { query, state, tools, diagnostics, notFound }
  },
  exitCode: ({ notFound = exitCode.done }) => notFound,
  render: ({ tools }, screen) =>
    screen.table(
      tools.map(({ id, category, description, caution }) => [
        safeLine(id),
        screen.style('dim', safeLine(category ?? '')),
        screen.style('yellow', cautionMark(caution)),
        cell(description, screen.width - 50),
      ]),
    ),
  notes: ({ tools, diagnostics }) => [
    diagnostics,
    tools.length === 0 && 'No tool matches. `skillrail tools list` shows all.',
  ],
})
