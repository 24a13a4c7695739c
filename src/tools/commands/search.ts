import { defineCommand, type Note, option } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { exitCode, type ExitCode } from '../../core/errors.ts'
import { safeLine, cell } from '../../core/text.ts'
import type { ToolCaution, ToolIndexLoading } from '../cache/tool-index.ts'
import type { ToolSummary } from '../model.ts'
import { projectRouter } from '../route/router.ts'
import { cautionMark } from './show.ts'
import { hearing, knownTools, sayUnasked } from './project-tools.ts'

interface SearchResult {
  query: string
  state: ToolIndexLoading['state']
  tools: readonly (ToolSummary & { score: number; caution?: ToolCaution | undefined })[]
  diagnostics: readonly Diagnostic[]
  /** The exit code where nothing was found: 4 where a server was not asked for lack of trust. */
  notFound?: ExitCode | undefined
}

export const command = defineCommand<SearchResult>()({
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
  notes: ({ tools, diagnostics }): Note[] => [
    ...diagnostics,
    ...(tools.length === 0 ? ['No tool matches. `skillrail tools list` shows all.'] : []),
  ],
})
