import { exitCode, safeLine, UsageError } from '../../base/index.ts'
import { forgetExamples, readLearned } from '../../tools/index.ts'
import { amount } from '../_cells.ts'
import { toolProject } from '../_tool-project.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  tool?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('[request]', 'the request, as `tools learn list` shows it')
      .option('--tool <id>', 'only of this tool; without a request, all of this tool')
      .addHelpText(
        'after',
        '\nExamples:\n  $ skillrail tools learn remove "what is on my plate"\n' +
          '  $ skillrail tools learn remove --tool github__list_issues\n',
      )
  },
  async run(context, [request], { tool }) {
    const place = { project: toolProject(context), runtime: context.runtime }
    const { output, options } = context
    if (request === undefined && tool === undefined) {
      throw new UsageError({
        code: 'wrong-use',
        message: 'a request, --tool, or both are needed',
        hint: '`skillrail tools learn clear` forgets everything.',
      })
    }
    const isMeant = (example: { request: string; tool: string }): boolean =>
      (request === undefined || example.request.toLowerCase() === request.toLowerCase()) &&
      (tool === undefined || example.tool === tool)
    const known = readLearned(place).examples.some(isMeant)
    const removed = known ? await forgetExamples(place, isMeant) : 0
    if (options.json) output.json({ removed })
    else if (removed > 0) output.line(`Forgotten: ${amount(removed, 'example')}.`)
    else {
      const what = [request, tool].filter((part) => part !== undefined).map(safeLine)
      output.note(`Nothing like that was learned: ${what.join(', ')}.`)
    }
    return removed > 0 ? exitCode.done : exitCode.notFound
  },
})
