import { doRequest, learnExample, ToolRequestError, understandRequest } from '../../tools/index.ts'
import { type AnswerOptions, type Succeeded, valueOfReport } from '../_call-answer.ts'
import { declareCallOptions } from '../_call-options.ts'
import { inputText } from '../_input-text.ts'
import { requestRouter } from '../_request-router.ts'
import { answerRequest } from '../_request-answer.ts'
import { answerMeaning } from '../_request-plan.ts'
import { type CallOptions, withToolCalls } from '../_tool-calls.ts'
import { personAt } from '../_tool-person.ts'
import { showSteps } from '../_tool-steps.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends CallOptions, AnswerOptions {
  yes?: boolean | undefined
  dryRun?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    declareCallOptions(program)
      .argument('<request...>', 'what to do, in words; - for standard input')
      .option('--yes', 'call tools that may change something without asking')
      .option('--dry-run', 'show what would be called and call nothing')
      .option('--raw', 'print all of the answer')
      .addHelpText(
        'after',
        '\nExamples:\n' +
          '  $ skillrail tools do "list the open issues of octo/hello"\n' +
          '  $ skillrail tools do --yes "take a screenshot of http://127.0.0.1:8080"\n',
      )
  },
  async run(context, words, options) {
    const given = words.join(' ')
    const request = given === '-' ? await inputText(given, context) : given
    if (request.trim() === '') {
      throw new ToolRequestError({ code: 'request-empty', message: 'the request says nothing' })
    }
    return await withToolCalls(context, options, async ({ calls, index, place, project }) => {
      const world = {
        context: calls,
        router: async () => await requestRouter(request, index(), project, context),
        yes: options.yes === true,
        person: personAt(context),
        async learn(said: string, tool: string) {
          await learnExample({ project, runtime: context.runtime }, { request: said, tool })
        },
        onStep: showSteps(context),
        toValue: async (report: Succeeded) => valueOfReport(report, place),
      }
      if (options.dryRun === true) {
        const meaning = await understandRequest(request, world)
        return await answerMeaning(meaning, request, calls, context)
      }
      return await answerRequest(await doRequest(request, world), place, context, options)
    })
  },
})
