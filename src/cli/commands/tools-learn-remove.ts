import { exitCode, safeLine, UsageError } from '../../base/index.ts'
import { forgetExamples, type LearnedExample, readLearned } from '../../tools/index.ts'
import { amount } from '../../base/text.ts'
import { learnedTool } from '../_learned-tool.ts'
import { toolProject } from '../../tools/commands/project-tools.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  tool?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('[request]', 'the request, as `tools learn list` shows it, or a tool')
      .option(
        '--tool <id>',
        'only of this tool, by its id or its name; without a request, all of it',
      )
      .addHelpText(
        'after',
        '\nExamples:\n  $ skillrail tools learn remove "what is on my plate"\n' +
          '  $ skillrail tools learn remove list_issues\n' +
          '  $ skillrail tools learn remove "what is on my plate" --tool github__list_issues\n',
      )
  },
  async run(context, [request], { tool }) {
    const place = { project: toolProject(context), runtime: context.runtime }
    const { output, options } = context
    if (request === undefined && tool === undefined) {
      throw new UsageError({
        code: 'wrong-use',
        message: 'a request, a tool, or both are needed',
        hint: '`skillrail tools learn clear` forgets everything.',
      })
    }
    const { examples } = readLearned(place)
    const isMeant = meant(examples, request, tool)
    const removed = examples.some(isMeant) ? await forgetExamples(place, isMeant) : 0
    if (options.json) output.json({ removed })
    else if (removed > 0) output.line(`Forgotten: ${amount(removed, 'example')}.`)
    else {
      const what = [request, tool].filter((part) => part !== undefined).map(safeLine)
      output.failure(`Nothing like that was learned: ${what.join(', ')}.`)
      output.failure('`skillrail tools learn list` shows what was.')
    }
    return removed > 0 ? exitCode.done : exitCode.notFound
  },
})

/** A word that is no request that was learned may be a tool: then all of this tool is meant. */
function meant(
  examples: readonly LearnedExample[],
  request: string | undefined,
  tool: string | undefined,
): (example: LearnedExample) => boolean {
  const wanted = request?.toLowerCase()
  const isRequest = examples.some((example) => example.request.toLowerCase() === wanted)
  const asTool = tool ?? (isRequest ? undefined : request)
  const id = asTool === undefined ? undefined : learnedTool(asTool, examples)
  const asked = tool === undefined && !isRequest ? undefined : wanted
  return (example) =>
    (asked === undefined || example.request.toLowerCase() === asked) &&
    (asTool === undefined || example.tool === id)
}
