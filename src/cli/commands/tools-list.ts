import { exitCode, safeLine } from '../../base/index.ts'
import { contextOf } from '../legacy.ts'
import {
  canonicalCategory,
  type ServerConfiguration,
  ServerNotFoundError,
  type ToolIndex,
  type ToolSummary,
  unaskedServers,
} from '../../tools/index.ts'
import { amount, cell } from '../../base/text.ts'
import { CategoryNotFoundError } from '../_category-error.ts'
import { listableTools, serverConfiguration } from '../../tools/commands/project-tools.ts'
import { printUnavailable } from '../_server-rows.ts'
import { cautionMark } from '../_tool-caution.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  category?: string | undefined
  server?: string | undefined
  changed?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--category <name>', 'only tools of this category; aliases are understood')
      .option('--server <name>', 'only tools of this server')
      .option(
        '--changed',
        'only tools whose description or schema changed since they were accepted',
      )
      .addHelpText('after', '\nExample:\n  $ skillrail tools list --category browser\n')
  },
  async run(context, _positionals, options) {
    const { index, state, path, diagnostics } = await listableTools(contextOf(context))
    const configuration = serverConfiguration(context)
    requireKnown(options, index, configuration)
    const tools = select(index, options)
    if (context.options.json) {
      const { refreshedAt, servers } = index
      context.output.json({
        path,
        state,
        refreshedAt,
        servers,
        categories: categoriesOf(index, tools),
        tools: tools.map((tool) => ({ ...tool, caution: index.caution(tool.id) })),
        diagnostics,
      })
    } else print(context, index, tools)
    const unasked = unaskedServers(configuration)
    if (unasked !== undefined) {
      context.output.note(`${unasked.message}.`)
      context.output.note(unasked.hint ?? '')
    }
    return exitCode.done
  },
})

/** @throws {ServerNotFoundError}, {CategoryNotFoundError} for a name that nothing here has */
function requireKnown(
  { category, server }: Options,
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
    throw new CategoryNotFoundError(category, categories)
  }
}

function select(index: ToolIndex, { category, server, changed }: Options): ToolSummary[] {
  const wanted = category === undefined ? undefined : canonicalCategory(category)
  return index.tools.filter(
    (tool) =>
      (wanted === undefined || (tool.category ?? 'uncategorized') === wanted) &&
      (server === undefined || tool.server === server) &&
      (changed !== true || index.caution(tool.id)?.kind === 'changed'),
  )
}

interface ListedCategory {
  name: string
  description: string
  keywords: readonly string[]
  tools: readonly string[]
}

/** The categories of these tools, those without one last. */
function categoriesOf(index: ToolIndex, tools: readonly ToolSummary[]): ListedCategory[] {
  const named = index.categories.map((category) => ({
    ...category,
    tools: tools.filter((tool) => tool.category === category.name).map(({ id }) => id),
  }))
  const rest = tools.filter((tool) => tool.category === undefined).map(({ id }) => id)
  const last = { name: 'uncategorized', description: 'In no category.', keywords: [], tools: rest }
  return [...named, last].filter((category) => category.tools.length > 0)
}

function print(context: CommandContext, index: ToolIndex, tools: readonly ToolSummary[]): void {
  const { output } = context
  for (const category of categoriesOf(index, tools)) {
    const text = safeLine(category.description)
    output.line(`${output.style('bold', safeLine(category.name))}  ${output.style('dim', text)}`)
    output.table(
      category.tools.map((id) => {
        const tool = index.tool(id)
        const mark = output.style('yellow', cautionMark(index.caution(id)))
        return [`  ${safeLine(id)}`, mark, cell(tool?.description ?? '', output.width - 40)]
      }),
    )
    output.line()
  }
  if (tools.length === 0 && index.tools.length > 0) {
    output.note('There are no such tools. `skillrail tools refresh` looks for more.')
  }
  printUnavailable(index.servers, output)
  const servers = new Set(tools.map(({ server }) => server))
  output.note(`${amount(tools.length, 'tool')} of ${amount(servers.size, 'server')}`)
}
