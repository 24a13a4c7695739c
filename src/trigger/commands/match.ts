import { defineCommand, option, type Screen } from '#core/command'
import { amount, cell, count, linesText, safeLine, safeText } from '#core/text'
import { adapters, platforms } from '#hooks/adapters'
import { canonicalPrompt } from '#hooks/prompt'
import { explainPrompt, type SkillExplanation, type TriggerVerdict } from '#trigger/explain'
import { renderInjection } from '#trigger/inject'
import { injectionFor, type MatchResult, matchResult } from './injection.ts'
import { promptFor, promptOptions, readText, skillsFor } from './skills.ts'

interface ShownMatches extends MatchResult {
  explanation?: readonly SkillExplanation[] | undefined
}

export const match = defineCommand<ShownMatches>()({
  arguments: { '[prompt...]': 'what the user types (default: stdin)' },
  options: {
    explain: option.flag('--explain', 'show for every trigger why it matched or not'),
    client: option.choice('--client <name>', 'read the prompt as the hook of this client does', {
      choices: platforms,
    }),
    ...promptOptions,
  },
  examples: ['match "/deploy staging" --explain', 'match --client codex "$deploy staging"'],
  async run(context, { arguments: words, skill: references, budget, explain, client }) {
    const typed = await promptFor(context, words)
    const { skills } = skillsFor(context, references)
    const named = new Map(skills.map((skill) => [skill.name, skill]))
    const prompt = canonicalPrompt(typed, client ? adapters[client].sigil : 'slash', {
      has: (name) => named.has(name),
      textOf(name) {
        const path = named.get(name)?.path
        return path === undefined ? undefined : readText(path)
      },
    })
    const called = /^\s*(?:\/skill:|[/$])([a-z0-9][a-z0-9-]*)(?=\s|$)/.exec(typed)?.[1]
    if (called !== undefined && !named.has(called))
      context.note(`No skill ${called} is installed here.`)
    const answer = injectionFor(context, { prompt, references, tokenBudget: budget })
    const explanation = explain ? explainPrompt(prompt, answer.skills) : undefined
    return { ...matchResult(prompt, answer), explanation }
  },
  render({ matches, explanation }, screen) {
    if (explanation) return explanationText(explanation, screen)
    if (matches.length === 0) return ''
    const rows = matches.map(({ skill, match, inject, tokens, text }) => [
      cell(skill, 32),
      cell(match, 40),
      cell(inject, 40),
      tokens === null ? '-' : count(tokens),
      cell(text, 40),
    ])
    return screen.table([['SKILL', 'TRIGGER', 'INJECTS', 'TOKENS', 'FIRED ON'], ...rows])
  },
  notes({ matches, explanation, injected, deferred, diagnostics }) {
    const tokens = injected.reduce((sum, reference) => sum + reference.tokens, 0)
    return [
      !explanation && matches.length === 0 && 'No trigger fires on this prompt.',
      `${amount(injected.length, 'reference')} injected, ${count(tokens)} tokens`,
      ...deferred.map(
        ({ skill, path, reason }) => `not injected: ${safeLine(path)} of ${skill}: ${reason}`,
      ),
      ...diagnostics,
    ]
  },
})

function explanationText(explanation: readonly SkillExplanation[], screen: Screen): string {
  const lines = explanation.flatMap(({ skill, verdicts }) => {
    const heading = screen.style('bold', safeLine(skill))
    if (verdicts.length === 0) return [`${heading}: no triggers`]
    return [heading, ...verdicts.map((verdict) => `  ${verdictLine(verdict, screen)}`)]
  })
  return linesText(lines)
}

function verdictLine(verdict: TriggerVerdict, { style }: Screen): string {
  const { match, inject, line } = verdict.trigger
  const trigger = safeLine(`${match} -> ${inject} (line ${line})`)
  switch (verdict.outcome) {
    case 'fired': {
      const cost =
        verdict.tokens === undefined
          ? `injects nothing: ${safeLine(verdict.problem ?? '')}`
          : `${count(verdict.tokens)} tokens`
      const text = safeLine(verdict.text.slice(0, 200))
      const where = verdict.reason ?? `in line ${verdict.promptLine} of the prompt`
      return `${style('green', 'fired')}   ${trigger}: on \`${text}\` ${safeLine(where)}; ${cost}`
    }
    case 'near-miss':
      return `${style('yellow', 'missed')}  ${trigger}: ${safeLine(verdict.miss.reason)}`
    case 'invalid':
      return `${style('red', 'invalid')} ${trigger}: ${safeLine(verdict.reason)}`
    case 'no-match':
      return `${style('dim', '-')}       ${trigger}: ${safeLine(verdict.reason)}`
  }
}

type Injection = Omit<MatchResult, 'matches'> & { text: string }

export const inject = defineCommand<Injection>()({
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
