import type { JsonObject, ToolDefinition } from '../../tools/index.ts'
import {
  callTool,
  definitionOf,
  findTool,
  parseParameters,
  readPairs,
  ToolRequestError,
} from '../../tools/index.ts'
import { type AnswerOptions, answerCall } from '../_call-answer.ts'
import { declareCallOptions } from '../_call-options.ts'
import { inputText } from '../_input-text.ts'
import { type CallOptions, withToolCalls } from '../_tool-calls.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand<CallOptions & AnswerOptions>({
  configure(program) {
    declareCallOptions(program)
      .argument('<tool>', 'SERVER__TOOL, or the name alone where one server has it')
      .argument('[parameters...]', 'a JSON object, @FILE, - for standard input, or name=value')
      .option('--raw', 'print all of the answer')
      .addHelpText(
        'after',
        '\nExamples:\n' +
          '  $ skillrail tools call github__get_issue \'{"owner": "o", "repo": "r", "issue_number": 1}\'\n' +
          '  $ skillrail tools call chrome__navigate_page type=url url=http://127.0.0.1:8080\n',
      )
  },
  async run(context, [tool = '', ...given], options) {
    return await withToolCalls(context, options, async ({ calls, place }) => {
      const definition = await definitionOf(await findTool(tool, calls), calls)
      const params = await readParameters(given, definition, context)
      const report = await callTool({ tool, params }, calls)
      return await answerCall(report, place, context, options)
    })
  },
})

async function readParameters(
  given: readonly string[],
  tool: ToolDefinition,
  context: CommandContext,
): Promise<JsonObject> {
  const [first] = given
  if (first === undefined) return {}
  const isText = first === '-' || first.startsWith('@') || first.trimStart().startsWith('{')
  if (!isText) return readPairs(given, tool)
  if (given.length === 1) return parseParameters(await inputText(first, context))
  throw new ToolRequestError({
    code: 'wrong-parameters',
    message: 'parameters are one JSON object or name=value pairs, not both',
  })
}
