import { exitCode, safeText } from '../../base/index.ts'
import { renderInjection } from '../../trigger/index.ts'
import { injectionFor } from '../_injection-for.ts'
import { budgetRange, wholeNumber } from '../../base/option-values.ts'
import { promptFor } from '../_trigger-skills.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  skill?: readonly string[] | undefined
  budget?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('[prompt...]', 'what the user types (default: standard input)')
      .option(
        '--skill <skill...>',
        'only these skills, by name or path; they need not be installed',
      )
      .option('--budget <tokens>', 'leave out references that do not fit')
      .addHelpText(
        'after',
        '\nExamples:\n  $ skillrail inject "/deploy staging"\n  $ skillrail inject --skill skills/deploy -- "/deploy staging"\n',
      )
  },
  async run(context, words, options) {
    const prompt = await promptFor(context, words)
    const { injected, deferred, diagnostics } = injectionFor(context, {
      prompt,
      references: options.skill ?? [],
      tokenBudget: wholeNumber('--budget', options.budget, budgetRange),
    })
    const { output } = context
    if (context.options.json) {
      const text = renderInjection(injected)
      const shown = injected.map(({ text: _text, ...reference }) => reference)
      output.json({ prompt, text, injected: shown, deferred, diagnostics })
      return exitCode.done
    }
    const text = renderInjection(injected)
    // A pipe gets the bytes as they are; a terminal must not be steered by them.
    output.raw(output.isTerminal ? safeText(text) : text)
    output.diagnostics(diagnostics)
    for (const { skill, path, reason } of deferred) {
      output.note(`not injected: ${path} of ${skill}: ${reason}`)
    }
    return exitCode.done
  },
})
