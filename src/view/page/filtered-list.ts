import type { Finding } from '../answers.ts'
import { addressOf, amount, type Child, count, fill, findings, make, trouble } from './elements.ts'

interface ListOptions<Item> {
  /** What is listed: `skills`. */
  noun: string
  /** What a filter looks in. */
  words(item: Item): string
  /** Of an item, stable while the page is open. */
  key(item: Item): string
  /** Where it leads. */
  to(item: Item): readonly string[]
  content(item: Item): Child
  /** In the place of the list where there is nothing. */
  empty(): HTMLElement
  /** Names of groups to choose from, and what belongs to each. */
  kinds?: Readonly<Record<string, (item: Item) => boolean>> | undefined
}

interface FilteredList<Item> {
  element: HTMLElement
  update(items: readonly Item[]): void
  /** Marks the one that is open. */
  select(key: string | undefined): void
  /** Gives the focus to the row of this key, where it is shown. */
  focus(key: string): void
  /** Says above the rows what is wrong with what they come from. */
  showDiagnostics(list: readonly Finding[]): void
  /** Why there is nothing new; what is there stays until {@link update}. */
  fail(note: HTMLElement): void
}

/** At most this many rows are made at a time; thousands of them would be slow to draw. */
const page = 200

const severities: readonly Finding['severity'][] = ['error', 'warning', 'info']

/** By noun, what was searched for: kept while the page is open, so that one may look elsewhere. */
const searches = new Map<string, { text: string; kind: string }>()

/** A list with a search, which the arrow keys walk through. */
export function filteredList<Item>(options: ListOptions<Item>): FilteredList<Item> {
  const { noun, kinds = {} } = options
  let items: readonly Item[] = []
  let selected: string | undefined
  let shown = page
  let drawn = ''
  let remarked = '[]'

  const search = make('input', {
    type: 'search',
    placeholder: `Find ${noun}`,
    label: `Find ${noun}`,
    class: 'search',
    onInput: () => restart(),
  })
  const kind = make('select', { label: `Which ${noun}`, hidden: Object.keys(kinds).length === 0 })
  fill(
    kind,
    ['all', ...Object.keys(kinds)].map((name) => make('option', {}, name)),
  )
  kind.addEventListener('change', () => restart())
  const kept = searches.get(noun)
  if (kept !== undefined) {
    search.value = kept.text
    kind.value = kept.kind
  }
  const counted = make('span', { class: 'count' })
  counted.setAttribute('role', 'status')
  const rows = make('nav', { class: 'rows', label: noun })
  const diagnosticsBox = make('div')
  const failure = make('div')
  const element = make(
    'div',
    { class: 'list' },
    make('div', { class: 'find' }, search, kind, counted),
    failure,
    diagnosticsBox,
    rows,
  )
  element.addEventListener('keydown', (event) => walk(event, rows))

  function restart(): void {
    searches.set(noun, { text: search.value, kind: kind.value })
    shown = page
    rows.scrollTop = 0
    draw()
  }

  function draw(): void {
    const found = items.filter((item) => fits(item))
    const signature = JSON.stringify([found.slice(0, shown), found.length, selected, items.length])
    if (signature === drawn) return
    drawn = signature
    counted.textContent =
      found.length === items.length
        ? count(items.length)
        : `${count(found.length)} of ${count(items.length)}`
    const focused = document.activeElement?.getAttribute('href')
    const rest = found.length - shown
    fill(
      rows,
      items.length === 0 ? options.empty() : undefined,
      items.length > 0 && found.length === 0
        ? make('p', { class: 'empty' }, `None of ${count(items.length)} fits.`)
        : undefined,
      found.slice(0, shown).map((item) => row(item)),
      rest > 0
        ? make(
            'button',
            {
              type: 'button',
              class: 'more',
              onClick: () => {
                shown += page
                draw()
              },
            },
            `Show ${count(Math.min(page, rest))} more of ${count(rest)}`,
          )
        : undefined,
    )
    if (focused != null && focused !== '') focusOn(focused, { preventScroll: true })
  }

  function focusOn(address: string, how?: FocusOptions): void {
    for (const link of rows.querySelectorAll('a')) {
      if (link.getAttribute('href') === address) link.focus(how)
    }
  }

  function fits(item: Item): boolean {
    const chosen = kinds[kind.value]
    if (chosen !== undefined && !chosen(item)) return false
    const wanted = search.value.toLowerCase().split(/\s+/)
    const words = options.words(item).toLowerCase()
    return wanted.every((word) => words.includes(word))
  }

  function row(item: Item): HTMLElement {
    const link = make('a', { class: 'row', to: options.to(item) }, options.content(item))
    if (options.key(item) === selected) link.setAttribute('aria-current', 'true')
    return link
  }

  return {
    element,
    update(given) {
      items = given
      fill(failure)
      draw()
    },
    select(key) {
      selected = key
      if (drawn !== '') draw()
    },
    focus(key) {
      const item = items.find((one) => options.key(one) === key)
      if (item !== undefined) focusOn(addressOf(options.to(item)))
    },
    showDiagnostics(list) {
      const signature = JSON.stringify(list)
      if (signature === remarked) return
      remarked = signature
      const worst = severities.find((one) => list.some(({ severity }) => severity === one))
      const head = make('summary', { class: worst }, amount(list.length, 'diagnostic'))
      fill(
        diagnosticsBox,
        list.length === 0
          ? undefined
          : make('details', { class: 'diagnostics' }, head, findings(list)),
      )
    },
    fail: (note) => fill(failure, note),
  }
}

/** Up and down go from row to row, out of the search too, and first of all to the one that is open. */
export function walk(event: KeyboardEvent, list: Element): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step === 0 || event.target instanceof HTMLSelectElement) return
  const links = [...list.querySelectorAll<HTMLElement>('a.row')]
  const at = links.findIndex((link) => link === document.activeElement)
  const open = links.findIndex((link) => link.ariaCurrent === 'true')
  const next = links[at === -1 ? Math.max(0, open) : at + step]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

/** The first line of a row: its name, and what stands at its end. */
export function rowHead(name: string, ...side: readonly Child[]): HTMLElement {
  return make('div', { class: 'head' }, make('span', { class: 'name' }, name), ...side)
}

interface SplitView {
  element: HTMLElement
  /**
   * Marks the row of this key and fills the right side with what comes, unless something else was
   * wanted meanwhile. `undefined` shows what stands there while nothing is open, and goes back to the
   * row that was.
   */
  open(key: string | undefined, content: Promise<Child> | undefined): void
}

/** A list, of which one row may be marked. */
interface Rows {
  element: HTMLElement
  select(key: string | undefined): void
  /** Gives the focus to the row of this key, where it is shown. */
  focus(key: string): void
}

/** A list on the left and what is open on the right; on a narrow screen one of them. */
export function splitView(
  list: Rows,
  tab: string,
  resting: Child,
  { overview = false }: { overview?: boolean } = {},
): SplitView {
  const detail = make('div', { class: 'detail' })
  detail.tabIndex = -1
  const classes = overview ? 'split overview' : 'split'
  const element = make('div', { class: classes }, list.element, detail)
  const back = make('a', { class: 'back', to: [tab] }, '← Back to the list')
  let wanted = 0
  let opened: string | undefined
  return {
    element,
    open(key, content) {
      const mine = ++wanted
      const left = opened
      opened = key
      list.select(key)
      element.classList.toggle('open', content !== undefined)
      if (content === undefined) {
        fill(detail, resting)
        if (left !== undefined) list.focus(left)
        return
      }
      const put = (child: Child): void => {
        if (mine !== wanted) return
        fill(detail, back, child)
        detail.scrollTop = 0
        // Whoever types meanwhile continues typing.
        if (!isField(document.activeElement)) detail.focus({ preventScroll: true })
      }
      content.then(put, (error: unknown) => put(trouble(error)))
    },
  }
}

/** Whether keys that are pressed there are text. */
export function isField(target: unknown): target is HTMLElement {
  return target instanceof HTMLElement && target.matches('input, textarea, select')
}
