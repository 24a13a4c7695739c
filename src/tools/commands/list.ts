import { defineCommand, type Note, option, type Screen } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { exitCode, type ExitCode } from '../../core/errors.ts'
import { nearest, safeLine, amount, cell } from '../../core/text.ts'
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
import { ServerNotFoundError, unaskedServers } from '../server/errors.ts'
import { cautionMark } from './show.ts'
import { hearing, listableTools, serverConfiguration } from './project-tools.ts'
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

export const command = defineCommand<ListResult>()({
  options: {
    category: option.text(
      '--category <name>',
      'only tools of this category; aliases are understood',
    ),
    server: option.text('--server <name>', 'only tools of this server'),
    changed: option.flag(
      '--changed',
      'only tools that were added or changed since they were accepted',
    ),
  },
  examples: ['tools list --category browser'],
  async run(context, filter) {
    const { found, diagnostics } = await hearing(context, listableTools)
    const { index, state, path } = found
    const configuration = serverConfiguration(context)
    requireKnown(filter, index, configuration)
    const tools = select(index, filter)
    const unasked = unaskedServers(configuration)
    if (unasked !== undefined) {
      context.note(`${unasked.message}.`)
      context.note(unasked.hint ?? '')
    }
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
  notes({ servers, tools, diagnostics }): Note[] {
    const isFiltered = tools.length === 0 && servers.some(({ toolCount }) => toolCount > 0)
    const named = new Set(tools.map(({ server }) => server))
    return [
      ...diagnostics,
      ...(isFiltered ? ['There are no such tools. `skillrail tools refresh` looks for more.'] : []),
      ...unavailableNotes(servers),
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
  if (!categories.includes(canonicalCategory(category))) {
    const meant = nearest(category, categories)
    const list = `There are: ${categories.join(', ')}.`
    throw new CategoryNotFoundError({
      code: 'category-not-found',
      message: `No tool here is in a category ${category}`,
      hint: meant === undefined ? list : `Did you mean ${meant}? ${list}`,
    })
  }
}

function select(index: ToolIndex, { category, server, changed }: Filter): ToolSummary[] {
  const wanted = category === undefined ? undefined : canonicalCategory(category)
  return index.tools.filter(
    (tool) =>
      (wanted === undefined || (tool.category ?? 'uncategorized') === wanted) &&
      (server === undefined || tool.server === server) &&
      (!changed || index.caution(tool.id)?.kind === 'changed'),
  )
}

function categoriesOf(index: ToolIndex, tools: readonly ToolSummary[]): ListedCategory[] {
  const named = index.categories.map((category) => ({
    ...category,
    tools: tools.filter((tool) => tool.category === category.name).map(({ id }) => id),
  }))
  const rest = tools.filter((tool) => tool.category === undefined).map(({ id }) => id)
  const last = { name: 'uncategorized', description: 'In no category.', keywords: [], tools: rest }
  return [...named, last].filter((category) => category.tools.length > 0)
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

class CategoryNotFoundError extends ToolError {
  override readonly exitCode: ExitCode = exitCode.notFound
}
