import type { ListedTool, RouteAnswer, ServerRow, ToolAnswer, ToolsAnswer } from '../answers.ts'
import { typedLine } from '../shared-with-page.ts'
import {
  type Child,
  chip,
  clock,
  empty,
  facts,
  fill,
  findings,
  make,
  section,
  table,
  trouble,
  typed,
} from './elements.ts'
import { filteredList, rowHead, splitView } from './filtered-list.ts'
import { ask } from './server.ts'
import type { Tab, TabView } from './tab.ts'

export const toolsTab: Tab = { name: 'tools', title: 'Tools', open }

function open(): TabView {
  const list = filteredList<ListedTool>({
    noun: 'tools',
    words: ({ id, description, category = '' }) => `${id} ${description} ${category}`,
    key: ({ id }) => id,
    to: ({ id }) => ['tools', id],
    content: row,
    empty: () =>
      empty(
        'No tools are known here. This asks the servers for theirs:',
        'skillrail tools refresh',
      ),
    kinds: {
      'only reads': ({ readOnly }) => readOnly === true,
      'held back': ({ caution }) => caution !== undefined,
    },
  })
  const servers = make('div')
  const overview = make('div', {}, make('h1', {}, 'Tools'), routeBox(), servers)
  const { element, open: show } = splitView(list, 'tools', overview, { overview: true })
  ask('tools').then(
    (answer) => {
      list.update(answer.tools)
      fill(servers, serverParts(answer))
    },
    (error: unknown) => list.fail(trouble(error)),
  )
  return {
    element,
    show([id]) {
      show(id, id === undefined ? undefined : ask('tool', { id }).then(detail))
    },
  }
}

function row({ id, description, category, readOnly, caution }: ListedTool): Child {
  return [
    rowHead(id, make('span', { class: 'side' }, category ?? '')),
    make('div', { class: 'about' }, description),
    caution === undefined && readOnly !== true
      ? undefined
      : make(
          'div',
          { class: 'chips' },
          readOnly === true ? chip('only reads', 'reads') : undefined,
          caution === undefined ? undefined : chip(caution),
        ),
  ]
}

function serverParts({ servers, state, message, refreshedAt, diagnostics }: ToolsAnswer): Child {
  const standing =
    state === 'fresh' || message === undefined
      ? undefined
      : make('p', { class: 'note warn' }, message)
  return [
    section(
      'Servers',
      standing,
      refreshedAt === undefined
        ? undefined
        : make('p', { class: 'soft' }, 'Their tools were last listed ', clock(refreshedAt)),
      servers.length === 0
        ? empty(
            'No servers are configured here. This shows where they are looked for:',
            'skillrail tools import --all',
          )
        : servers.map(serverPart),
      findings(diagnostics),
    ),
  ]
}

function serverPart({ name, state, client, path, address, message, stderrTail }: ServerRow): Child {
  return make(
    'div',
    {},
    make('h3', {}, name, ' ', chip(state)),
    facts([
      ['reached by', make('code', {}, address)],
      ['from', `${client} ${path}`],
    ]),
    message === undefined ? undefined : make('p', { class: 'note warn' }, message),
    stderrTail === undefined || stderrTail === '' ? undefined : make('pre', {}, stderrTail),
  )
}

function detail(tool: ToolAnswer): Child {
  const { id, server, description, category, readOnly, hints, caution, workflows } = tool
  return [
    make('h1', {}, id),
    make('p', { class: 'lead' }, description),
    caution === undefined
      ? undefined
      : [make('p', { class: 'note warn' }, 'Held back.'), make('pre', {}, caution)],
    facts([
      ['server', server],
      ['category', category ?? 'none'],
      ['only reads', readOnly ? 'yes' : 'no'],
      ['hints of the server', hints],
      ['workflows before it', workflows.join(', ')],
    ]),
    section('Parameters', parameters(tool)),
    tool.examples.length === 0
      ? undefined
      : section(
          'Was asked for as',
          make(
            'ul',
            {},
            tool.examples.map((text) => make('li', {}, text)),
          ),
        ),
    section('In a terminal', typed(typedLine('skillrail', 'tools', 'show', id))),
  ]
}

function parameters({ parameters, isDefined }: ToolAnswer): Child {
  if (!isDefined) {
    return empty(
      'Its schema is not kept on this machine. This asks for it:',
      'skillrail tools refresh',
    )
  }
  if (parameters.length === 0) return make('p', { class: 'soft' }, 'It takes none.')
  return table(
    ['name', 'type', 'about'],
    parameters.map(({ name, required, type, description, limits, default: fallback }) => [
      [make('code', {}, name), required ? [' ', chip('required', 'wait')] : undefined],
      [type, ...limits.map((limit) => make('div', { class: 'soft' }, limit))],
      [
        description,
        fallback === undefined ? undefined : make('div', { class: 'soft' }, `default ${fallback}`),
      ],
    ]),
  )
}

type Explained = NonNullable<RouteAnswer['explanation']>['candidates'][number]

/** Kept while the page is open. */
let request = ''

const pauseMs = 250

/** Asks where a request would lead, and why; no tool is called. */
function routeBox(): HTMLElement {
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
