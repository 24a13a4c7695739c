import { checkChain, parseChainText, runToolChain } from '../../tools/index.ts'
import { valueOfReport } from '../_call-answer.ts'
import { declareCallOptions } from '../_call-options.ts'
import { inputText } from '../_input-text.ts'
import { type CallOptions, withToolCalls } from '../_tool-calls.ts'
import { answerChain, answerDryRun, showSteps, stepsIn } from '../_tool-steps.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand<CallOptions & { dryRun?: boolean }>({
  configure(program) {
    declareCallOptions(program)
      .argument('[chain]', 'CHAIN: […] or the list alone, @FILE, or - for standard input', '-')
      .option('--dry-run', 'show what would be called and call nothing')
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail tools chain \'CHAIN: [{"tool": "get_element", "params": {"selector": "#btn"}, "output_as": "element"}, {"tool": "click", "params": {"target": "$element"}}]\'\n',
      )
  },
  async run(context, [given = '-'], options) {
    const steps = stepsIn(parseChainText(await inputText(given, context)), 'chain')
    return await withToolCalls(context, options, async ({ calls, place }) => {
      await checkChain(steps, calls)
      if (options.dryRun === true) return await answerDryRun('chain', steps, calls, context)
      const chain = await runToolChain(steps, calls, {
        onStep: showSteps(context, steps.length),
        toValue: (report) => valueOfReport(report, place),
      })
      return await answerChain(chain, place, context)
    })
  },
})
