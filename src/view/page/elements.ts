import type { Finding, ShownStep, TextAnswer } from '../answers.ts'
import { AskError } from './server.ts'

export type Child = Node | string | undefined | readonly Child[]

interface Properties {
  class?: string | undefined
  title?: string | undefined
  type?: string | undefined
  label?: string | undefined
  placeholder?: string | undefined
  hidden?: boolean | undefined
  /** Where in this page it leads, by words of its address. */
  to?: readonly string[] | undefined
  onClick?: (() => void) | undefined
  onInput?: (() => void) | undefined
}

/**
 * An element. A text becomes a text and never markup, and an address leads nowhere but within the
 * page, so that nothing a skill or a tool says can act.
 */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  const {
    class: classes,
    title,
    type,
    label,
    placeholder,
    hidden,
    to,
    onClick,
    onInput,
  } = properties
  if (classes !== undefined) element.className = classes
  if (title !== undefined) element.title = title
  if (type !== undefined) element.setAttribute('type', type)
  if (label !== undefined) element.setAttribute('aria-label', label)
  if (placeholder !== undefined) element.setAttribute('placeholder', placeholder)
  if (hidden === true) element.hidden = true
  if (to !== undefined) element.setAttribute('href', addressOf(to))
  if (onClick !== undefined) element.addEventListener('click', onClick)
  if (onInput !== undefined) element.addEventListener('input', onInput)
  fill(element, ...children)
  return element
}

/** Puts these in the place of whatever an element holds. */
export function fill(element: Element, ...children: readonly Child[]): void {
  element.replaceChildren(...flat(children))
}

function flat(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child) => {
    if (child === undefined) return []
    return typeof child === 'string' || child instanceof Node ? [child] : flat(child)
  })
}

export function addressOf(words: readonly string[]): string {
  return `#/${words.map(encodeURIComponent).join('/')}`
}

export function chip(text: string, kind = text): HTMLElement {
  return make('span', { class: `chip ${kind.replaceAll(' ', '-')}` }, text)
}

/** A label and a value each; those without a value are left out. */
export function facts(rows: readonly (readonly [label: string, value: Child])[]): HTMLElement {
  const there = rows.filter(([, value]) => value !== undefined && value !== '')
  return make(
    'dl',
    { class: 'facts' },
    there.map(([label, value]) => [make('dt', {}, label), make('dd', {}, value)]),
  )
}

export function section(title: string, ...children: readonly Child[]): HTMLElement {
  return make('section', {}, make('h2', {}, title), ...children)
}

export function table(
  head: readonly string[],
  rows: readonly (readonly Child[])[],
  numbers: readonly number[] = [],
): HTMLElement {
  const cell = (name: 'th' | 'td', child: Child, column: number): HTMLElement => {
    const made = make(name, { class: numbers.includes(column) ? 'num' : undefined }, child)
    // Where there is no room for columns, each cell says what it is.
    if (name === 'td') made.dataset['label'] = head[column] ?? ''
    return made
  }
  return make(
    'div',
    { class: 'scroll' },
    make(
      'table',
      {},
      make(
        'thead',
        {},
        make(
          'tr',
          {},
          head.map((text, at) => cell('th', text, at)),
        ),
      ),
      make(
        'tbody',
        {},
        rows.map((row) =>
          make(
            'tr',
            {},
            row.map((child, at) => cell('td', child, at)),
          ),
        ),
      ),
    ),
  )
}

/** A line that a user types in a terminal; the page types nothing itself. */
export function typed(line: string, what?: string): HTMLElement {
  const copy = make('button', { type: 'button' }, 'Copy')
  copy.addEventListener('click', () => {
    navigator.clipboard.writeText(line).then(
      () => (copy.textContent = 'Copied'),
      () => (copy.textContent = 'Select it'),
    )
  })
  const said = what === undefined ? undefined : make('span', { class: 'soft' }, what)
  return make('div', { class: 'type' }, said, make('code', {}, line), copy)
}

export function findings(list: readonly Finding[]): HTMLElement | undefined {
  if (list.length === 0) return undefined
  const shown = list.slice(0, mostFindings)
  const rest = list.length - shown.length
  return make(
    'ul',
    { class: 'plain' },
    shown.map(({ severity, message, code, path, line, hint }) =>
      make(
        'li',
        {},
        chip(severity),
        ` ${message} `,
        make('code', { class: 'soft' }, `${place(message, path, line)}[${code}]`),
        hint === undefined ? undefined : make('div', { class: 'soft' }, hint),
      ),
    ),
    rest === 0 ? undefined : make('li', { class: 'soft' }, `and ${count(rest)} more`),
  )
}

/** Where it is, unless the message has said so. */
function place(message: string, path: string, line: number | undefined): string {
  if (!message.includes(path)) return `${path}${line === undefined ? '' : `:${line}`} `
  return line === undefined ? '' : `line ${line} `
}

const mostFindings = 50

/** What went wrong, as a note. */
export function trouble(error: unknown): HTMLElement {
  const message = error instanceof Error ? error.message : String(error)
  const hint = error instanceof AskError && error.hint !== undefined ? `\n${error.hint}` : ''
  const note = make('p', { class: 'note bad' }, `${sentence(message)}${hint}`)
  note.setAttribute('role', 'alert')
  return note
}

/** The note is an error by how it looks, so that its text need not begin with the word. */
function sentence(message: string): string {
  const text = message.replace(/^error: /i, '')
  const first = text.slice(0, 1).toUpperCase() + text.slice(1)
  return /[.!?:]$/.test(first) ? first : `${first}.`
}

/** Why a list is empty, and the command that fills it. */
export function empty(text: string, line?: string): HTMLElement {
  return make(
    'div',
    { class: 'empty' },
    make('p', {}, text),
    line === undefined ? undefined : typed(line),
  )
}

export function count(value: number): string {
  return value.toLocaleString('en-US')
}

export function amount(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

/** A time of this machine: the hour of today, else the day too. */
export function clock(iso: string): HTMLElement {
  const date = new Date(iso)
  const isToday = date.toDateString() === new Date().toDateString()
  const shown = Number.isNaN(date.getTime())
    ? iso
    : isToday
      ? date.toLocaleTimeString()
      : date.toLocaleString()
  return make('time', { title: iso }, shown)
}

export function shortDigest(digest: string): HTMLElement {
  return make('code', { class: 'soft', title: digest }, digest.replace(/^sha256:/, '').slice(0, 12))
}

export function bytes(size: number): string {
  if (size < 1000) return `${size} B`
  if (size < 1_000_000) return `${(size / 1000).toFixed(1)} KB`
  return `${(size / 1_000_000).toFixed(1)} MB`
}

/** A text of any length: its beginning at once, each further piece when somebody wants it. */
export function longText(read: (from: number) => Promise<TextAnswer>): HTMLElement {
  const text = make('pre')
  const more = make('button', { type: 'button', class: 'more', hidden: true })
  const whole = make('div', {}, text, more)
  text.tabIndex = 0
  let next = 0
  const load = async (): Promise<void> => {
    more.disabled = true
    try {
      const piece = await read(next)
      text.append(piece.text)
      if (piece.size === 0) text.replaceWith(make('p', { class: 'soft' }, 'It is empty.'))
      next = piece.next ?? 0
      more.hidden = piece.next === undefined
      more.textContent = `Show more (${count(next)} of ${count(piece.size)} characters are shown)`
    } catch (error) {
      more.replaceWith(trouble(error))
    } finally {
      more.disabled = false
    }
  }
  more.addEventListener('click', () => void load())
  void load()
  return whole
}

/** In milliseconds. */
export interface Span {
  start: number
  length: number
}

/** From the first start to the last end, or to now. */
export function spanOf(steps: readonly ShownStep[], now: number | undefined): Span {
  let start = Number.POSITIVE_INFINITY
  let end = now ?? Number.NEGATIVE_INFINITY
  for (const { startedAt, durationMs } of steps) {
    if (startedAt === null) continue
    const at = Date.parse(startedAt)
    start = Math.min(start, at)
    end = Math.max(end, at + durationMs)
  }
  return { start, length: Math.max(1, end - start) }
}

/** Where the bar of a step lies on the line, in percent; undefined for one that has not started. */
export function barPlace(
  { startedAt, durationMs, status }: ShownStep,
  span: Span,
  now: number,
): { left: number; width: number } | undefined {
  if (startedAt === null) return undefined
  const at = Date.parse(startedAt)
  const took = status === 'running' ? now - at : durationMs
  const left = percent(at - span.start, span)
  return { left, width: Math.min(100 - left, percent(took, span)) }
}

function percent(milliseconds: number, { length }: Span): number {
  return Math.min(100, Math.max(0, (milliseconds / length) * 100))
}
