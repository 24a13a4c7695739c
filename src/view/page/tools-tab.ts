import type { ListedTool, ServerRow, ToolAnswer, ToolsAnswer } from '../answers/tool.ts'
import { typedLine } from '../typed-line.ts'
import { type Child, fill, make } from './elements.ts'
import { filteredList, rowHead } from './filtered-list.ts'
import { chip, clock, empty, facts, findings, section, table, trouble, typed } from './parts.ts'
import { routeBox } from './route-box.ts'
import { ask } from './server.ts'
import { splitView } from './split-view.ts'
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
