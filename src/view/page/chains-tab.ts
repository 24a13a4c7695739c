import type { ChainsAnswer, PlanAnswer, PlannedStep } from '../answers.ts'
import { typedLine } from '../shared-with-page.ts'
import {
  amount,
  type Child,
  chip,
  count,
  empty,
  facts,
  fill,
  findings,
  make,
  section,
  shortDigest,
  trouble,
  typed,
} from './elements.ts'
import { filteredList, rowHead, splitView } from './filtered-list.ts'
import { ask } from './server.ts'
import type { Tab, TabView } from './tab.ts'

export const chainsTab: Tab = { name: 'chains', title: 'Chains', open }

type ListedChain = ChainsAnswer['chains'][number]

function open(): TabView {
  const list = filteredList<ListedChain>({
    noun: 'chains',
    words: ({ name, description }) => `${name} ${description}`,
    key: ({ id }) => id,
    to: ({ id }) => ['chains', id],
    content: ({ name, description, steps, trust }) => [
      rowHead(name, make('span', { class: 'side' }, amount(steps, 'step'))),
      make('div', { class: 'about' }, description),
      trust === 'trusted' ? undefined : make('div', { class: 'chips' }, chip(trust)),
    ],
    empty: () =>
      empty(
        'No skill here is a chain. A skill becomes one by naming others in its frontmatter, as chain below metadata. This makes a skill:',
        'skillrail new NAME',
      ),
  })
  const resting = make('p', { class: 'soft' }, 'Choose a chain to see what it would run, and how.')
  const { element, open: show } = splitView(list, 'chains', resting)
  ask('chains').then(
    ({ chains }) => list.update(chains),
    (error: unknown) => list.fail(trouble(error)),
  )
  return {
    element,
    show([id]) {
      show(id, id === undefined ? undefined : ask('plan', { id }).then((plan) => detail(id, plan)))
    },
  }
}

function detail(
  id: string,
  { skill, digest, policy, defaults, steps, diagnostics }: PlanAnswer,
): Child {
  return [
    make('h1', {}, skill),
    make(
      'p',
      { class: 'chips' },
      make('span', { class: 'soft' }, 'plan '),
      shortDigest(digest),
      make('a', { to: ['skills', id] }, 'See it as a skill'),
    ),
    findings(diagnostics),
    typed(typedLine('skillrail', 'run', skill), 'Run it'),
    section('Steps', stepsInPieces(steps)),
    section('Policy', policyParts(policy, defaults)),
  ]
}

/** What the chain itself decides comes first. */
function policyParts(policy: object, defaults: object): Child {
  const usual = new Map(
    Object.entries(defaults).map(([name, value]) => [name, JSON.stringify(value)]),
  )
  const rows = Object.entries(policy).map(([name, value]) => [name, JSON.stringify(value)] as const)
  const own = rows.filter(([name, value]) => value !== usual.get(name))
  const rest = rows.filter(([name, value]) => value === usual.get(name))
  return [
    own.length === 0
      ? make('p', { class: 'soft' }, 'The chain leaves everything as it is by default.')
      : facts(own),
    make('details', {}, make('summary', {}, 'What applies by default'), facts(rest)),
  ]
}

/** At most this many steps are drawn at a time. */
const page = 200

function stepsInPieces(steps: readonly PlannedStep[]): Child {
  const place = make('div')
  const more = make('button', { type: 'button', class: 'more' })
  const all = countOf(steps)
  let shown = 0
  const draw = (): void => {
    shown += page
    fill(place, planList(steps, { steps: shown }))
    const rest = all - shown
    more.hidden = rest <= 0
    more.textContent = `Show ${count(Math.min(page, rest))} more of ${amount(rest, 'step')}`
  }
  more.addEventListener('click', draw)
  draw()
  return [place, more]
}

function countOf(steps: readonly PlannedStep[]): number {
  return steps.reduce((sum, step) => sum + 1 + countOf(step.steps ?? []), 0)
}

/** As many as there is room for, which is used up. */
function planList(steps: readonly PlannedStep[], room: { steps: number }): HTMLElement {
  const list = make('ol', { class: 'plan' })
  for (const step of steps) {
    if (room.steps === 0) break
    room.steps--
    list.append(planStep(step, room))
  }
  return list
}

function planStep(step: PlannedStep, room: { steps: number }): HTMLElement {
  const {
    executor,
    script,
    client,
    model,
    trust,
    digest,
    tokens,
    gate,
    verify,
    sandboxed,
    notHonoured = [],
  } = step
  const how = [executor, script ?? client ?? model].filter((word) => word !== undefined).join(' ')
  const isAsync = step.policy !== undefined && 'async' in step.policy && step.policy.async === true
  return make(
    'li',
    {},
    make(
      'div',
      { class: 'line' },
      make('span', { class: 'name' }, step.step),
      chip(trust),
      make('code', {}, how),
      make('span', { class: 'soft' }, amount(tokens, 'token')),
      shortDigest(digest),
      gate === true ? chip('waits for a user', 'waiting') : undefined,
      verify === undefined ? undefined : chip(`verified by ${verify}`, 'verify'),
      sandboxed === true ? chip('in the sandbox', 'sandbox') : undefined,
      isAsync ? chip('in parallel', 'parallel') : undefined,
      notHonoured.length === 0
        ? undefined
        : chip(`cannot honour ${notHonoured.join(', ')}`, 'warning'),
    ),
    step.steps === undefined ? undefined : planList(step.steps, room),
  )
}
