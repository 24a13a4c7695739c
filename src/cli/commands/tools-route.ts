import { exitCode } from '../../base/index.ts'
import { contextOf } from '../legacy.ts'
import { inputText } from '../_input-text.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { explanationOf, printRoute, routeAnswer, routeJson } from '../_route-answer.ts'
import { amongAskedServers } from '../../tools/commands/project-tools.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  explain?: boolean | undefined
  limit?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<request...>', 'what to do, in words; - for standard input')
      .option('--explain', 'show what led to each candidate')
      .option('--limit <number>', 'at most so many candidates', '5')
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail tools route "take a screenshot of the login page" --explain\n',
      )
  },
  async run(context, words, { explain = false, limit = '5' }) {
    const given = words.join(' ')
    const request = given === '-' ? await inputText(given, context) : given
    return await amongAskedServers(contextOf(context), async () => {
      const most = wholeNumber('--limit', limit, { least: 1, most: 1000 })
      const answer = await routeAnswer(request, most, context)
      if (context.options.json) {
        context.output.json(routeJson(answer, explain ? explanationOf(answer) : undefined))
      } else printRoute(answer, explain ? explanationOf(answer) : undefined, context)
      return answer.route.decision === 'ask' ? exitCode.notFound : exitCode.done
    })
  },
})
