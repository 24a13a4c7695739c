import { defineCommand } from '../../core/command.ts'
import { safeText } from '../../core/text.ts'
import { renderInjection } from '../inject.ts'
import { injectionFor, type MatchResult, matchResult } from './injection.ts'
import { promptFor, promptOptions } from './skills.ts'

type Result = Omit<MatchResult, 'matches'> & { text: string }

export const command = defineCommand<Result>()({
  arguments: { '[prompt...]': 'what the user types (default: stdin)' },
  options: promptOptions,
  examples: ['inject "/deploy staging"', 'inject --skill skills/deploy "/deploy staging"'],
  async run(context, { arguments: words, skill: references, budget }) {
    const prompt = await promptFor(context, words)
    const answer = injectionFor(context, { prompt, references, tokenBudget: budget })
    const { matches: _matches, ...result } = matchResult(prompt, answer)
    return { ...result, text: renderInjection(answer.injected) }
  },
  // A pipe gets the bytes unchanged; a terminal must not be steered by them.
  render: ({ text }, screen) => (screen.isTerminal ? safeText(text) : text),
  notes: ({ diagnostics, deferred }) => [
    ...diagnostics,
    ...deferred.map(({ skill, path, reason }) => `not injected: ${path} of ${skill}: ${reason}`),
  ],
})
