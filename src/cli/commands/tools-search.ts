import { exitCode, safeLine } from '../../base/index.ts'
import { contextOf } from '../legacy.ts'
import { projectRouter, type Router, type ToolIndex, type ToolSummary } from '../../tools/index.ts'
import { cell } from '../../base/text.ts'
import { cautionMark } from '../_tool-caution.ts'
import { amongAskedServers, knownTools } from '../../tools/commands/project-tools.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  limit?: string | undefined
}

interface FoundTool extends ToolSummary {
  score: number
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<words...>', 'what the tool should do, or parts of its name')
      .option('--limit <number>', 'at most so many tools', '10')
      .addHelpText('after', '\nExample:\n  $ skillrail tools search take a screenshot\n')
  },
  async run(context, words, options) {
    const { output } = context
    const limit = wholeNumber('--limit', options.limit ?? '10', { least: 1, most: 1000 })
    return await amongAskedServers(contextOf(context), async () => {
      const { index, project, state, diagnostics } = await knownTools(contextOf(context))
      const { router } = projectRouter(index, { project, runtime: context.runtime })
      const found = search(index, router, words.join(' '), limit)
      if (context.options.json) {
        output.json({ query: words.join(' '), state, tools: found, diagnostics })
      } else {
        output.table(
          found.map(({ id, category, description }) => [
            safeLine(id),
            output.style('dim', safeLine(category ?? '')),
            output.style('yellow', cautionMark(index.caution(id))),
            cell(description, output.width - 50),
          ]),
        )
        if (found.length === 0) output.note('No tool matches. `skillrail tools list` shows all.')
      }
      return found.length === 0 ? exitCode.notFound : exitCode.done
    })
  },
})

function search(index: ToolIndex, router: Router, text: string, limit: number): FoundTool[] {
  const { candidates } = router.route(text, { limit })
  return candidates.flatMap(({ tool: id, score }) => {
    const tool = index.tool(id)
    return tool === undefined ? [] : [{ ...tool, score }]
  })
}
