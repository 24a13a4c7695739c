import { exitCode, safeLine } from '../../base/index.ts'
import { explainPrompt } from '../../trigger/index.ts'
import { amount, cell, count } from '../../base/text.ts'
import { explanationLines } from '../_explanation.ts'
import { type InjectionAnswer, injectionFor } from '../_injection-for.ts'
import { matchAnswer, tokensOf } from '../_match-answer.ts'
import { budgetRange, wholeNumber } from '../../base/option-values.ts'
import { promptFor } from '../_trigger-skills.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  skill?: readonly string[] | undefined
  budget?: string | undefined
  explain?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('[prompt...]', 'what the user types (default: standard input)')
      .option('--explain', 'say of every trigger why it fired or did not')
      .option(
        '--skill <skill...>',
        'only these skills, by name or path; they need not be installed',
      )
      .option('--budget <tokens>', 'leave out references that do not fit')
      .addHelpText('after', '\nExample:\n  $ skillrail match "/deploy staging" --explain\n')
  },
  async run(context, words, options) {
    const prompt = await promptFor(context, words)
    const answer = injectionFor(context, {
      prompt,
      references: options.skill ?? [],
      tokenBudget: wholeNumber('--budget', options.budget, budgetRange),
    })
    const explanation = options.explain === true ? explainPrompt(prompt, answer.skills) : undefined
    const { output } = context
    if (context.options.json) {
      output.json({ ...matchAnswer(prompt, answer), explanation })
      return exitCode.done
    }
    if (explanation === undefined) print(context, answer)
    else for (const line of explanationLines(explanation, output.style)) output.line(line)
    summary(context, answer)
    output.diagnostics(answer.diagnostics)
    return exitCode.done
  },
})

function print({ output }: CommandContext, { matches }: InjectionAnswer): void {
  if (matches.length === 0) return output.note('No trigger fires on this prompt.')
  const rows = matches.map((match) => {
    const tokens = tokensOf(match)
    return [
      cell(match.skill.name, 32),
      cell(match.trigger.match, 40),
      cell(match.trigger.inject, 40),
      tokens === null ? '-' : count(tokens),
      cell(match.text, 40),
    ]
  })
  output.table([['SKILL', 'TRIGGER', 'INJECTS', 'TOKENS', 'FIRED ON'], ...rows])
}

function summary({ output }: CommandContext, { injected, deferred }: InjectionAnswer): void {
  const tokens = injected.reduce((sum, reference) => sum + reference.tokens, 0)
  output.note(`${amount(injected.length, 'reference')} injected, ${count(tokens)} tokens`)
  for (const { skill, path, reason } of deferred) {
    output.note(`not injected: ${safeLine(path)} of ${skill}: ${reason}`)
  }
}
