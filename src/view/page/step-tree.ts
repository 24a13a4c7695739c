import type { ShownStep } from '../answers/run.ts'
import { fill, make } from './elements.ts'
import { count } from './parts.ts'
import { stepDetail } from './step-detail.ts'
import { barPlace, type Span, spanOf } from './time-span.ts'

export interface StepTree {
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
export function stepTree(runId: string, attempt: number): StepTree {
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

  /** A run that goes on gets longer, and so does its line of time. */
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
