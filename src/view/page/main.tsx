import { type JSX, render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Ask } from './answer.tsx'
import { ChainsTab } from './chains-tab.tsx'
import { isField, walk } from './list.tsx'
import { addressOf, Empty, Facts } from './parts.tsx'
import { OverviewTab } from './overview-tab.tsx'
import { RunsTab } from './runs-tab.tsx'
import { knownToken, takeToken } from './server.ts'
import { SkillsTab } from './skills-tab.tsx'
import { ToolsTab } from './tools-tab.tsx'
import { TriggersTab } from './triggers-tab.tsx'

type Tab = (properties: { id: string | undefined }) => JSX.Element

const tabs = new Map<string, { title: string; Tab: Tab }>([
  ['overview', { title: 'Overview', Tab: OverviewTab }],
  ['skills', { title: 'Skills', Tab: SkillsTab }],
  ['triggers', { title: 'Triggers', Tab: TriggersTab }],
  ['chains', { title: 'Chains', Tab: ChainsTab }],
  ['runs', { title: 'Runs', Tab: RunsTab }],
  ['tools', { title: 'Tools', Tab: ToolsTab }],
])
const names = [...tabs.keys()]

const start = (): void => render(<Page />, document.body)
void takeToken().then(start, start)

function Page(): JSX.Element {
  const [[name, id], setPlace] = useState(placeOf(location.hash))
  const [version, setVersion] = useState(0)
  const help = useRef<HTMLDialogElement>(null)
  const hasToken = knownToken() !== undefined
  useEffect(() => {
    if (!hasToken) return
    const onHash = (): void => setPlace(placeOf(location.hash))
    const onKey = (event: KeyboardEvent): void =>
      press(event, { name: placeOf(location.hash)[0], help: help.current, reload })
    const reload = (): void => setVersion((before) => before + 1)
    window.addEventListener('hashchange', onHash)
    document.addEventListener('keydown', onKey)
    return () => {
      window.removeEventListener('hashchange', onHash)
      document.removeEventListener('keydown', onKey)
    }
  }, [])
  const Shown = tabs.get(name)?.Tab ?? OverviewTab
  return (
    <>
      <header class="top">
        <span class="brand">Skillrail</span>
        <nav class="tabs" aria-label="Tabs">
          {[...tabs].map(([tab, { title }]) => (
            <a href={addressOf([tab])} aria-current={tab === name ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        {hasToken && <Project />}
      </header>
      <main>{hasToken ? <Shown key={`${name} ${version}`} id={id} /> : <WithoutToken />}</main>
      <footer class="foot">
        <span>Read-only: this page runs and approves nothing.</span>
        <button type="button" class="link keys" onClick={() => help.current?.showModal()}>
          Keys (?)
        </button>
      </footer>
      <dialog aria-label="Keys" ref={help}>
        <h1>Keys</h1>
        <Facts rows={keys.map(([key, does]) => [key, does])} />
        <button type="button" onClick={() => help.current?.close()}>
          Close
        </button>
      </dialog>
    </>
  )
}

function placeOf(hash: string): [name: string, id: string | undefined] {
  const [name = '', id] = hash.replace(/^#\/?/, '').split('/').map(decoded)
  return [tabs.has(name) ? name : 'overview', id === '' ? undefined : id]
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return ''
  }
}

function Project(): JSX.Element {
  return (
    <Ask name="project">
      {({ project, version }) => {
        document.title = `Skillrail: ${project.split('/').at(-1) ?? ''}`
        return (
          <span class="project" title={`${project}, skillrail ${version}`}>
            {project}
          </span>
        )
      }}
    </Ask>
  )
}

function WithoutToken(): JSX.Element {
  return (
    <div class="single">
      <h1>Nothing is shown without the whole address</h1>
      <Empty
        text="An address works once, in the tab that opened it. Where skillrail view runs, it prints a new address after each use. To start it:"
        line="skillrail view"
      />
    </div>
  )
}

const keys: readonly (readonly [key: string, does: string])[] = [
  ...[...tabs.values()].map(({ title }, at) => [String(at + 1), title] as const),
  ['/', 'search, or type a prompt'],
  ['↑ ↓', 'from row to row'],
  ['Enter', 'open'],
  ['Esc', 'back to the list'],
  ['r', 'read everything again'],
]

interface Pressed {
  name: string
  help: HTMLDialogElement | null
  reload(): void
}

function press(event: KeyboardEvent, { name, help, reload }: Pressed): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const { target } = event
  const isTyping = isField(target)
  if (event.key === 'Escape') {
    if (isTyping) target.blur()
    else if (help?.open !== true) location.hash = `#/${name}`
    return
  }
  if (isTyping || help?.open === true) return
  const tab = names[Number(event.key) - 1]
  const rows = document.querySelector('main .rows')
  if (rows !== null && target === document.body) walk(event, rows)
  if (event.key === '?') help?.showModal()
  else if (event.key === 'r') reload()
  else if (event.key === '/') {
    event.preventDefault()
    document.querySelector<HTMLElement>('main .search')?.focus()
  } else if (tab !== undefined) location.hash = `#/${tab}`
}
