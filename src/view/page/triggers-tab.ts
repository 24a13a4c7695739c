import type { MatchAnswer, TriggerVerdict } from '../answers.ts'
import {
  amount,
  type Child,
  chip,
  count,
  empty,
  fill,
  findings,
  make,
  section,
  table,
  trouble,
} from './elements.ts'
import { ask } from './server.ts'
import type { Tab, TabView } from './tab.ts'

export const triggersTab: Tab = { name: 'triggers', title: 'Triggers', open }

/** Kept while the page is open, so that one may look elsewhere and come back. */
let prompt = ''

const pauseMs = 150
const mostVerdicts = 200

function open(): TabView {
  const text = make('textarea', {
    class: 'search',
    placeholder: 'Type a prompt, such as: deploy to staging',
    label: 'Prompt',
    onInput: () => {
      prompt = text.value
      clearTimeout(timer)
      timer = setTimeout(() => void match(), pauseMs)
    },
  })
  text.value = prompt
  const result = make('div')
  let timer: ReturnType<typeof setTimeout> | undefined
  let wanted = 0
  const match = async (): Promise<void> => {
    const mine = ++wanted
    try {
      const answer = await ask('match', { prompt })
      if (mine === wanted) fill(result, verdicts(answer))
    } catch (error) {
      if (mine === wanted) fill(result, trouble(error))
    }
  }
  const element = make(
    'div',
    { class: 'single' },
    make('h1', {}, 'Triggers'),
    make(
      'p',
      { class: 'lead' },
      'What the hook would inject for a prompt, before any model sees it, as skillrail match says it.',
    ),
    make('div', { class: 'ask' }, text),
    result,
  )
  result.setAttribute('aria-live', 'polite')
  return {
    element,
    show: () => void match(),
    close: () => clearTimeout(timer),
  }
}

function verdicts(answer: MatchAnswer): Child {
  const { injected, deferred, explanation, triggers, quiet, untried, diagnostics } = answer
  if (triggers === 0) {
    return empty(
      'No skill here has triggers. They stand in the frontmatter of a skill; this shows and checks them:',
      'skillrail triggers check',
    )
  }
  const tokens = injected.reduce((sum, reference) => sum + reference.tokens, 0)
  const said = explanation
    .flatMap(({ skill, verdicts }) => verdicts.map((verdict) => ({ skill, verdict })))
    .toSorted((a, b) => Number(hasFired(b)) - Number(hasFired(a)))
  return [
    make(
      'p',
      {},
      make('strong', {}, amount(injected.length, 'reference')),
      ` injected, ${amount(tokens, 'token')}`,
    ),
    injected.length === 0
      ? undefined
      : table(
          ['injected', 'of', 'tokens'],
          injected.map(({ skill, path, tokens }) => [make('code', {}, path), skill, count(tokens)]),
          [2],
        ),
    deferred.length === 0
      ? undefined
      : section(
          'Not injected though it fired',
          table(
            ['reference', 'of', 'why'],
            deferred.map(({ skill, path, reason }) => [make('code', {}, path), skill, reason]),
          ),
        ),
    findings(diagnostics),
    said.length === 0
      ? undefined
      : section(
          'Why',
          said.slice(0, mostVerdicts).map(({ skill, verdict }) => verdictRow(skill, verdict)),
          said.length > mostVerdicts
            ? make('p', { class: 'soft' }, `and ${count(said.length - mostVerdicts)} more`)
            : undefined,
        ),
    make('p', { class: 'soft' }, quietText(quiet, triggers, answer.prompt)),
    untried === 0 ? undefined : make('p', { class: 'soft' }, untriedText(untried)),
  ]
}

/** What fired is asked for first, and very many triggers may come close. */
function hasFired({ verdict }: { verdict: TriggerVerdict }): boolean {
  return verdict.outcome === 'fired'
}

function quietText(quiet: number, triggers: number, prompt: string): string {
  if (prompt.trim() === '') return `${amount(triggers, 'trigger')} would be tried.`
  return `${count(quiet)} of ${amount(triggers, 'trigger')} did not match at all.`
}

function untriedText(untried: number): string {
  return `${amount(untried, 'trigger')} that did not fire were not looked at for near misses; skillrail match --explain looks at all.`
}

function verdictRow(skill: string, verdict: TriggerVerdict): HTMLElement {
  const { trigger, outcome } = verdict
  return make(
    'div',
    { class: 'verdict' },
    make('div', {}, chip(wordFor[outcome], outcome)),
    make(
      'div',
      {},
      make('strong', {}, skill),
      ' ',
      make('code', {}, trigger.match),
      ' → ',
      make('code', {}, trigger.inject),
      make('span', { class: 'soft' }, ` line ${trigger.line}`),
      make('div', {}, reasonOf(verdict)),
    ),
  )
}

const wordFor: Record<TriggerVerdict['outcome'], string> = {
  fired: 'fired',
  'near-miss': 'missed',
  'no-match': 'no match',
  invalid: 'invalid',
}

function reasonOf({ text = '', promptLine, tokens, problem, miss, reason }: TriggerVerdict): Child {
  if (reason !== undefined) return reason
  if (miss !== undefined) return miss.reason
  const cost = tokens === undefined ? `injects nothing: ${problem ?? ''}` : amount(tokens, 'token')
  return ['on ', make('mark', {}, text), ` in line ${promptLine ?? 1} of the prompt; ${cost}`]
}
