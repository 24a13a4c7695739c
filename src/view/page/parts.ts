import type { Finding } from '../answers/common.ts'
import { type Child, make } from './elements.ts'
import { AskError } from './server.ts'

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

/** A line that a person types in a terminal; the page types nothing itself. */
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
