import { exitCode, safeLine, UsageError } from '../../base/index.ts'
import { contextOf } from '../legacy.ts'
import { learnExample } from '../../tools/index.ts'
import { amongAskedServers, knownTools, toolNamed } from '../../tools/commands/project-tools.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  wrong?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<request>', 'a request as you would say it')
      .argument('<tool>', 'the tool that it means: SERVER__TOOL, or a name that is unique')
      .option('--wrong', 'the tool is not meant by this request')
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail tools learn add "what is on my plate" github__list_issues\n',
      )
  },
  async run(context, [request = '', name = ''], { wrong = false }) {
    return await amongAskedServers(contextOf(context), async () => {
      const { index, project } = await knownTools(contextOf(context))
      const { tool: named } = await toolNamed(name, { index }, contextOf(context))
      const tool = named.id
      const example = await learnExample(
        { project, runtime: context.runtime },
        { request, tool, wrong },
      )
      if (example === undefined) {
        throw new UsageError({
          code: 'request-empty',
          message: 'the request has no words to learn',
        })
      }
      if (context.options.json) context.output.json({ example })
      else {
        const relation = wrong ? 'is not' : 'is'
        context.output.line(`Learned: "${safeLine(example.request)}" ${relation} ${safeLine(tool)}`)
      }
      return exitCode.done
    })
  },
})
