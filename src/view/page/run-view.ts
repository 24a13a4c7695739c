import type { RunAnswer, ShownErrors, ShownStep } from '../answers.ts'
import {
  barPlace,
  type Child,
  chip,
  clock,
  count,
  facts,
  fill,
  findings,
  longText,
  make,
  section,
  type Span,
  spanOf,
  typed,
} from './elements.ts'
import { ask } from './server.ts'

export interface RunView {
  element: HTMLElement
  /** Asks again, and draws what has changed. */
  refresh(): Promise<void>
}

type Run = Exclude<RunAnswer, { unchanged: true }>

/** One run: how it stands, what a user may type, and its steps. */
export async function openRun(id: string): Promise<RunView> {
  const first = await ask('run', { id })
  if (first.unchanged === true) throw new Error('the run was not sent')
  let run: Run = first
  const head = make('div')
  const place = make('div')
  const trees = new Map<number, StepTree>()
  let headings = ''
  draw()
  // What failed first is what somebody looks for.
  if (first.failedFirst !== undefined) last()?.open(first.failedFirst)
  return {
    element: make('div', {}, head, place),
    async refresh() {
      const answer = await ask('run', { id, known: run.stamp })
      if (answer.unchanged === true) {
        for (const tree of trees.values()) tree.tick()
        return
      }
      run = answer
      draw()
    },
  }

  function draw(): void {
    fill(head, header(run, reveal))
    const several = run.attempts.length > 1
    for (const { attempt, steps, status } of run.attempts) {
      const tree = trees.get(attempt) ?? stepTree(run.runId, attempt)
      trees.set(attempt, tree)
      tree.update(steps, status === 'running')
    }
    const now = JSON.stringify(run.attempts.map((attempt) => ({ ...attempt, steps: undefined })))
    if (now === headings) return
    headings = now
    // The last one decides.
    const sections = run.attempts.toReversed().map((shown) => {
      const { attempt, status } = shown
      const title = several ? `Attempt ${attempt}: ${status}` : 'Steps'
      return section(title, errorList(shown), trees.get(attempt)?.element)
    })
    fill(place, sections)
  }

  /** The attempt that decides. */
  function last(): StepTree | undefined {
    return trees.get(run.attempts.at(-1)?.attempt ?? 1)
  }

  function reveal(step: string): void {
    last()?.open(step)?.scrollIntoView({ block: 'center' })
  }
}

function header(run: Run, reveal: (step: string) => void): Child {
  const { runId, skill, status, startedAt, updatedAt, winner, failedFirst, next } = run
  const given = run.arguments.join(' ')
  return [
    make('h1', {}, skill, ' ', chip(status)),
    make(
      'p',
      { class: 'lead' },
      'Run ',
      make('code', {}, runId),
      ', started ',
      clock(startedAt),
      ', last change ',
      clock(updatedAt),
      run.mode === 'stepper' ? ', carried out by an agent step by step' : '',
    ),
    given === '' ? undefined : make('p', {}, 'Arguments: ', make('code', {}, given)),
    winner === undefined ? undefined : make('p', {}, 'Won by ', make('strong', {}, winner)),
    failedFirst === undefined
      ? undefined
      : make(
          'p',
          { class: 'note bad' },
          'Failed first: ',
          make(
            'button',
            { type: 'button', class: 'link', onClick: () => reveal(failedFirst) },
            failedFirst,
          ),
        ),
    status === 'waiting' && run.mode === 'run'
      ? make(
          'p',
          { class: 'note' },
          'A user decides in a terminal. This page and models cannot approve.',
        )
      : undefined,
    next.map(({ what, line }) => typed(line, what)),
    findings(run.diagnostics),
  ]
}

interface StepTree {
  element: HTMLElement
  update(steps: readonly ShownStep[], isRunning: boolean): void
  /** Time has passed, and nothing else. */
  tick(): void
  /** Shows everything of a step; where it stands then. */
  open(step: string): HTMLElement | undefined
}

/** A step as it is drawn. */
interface Row {
  step: ShownStep
  depth: number
  element: HTMLElement
  head: HTMLButtonElement
  bar: HTMLElement
  opened: HTMLElement | undefined
  /** What is drawn. */
  drawn: string
}

const page = 200

/** The steps of an attempt as a tree, each with its time on one line of time. */
function stepTree(runId: string, attempt: number): StepTree {
  const rows = new Map<string, Row>()
  const list = make('ol', { class: 'tree' })
  const more = make('button', { type: 'button', class: 'more', hidden: true })
  const which = make('select', { label: 'Which steps' })
  fill(
    which,
    ['all steps', 'failed', 'running or waiting'].map((name) => make('option', {}, name)),
  )
  const choice = make('p', { hidden: true }, which)
  let flat: { step: ShownStep; depth: number }[] = []
  let span: Span = { start: 0, length: 1 }
  let isRunning = false
  let shown = page
  let order = ''

  which.addEventListener('change', () => {
    shown = page
    draw()
  })
  more.addEventListener('click', () => {
    shown += page
    draw()
  })

  function draw(): void {
    const fitting = flat.filter(({ step }) => fits(step, which.value))
    const visible = fitting.slice(0, shown)
    for (const { step, depth } of visible) {
      const row = rows.get(step.step) ?? newRow(step, depth)
      rows.set(step.step, row)
      drawRow(row, step)
    }
    place()
    const now = visible.map(({ step }) => step.step).join('\n')
    if (now !== order) {
      order = now
      fill(
        list,
        visible.map(({ step }) => rows.get(step.step)?.element),
        visible.length === 0 ? make('li', { class: 'soft' }, 'No step.') : undefined,
      )
    }
    const rest = fitting.length - visible.length
    more.hidden = rest === 0
    more.textContent = `Show ${count(Math.min(page, rest))} more of ${count(rest)} steps`
    choice.hidden = flat.length < 10
  }

  function newRow(step: ShownStep, depth: number): Row {
    const bar = make('span', { class: 'bar' })
    const head = make('button', { type: 'button' })
    const element = make('li', { class: 'step' }, head)
    element.style.setProperty('--depth', String(depth))
    const row: Row = { step, depth, element, head, bar, opened: undefined, drawn: '' }
    head.addEventListener('click', () => setOpen(row, row.opened === undefined))
    head.setAttribute('aria-expanded', 'false')
    return row
  }

  function drawRow(row: Row, step: ShownStep): void {
    const drawn = JSON.stringify({ ...step, steps: undefined })
    if (drawn === row.drawn) return
    row.drawn = drawn
    row.step = step
    const { status, mark, label, time, said } = step
    row.bar.className = `bar ${status}`
    fill(
      row.head,
      make('span', { class: `mark ${status}`, title: status }, mark),
      make('span', { class: 'name' }, label),
      make('span', { class: 'time' }, time === '' ? status.replace('_', ' ') : time),
      make('span', { class: 'track' }, row.bar),
      make('span', { class: 'said' }, said),
    )
    if (row.opened !== undefined) setOpen(row, true)
  }

  function setOpen(row: Row, isOpen: boolean): void {
    row.opened?.remove()
    row.opened = isOpen ? stepDetail({ runId, attempt, step: row.step }) : undefined
    if (row.opened !== undefined) row.element.append(row.opened)
    row.head.setAttribute('aria-expanded', String(isOpen))
  }

  /** A run that continues gets longer, and so does its line of time. */
  function place(): void {
    const now = Date.now()
    span = spanOf(
      flat.map(({ step }) => step),
      isRunning ? now : undefined,
    )
    for (const { step, bar } of rows.values()) {
      const at = barPlace(step, span, now)
      bar.hidden = at === undefined
      if (at === undefined) continue
      bar.style.left = `${at.left}%`
      bar.style.width = `${at.width}%`
    }
  }

  return {
    element: make('div', {}, choice, list, more),
    update(steps, running) {
      isRunning = running
      flat = flatten(steps, 0)
      draw()
    },
    tick() {
      if (isRunning) place()
    },
    open(name) {
      which.value = 'all steps'
      const at = flat.findIndex(({ step }) => step.step === name)
      shown = Math.max(shown, Math.ceil((at + 1) / page) * page)
      draw()
      const row = rows.get(name)
      if (row !== undefined) setOpen(row, true)
      return row?.element
    },
  }
}

function flatten(steps: readonly ShownStep[], depth: number): { step: ShownStep; depth: number }[] {
  return steps.flatMap((step) => [{ step, depth }, ...flatten(step.steps ?? [], depth + 1)])
}

function fits({ status }: ShownStep, which: string): boolean {
  if (which === 'failed') return status === 'failure' || status === 'critical'
  if (which === 'running or waiting') return status === 'running' || status === 'waiting'
  return true
}

/** Everything of a step besides its row; what it printed is asked for now. */
function stepDetail({
  runId,
  attempt,
  step,
}: {
  runId: string
  attempt: number
  step: ShownStep
}): HTMLElement {
  const { result, log, metrics } = step
  const text = (part: 'result' | 'log'): HTMLElement =>
    longText((from) => ask('step-text', { id: runId, attempt, step: step.step, part, from }))
  const isLong = result.size > result.text.length
  return make(
    'div',
    { class: 'opened' },
    facts([
      ['step', step.step],
      ['skill', step.skill],
      ['status', step.status.replace('_', ' ')],
      ['evidence', step.evidence ?? undefined],
      ['started', step.startedAt === null ? undefined : clock(step.startedAt)],
      ['attempts', step.attempts?.join(', ')],
      ['reason', step.reason],
      ['sandbox', step.sandbox],
      ['what to do', step.hint],
      ['result', isLong ? undefined : result.text],
      ...metrics,
    ]),
    errorList(step, 'Errors'),
    isLong ? [make('h3', {}, 'Result'), text('result')] : undefined,
    log === undefined || log.size === 0 ? undefined : [make('h3', {}, 'Output'), text('log')],
  )
}

/** What is wrong with a step or an attempt, below a title where it has one; nothing where nothing is. */
function errorList({ errors, moreErrors }: ShownErrors, title?: string): Child {
  if (errors.length === 0) return undefined
  return [
    title === undefined ? undefined : make('h3', {}, title),
    make(
      'ul',
      { class: 'plain' },
      errors.map(({ code, message }) =>
        make('li', {}, make('code', { class: 'bad' }, code), ' ', message),
      ),
      moreErrors === 0 ? undefined : make('li', { class: 'soft' }, `and ${count(moreErrors)} more`),
    ),
  ]
}
