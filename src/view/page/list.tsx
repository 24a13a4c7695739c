import { useEffect, useRef, useState } from 'preact/hooks'
import type { Diagnostic } from '#core/errors'
import { addressOf, amount, type Child, count, Findings, More, Trouble } from './parts.tsx'

interface ListProperties<Item> {
  noun: string
  /** Undefined while they load. */
  items: readonly Item[] | undefined
  error?: unknown
  diagnostics?: readonly Diagnostic[] | undefined
  selected: string | undefined
  keyOf(item: Item): string
  words(item: Item): readonly (string | undefined)[]
  content(item: Item): Child
  empty: Child
  /** Renders the selected item on the right side. */
  Detail(properties: { id: string }): Child
  /** Shown on the right side while nothing is open. */
  resting: Child
  /** Whether `resting` is shown on a narrow screen too. */
  overview?: boolean
  /** Shows the first item while nothing is open; a narrow screen still shows the list. */
  opensFirst?: boolean
  children?: Child
}

const page = 200

const searches = new Map<string, string>()

/** A list on the left and the open item on the right; a narrow screen shows one of them. */
export function List<Item>(properties: ListProperties<Item>) {
  const { noun, selected, overview = false } = properties
  const first = useFirst(properties)
  const detail = useRef<HTMLDivElement>(null)
  const isOpen = selected !== undefined
  useEffect(() => {
    if (isOpen) detail.current?.focus()
    detail.current?.scrollTo(0, 0)
  }, [selected])
  return (
    <div class={`split${overview ? ' overview' : ''}${isOpen ? ' open' : ''}`}>
      {!isOpen && !overview && <h1 class="unseen">{noun}</h1>}
      <Search {...properties} selected={selected ?? first} />
      <div class="detail" tabIndex={-1} ref={detail}>
        {isOpen && (
          <a class="back" href={addressOf([noun])}>
            ← Back to the list
          </a>
        )}
        <Side {...properties} id={selected ?? first} />
      </div>
    </div>
  )
}

function Side<Item>({ id, Detail, resting }: ListProperties<Item> & { id: string | undefined }) {
  return id === undefined ? <>{resting}</> : <Detail key={id} id={id} />
}

/** The first item when the list arrived: a new run does not replace the one that somebody reads. */
function useFirst<Item>({ items, keyOf, opensFirst = false }: ListProperties<Item>) {
  const [first, setFirst] = useState<string>()
  const newest = items?.[0]
  const key = newest === undefined ? undefined : keyOf(newest)
  useEffect(() => setFirst((before) => before ?? key), [key])
  return opensFirst ? first : undefined
}

function Search<Item>(properties: ListProperties<Item>) {
  const { noun, items = [], error, diagnostics = [], selected, empty } = properties
  const [search, setSearch] = useState(searches.get(noun) ?? '')
  const [shown, setShown] = useState(page)
  const restart = (next: string): void => {
    searches.set(noun, next)
    setSearch(next)
    setShown(page)
  }
  const wanted = search.toLowerCase().split(/\s+/)
  const found = items.filter((item) => {
    const words = properties.words(item).join(' ').toLowerCase()
    return wanted.every((word) => words.includes(word))
  })
  const isAll = found.length === items.length
  return (
    <div class="list">
      <div class="find">
        <input
          type="search"
          class="search"
          placeholder={`Find ${noun}`}
          aria-label={`Find ${noun}`}
          value={search}
          onInput={({ currentTarget }) => restart(currentTarget.value)}
        />
        <span class="count" role="status">
          {isAll ? count(items.length) : `${count(found.length)} of ${count(items.length)}`}
        </span>
      </div>
      {error !== undefined && <Trouble error={error} />}
      <Diagnostics list={diagnostics} />
      <nav class="rows" aria-label={noun}>
        {properties.items?.length === 0 && empty}
        {items.length > 0 && found.length === 0 && (
          <p class="empty">None of {count(items.length)} fits.</p>
        )}
        {found.slice(0, shown).map((item) => {
          const key = properties.keyOf(item)
          return (
            <a
              key={key}
              class="row"
              href={addressOf([noun, key])}
              aria-current={key === selected ? 'true' : undefined}
            >
              {properties.content(item)}
            </a>
          )
        })}
        <More rest={found.length - shown} size={page} onMore={() => setShown(shown + page)} />
      </nav>
      {properties.children}
    </div>
  )
}

const severities: readonly Diagnostic['severity'][] = ['error', 'warning', 'info']

function Diagnostics({ list }: { list: readonly Diagnostic[] }) {
  if (list.length === 0) return null
  const worst = severities.find((one) => list.some(({ severity }) => severity === one))
  return (
    <details class="diagnostics">
      <summary class={worst}>{amount(list.length, 'diagnostic')}</summary>
      <Findings list={list} />
    </details>
  )
}

export function RowHead({ name, children }: { name: string; children?: Child }) {
  return (
    <div class="head">
      <span class="name">{name}</span>
      {children}
    </div>
  )
}
