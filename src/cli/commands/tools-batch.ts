import { checkBatch, parseBatchText, runBatch } from '../../tools/index.ts'
import { valueOfReport } from '../_call-answer.ts'
import { declareCallOptions } from '../_call-options.ts'
import { inputText } from '../_input-text.ts'
import { type CallOptions, withToolCalls } from '../_tool-calls.ts'
import { answerBatch, answerDryRun, showSteps, stepsIn } from '../_tool-steps.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand<CallOptions & { dryRun?: boolean }>({
  configure(program) {
    declareCallOptions(program)
      .argument('[batch]', 'BATCH: […] or the list alone, @FILE, or - for standard input', '-')
      .option('--dry-run', 'show what would be called and call nothing')
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail tools batch \'BATCH: [{"tool": "get_issue", "params": {"issue_number": 1}}, {"tool": "list_pages"}]\'\n',
      )
  },
  async run(context, [given = '-'], options) {
    const steps = stepsIn(parseBatchText(await inputText(given, context)), 'batch')
    return await withToolCalls(context, options, async ({ calls, place }) => {
      await checkBatch(steps, calls)
      if (options.dryRun === true) return await answerDryRun('batch', steps, calls, context)
      const results = await runBatch(steps, calls, {
        onStep: showSteps(context, steps.length),
        toValue: (report) => valueOfReport(report, place),
      })
      return await answerBatch(results, place, context)
    })
  },
})
