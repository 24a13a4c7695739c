import type { SessionAnswer, SessionsAnswer } from '../answers.ts'
import {
  amount,
  bytes,
  type Child,
  chip,
  clock,
  count,
  empty,
  facts,
  findings,
  make,
  section,
  table,
  trouble,
} from './elements.ts'
import { filteredList, rowHead, splitView } from './filtered-list.ts'
import { ask } from './server.ts'
import type { Tab, TabView } from './tab.ts'

export const sessionsTab: Tab = { name: 'sessions', title: 'Sessions', open }

type ListedSession = SessionsAnswer['sessions'][number]

function open(): TabView {
  const list = filteredList<ListedSession>({
    noun: 'sessions',
    words: ({ id }) => id,
    key: ({ id }) => id,
    to: ({ id }) => ['sessions', id],
    content: row,
    empty: () =>
      empty(
        'No session has done anything here. A call of a tool begins one:',
        'skillrail tools call SERVER__TOOL',
      ),
  })
  const resting = make('p', { class: 'soft' }, 'Choose a session to see what it has already done.')
  const { element, open: show } = splitView(list, 'sessions', resting)
  ask('sessions').then(
    ({ sessions }) => list.update(sessions),
    (error: unknown) => list.fail(trouble(error)),
  )
  return {
    element,
    show([id]) {
      show(id, id === undefined ? undefined : ask('session', { id }).then(detail))
    },
  }
}

function row({ id, current, startedAt, completed, calls, isOver }: ListedSession): Child {
  return [
    rowHead(id, current ? chip('this one', 'wait') : undefined, isOver ? chip('over') : undefined),
    make(
      'div',
      { class: 'about' },
      startedAt === undefined ? undefined : ['started ', clock(startedAt), ', '],
      `${amount(calls, 'call')}, ${amount(completed, 'prerequisite')} done`,
    ),
  ]
}

function detail(session: SessionAnswer): Child {
  const { id, path, logPath, startedAt, isOver, completed, calls, allCalls, diagnostics } = session
  return [
    make('h1', {}, `Session ${id}`),
    facts([
      ['started', startedAt === undefined ? undefined : clock(startedAt)],
      ['over', isOver ? 'yes; the next call begins a new one' : 'no'],
      ['kept in', make('code', {}, path)],
      ['its calls in', make('code', {}, logPath)],
    ]),
    findings(diagnostics),
    section(
      'Prerequisites that hold',
      completed.length === 0
        ? make('p', { class: 'soft' }, 'None has run.')
        : table(
            ['workflow', 'tool', 'for', 'at', 'result'],
            completed.map(({ workflow, tool, scope, at, result }) => [
              workflow,
              make('code', {}, tool),
              make('code', {}, JSON.stringify(scope)),
              clock(at),
              result,
            ]),
          ),
    ),
    section(
      'Calls',
      calls.length === 0
        ? make('p', { class: 'soft' }, 'There was none.')
        : table(
            ['at', 'tool', 'outcome', 'took', 'size'],
            calls.map(({ at, tool, outcome, durationMs, size }) => [
              clock(at),
              make('code', {}, tool),
              chip(outcome),
              `${count(durationMs)} ms`,
              bytes(size),
            ]),
            [3, 4],
          ),
      allCalls > calls.length
        ? make('p', { class: 'soft' }, `The latest ${count(calls.length)} of ${count(allCalls)}.`)
        : undefined,
    ),
  ]
}
