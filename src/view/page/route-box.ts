import type { RouteAnswer } from '../answers/tool.ts'
import { type Child, fill, make } from './elements.ts'
import { chip, facts, findings, table, trouble } from './parts.ts'
import { ask } from './server.ts'

type Explained = NonNullable<RouteAnswer['explanation']>['candidates'][number]

/** Kept while the page is open. */
let request = ''

const pauseMs = 250

/** Asks where a request would lead, and why; no tool is called. */
export function routeBox(): HTMLElement {
  const result = make('div')
  let timer: ReturnType<typeof setTimeout> | undefined
  let wanted = 0
  const text = make('input', {
    type: 'text',
    placeholder: 'Type a request, such as: take a screenshot of the login page',
    label: 'Request',
    onInput: () => {
      request = text.value
      clearTimeout(timer)
      timer = setTimeout(() => void route(), pauseMs)
    },
  })
  text.value = request
  result.setAttribute('aria-live', 'polite')
  const route = async (): Promise<void> => {
    const mine = ++wanted
    if (request.trim() === '') return fill(result)
    try {
      const answer = await ask('route', { request })
      if (mine === wanted) fill(result, routed(answer))
    } catch (error) {
      if (mine === wanted) fill(result, trouble(error))
    }
  }
  void route()
  return make(
    'div',
    {},
    make('p', { class: 'lead' }, 'Which tool a request means, and why. Nothing is called.'),
    make('div', { class: 'ask' }, text),
    result,
  )
}

function routed(answer: RouteAnswer): Child {
  const { decision, tool, category, params, missing = [], margin, heldBack = [] } = answer
  return [
    make(
      'p',
      {},
      chip(words[decision], decision),
      ' ',
      tool === undefined ? undefined : make('a', { to: ['tools', tool] }, tool),
    ),
    facts([
      ['category', category ?? undefined],
      ['parameters', params === undefined ? undefined : make('code', {}, JSON.stringify(params))],
      ['missing', missing.join(', ')],
      ['margin', margin.toFixed(2)],
      ['held back', heldBack.join(', ')],
    ]),
    candidates(answer),
    findings(answer.diagnostics),
  ]
}

const words: Record<RouteAnswer['decision'], string> = {
  answer: 'clear',
  shortlist: 'one of these',
  ask: 'nothing fits well enough',
}

function candidates({ candidates, explanation }: RouteAnswer): Child {
  if (candidates.length === 0) return undefined
  return table(
    ['candidate', 'score', 'why'],
    candidates.map(({ tool, score, unavailable }, at) => {
      const parts = explanation?.candidates.find((one) => one.tool === tool)
      const why = make('details', {}, make('summary', {}, 'its score'), parts && scoreParts(parts))
      why.open = at === 0
      return [
        make('a', { to: ['tools', tool] }, tool),
        score.toFixed(2),
        [
          unavailable === undefined ? undefined : make('div', { class: 'warn' }, unavailable),
          parts?.aheadOfNext === undefined ? undefined : `before the next by ${parts.aheadOfNext}`,
          why,
        ],
      ]
    }),
    [1],
  )
}

function scoreParts({ parts }: Explained): Child {
  return make(
    'div',
    { class: 'parts' },
    parts.map(({ kind, score, text }) => [
      make('span', { class: 'soft' }, kind),
      make('span', { class: 'soft' }, score.toFixed(2)),
      make('span', {}, text),
    ]),
  )
}
