import type { ListedRun } from '../answers.ts'
import {
  amount,
  type Child,
  chip,
  clock,
  count,
  empty,
  fill,
  make,
  trouble,
  typed,
} from './elements.ts'
import { filteredList, rowHead, splitView } from './filtered-list.ts'
import { openRun, type RunView } from './run-view.ts'
import { ask, AskError } from './server.ts'
import type { Tab, TabView } from './tab.ts'

export const runsTab: Tab = { name: 'runs', title: 'Runs', open }

/** Between two looks at runs that have not ended; none is taken while nobody sees the page. */
const pauseMs = 1200
/** The same after a look that failed. */
const longPauseMs = 5000
const page = 100

function open(): TabView {
  const list = filteredList<ListedRun>({
    noun: 'runs',
    words: ({ runId, skill, status }) => `${runId} ${skill} ${status}`,
    key: ({ runId }) => runId,
    to: ({ runId }) => ['runs', runId],
    content: row,
    empty: () => empty('There are no runs here. This makes one:', 'skillrail run SKILL'),
    kinds: {
      unfinished: ({ status }) => ['running', 'waiting', 'interrupted'].includes(status),
      failed: ({ status }) => status === 'failure' || status === 'critical',
    },
  })
  const older = make('button', { type: 'button', class: 'more', hidden: true })
  const rest = make('div', { class: 'rest' })
  list.element.append(rest, older)
  const resting = make(
    'p',
    { class: 'soft' },
    'Choose a run to see its steps. A running run is updated.',
  )
  const { element, open: show } = splitView(list, 'runs', resting)
  let most = page
  let current: { id: string; view: RunView } | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isClosed = false
  let [wanted, looks] = [0, 0]
  let said = ''

  older.addEventListener('click', () => {
    most += page
    void look()
  })

  async function look(): Promise<void> {
    clearTimeout(timer)
    const mine = ++looks
    let pause = pauseMs
    try {
      if (!document.hidden) await update(mine)
    } catch (error) {
      if (mine === looks) list.fail(trouble(error))
      if (isOver(error)) return
      pause = longPauseMs
    }
    if (mine === looks && !isClosed) timer = setTimeout(() => void look(), pause)
  }

  async function update(mine: number): Promise<void> {
    const { runs, total, limit, diagnostics } = await ask('runs', { most })
    if (mine !== looks) return
    list.update(runs)
    list.showDiagnostics(diagnostics)
    const seen = runs.length + diagnostics.length
    older.hidden = seen >= total || most >= limit
    older.textContent = `Show older ones (${count(runs.length)} of ${amount(total, 'run')} are shown)`
    sayRest(seen, total)
    const followed = current
    try {
      await followed?.view.refresh()
    } catch (error) {
      // It may have been pruned; the list continues.
      if (!(error instanceof AskError) || error.code !== 'run-not-found') throw error
      if (followed !== current) return
      current = undefined
      show(followed?.id, Promise.reject(error))
    }
  }

  /** What is not looked in, and what has all of them where the page cannot. */
  function sayRest(seen: number, total: number): void {
    const now = `${seen} ${total} ${older.hidden}`
    if (now === said) return
    said = now
    fill(
      rest,
      seen < total
        ? make('p', { class: 'soft' }, `The search looks in the newest ${count(seen)} alone.`)
        : undefined,
      seen < total && older.hidden ? typed('skillrail runs list', 'All of them') : undefined,
    )
  }

  void look()
  return {
    element,
    show([id]) {
      const mine = ++wanted
      current = undefined
      show(
        id,
        id === undefined
          ? undefined
          : openRun(id).then((view) => {
              if (mine === wanted) current = { id, view }
              return view.element
            }),
      )
    },
    close() {
      isClosed = true
      wanted++
      clearTimeout(timer)
    },
  }
}

/** Whether no further question will be answered. */
function isOver(error: unknown): boolean {
  return error instanceof AskError && error.code === 'token'
}

function row({ runId, skill, status, finishedSteps, startedAt }: ListedRun): Child {
  return [
    rowHead(skill, chip(status)),
    make(
      'div',
      { class: 'about' },
      make('code', {}, runId),
      ' ',
      clock(startedAt),
      `, ${amount(finishedSteps, 'step')} finished`,
    ),
  ]
}
