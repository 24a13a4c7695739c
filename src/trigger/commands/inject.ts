import { defineCommand } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { budgetRange } from '../../core/option-values.ts'
import { safeText } from '../../core/text.ts'
import { type DeferredReference, type InjectedReference, renderInjection } from '../inject.ts'
import { injectionFor } from './injection.ts'
import { promptFor } from './skills.ts'

interface Result {
  prompt: string
  text: string
  injected: readonly Omit<InjectedReference, 'text'>[]
  deferred: readonly DeferredReference[]
  diagnostics: readonly Diagnostic[]
}

export const command = defineCommand<Result>()({
  arguments: { '[prompt...]': 'what the user types (default: stdin)' },
  options: {
    skill: {
      kind: 'list',
      flags: '--skill <skill...>',
      help: 'only these skills, by name or path; they need not be installed',
    },
    budget: {
      kind: 'integer',
      flags: '--budget <tokens>',
      help: 'skip references that do not fit',
      ...budgetRange,
    },
  },
  examples: ['inject "/deploy staging"', 'inject --skill skills/deploy -- "/deploy staging"'],
  async run(context, { arguments: words, skill: references, budget }) {
    const prompt = await promptFor(context, words)
    const answer = injectionFor(context, { prompt, references, tokenBudget: budget })
    const { injected, deferred, diagnostics } = answer
    return {
      prompt,
      text: renderInjection(injected),
      injected: injected.map(({ text: _text, ...reference }) => reference),
      deferred,
      diagnostics,
    }
  },
  // A pipe gets the bytes unchanged; a terminal must not be steered by them.
  render: ({ text }, screen) => (screen.isTerminal ? safeText(text) : text),
  notes: ({ diagnostics, deferred }) => [
    ...diagnostics,
    ...deferred.map(({ skill, path, reason }) => `not injected: ${path} of ${skill}: ${reason}`),
  ],
})
