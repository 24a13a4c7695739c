import { chainsTab } from './chains-tab.ts'
import { empty, fill, make, trouble } from './elements.ts'
import { isField, walk } from './filtered-list.ts'
import { runsTab } from './runs-tab.ts'
import { ask, knownToken, takeToken } from './server.ts'
import { sessionsTab } from './sessions-tab.ts'
import { skillsTab } from './skills-tab.ts'
import type { Tab, TabView } from './tab.ts'
import { toolsTab } from './tools-tab.ts'
import { triggersTab } from './triggers-tab.ts'
import { workflowsTab } from './workflows-tab.ts'

const tabs: readonly [Tab, ...Tab[]] = [
  skillsTab,
  triggersTab,
  chainsTab,
  runsTab,
  toolsTab,
  workflowsTab,
  sessionsTab,
]

const main = make('main')
const project = make('span', { class: 'project' })
const links = tabs.map(({ name, title }) => make('a', { to: [name] }, title))
const help = helpDialog(tabs.map(({ title }) => title))
let current: { tab: Tab; view: TabView } | undefined

void begin()

async function begin(): Promise<void> {
  await takeToken().catch(() => undefined)
  document.body.replaceChildren(
    make(
      'header',
      { class: 'top' },
      make('span', { class: 'brand' }, 'Skillrail'),
      make('nav', { class: 'tabs', label: 'Tabs' }, links),
      project,
    ),
    main,
    make(
      'footer',
      { class: 'foot' },
      make('span', {}, 'This page only shows: nothing in it runs, approves or changes anything.'),
      make(
        'button',
        { type: 'button', class: 'link keys', onClick: () => help.showModal() },
        'Keys (?)',
      ),
    ),
    help,
  )
  if (knownToken() === undefined) {
    fill(main, withoutToken())
    return
  }
  window.addEventListener('hashchange', show)
  document.addEventListener('keydown', onKey)
  show()
  try {
    const answer = await ask('project')
    project.textContent = answer.project
    project.title = `${answer.project}, skillrail ${answer.version}`
    document.title = `Skillrail: ${answer.project.split('/').at(-1) ?? ''}`
  } catch (error) {
    fill(main, make('div', { class: 'single' }, trouble(error)))
  }
}

function withoutToken(): HTMLElement {
  return make(
    'div',
    { class: 'single' },
    make('h1', {}, 'Nothing is shown without the whole address'),
    empty(
      'An address works once, in the tab that it was opened in. Where skillrail view runs, a new one is printed when one was used; else this prints one:',
      'skillrail view',
    ),
  )
}

/** Shows what the address says. */
function show(): void {
  const [name = '', ...rest] = location.hash.replace(/^#\/?/, '').split('/').map(decoded)
  const tab = tabs.find((one) => one.name === name) ?? tabs[0]
  if (current?.tab !== tab) {
    current?.view.close?.()
    current = { tab, view: tab.open() }
    fill(main, current.view.element)
  }
  for (const [at, link] of links.entries()) {
    if (tabs[at] !== tab) link.removeAttribute('aria-current')
    else {
      link.setAttribute('aria-current', 'page')
      link.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    }
  }
  current.view.show(rest.filter((word) => word !== ''))
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return ''
  }
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  const { target } = event
  const isTyping = isField(target)
  if (event.key === 'Escape') {
    if (isTyping) target.blur()
    else if (!help.open && current !== undefined) location.hash = `#/${current.tab.name}`
    return
  }
  if (isTyping || help.open) return
  const tab = tabs[Number(event.key) - 1]
  const rows = main.querySelector('.rows')
  if (rows !== null && target === document.body) walk(event, rows)
  if (event.key === '?') help.showModal()
  else if (event.key === 'r') reload()
  else if (event.key === '/') {
    event.preventDefault()
    main.querySelector<HTMLElement>('.search')?.focus()
  } else if (tab !== undefined) location.hash = `#/${tab.name}`
}

function reload(): void {
  current?.view.close?.()
  current = undefined
  show()
}

/** What the keys do. */
function helpDialog(titles: readonly string[]): HTMLDialogElement {
  const close = make('button', { type: 'button' }, 'Close')
  const rows: readonly (readonly [key: string, does: string])[] = [
    ...titles.map((title, at) => [String(at + 1), title] as const),
    ['/', 'search, or type a prompt'],
    ['↑ ↓', 'from row to row'],
    ['Enter', 'open'],
    ['Esc', 'back to the list'],
    ['r', 'read everything again'],
  ]
  const dialog = make(
    'dialog',
    { label: 'Keys' },
    make('h1', {}, 'Keys'),
    make(
      'dl',
      { class: 'facts' },
      rows.map(([key, does]) => [make('dt', {}, make('kbd', {}, key)), make('dd', {}, does)]),
    ),
    close,
  )
  close.addEventListener('click', () => dialog.close())
  return dialog
}
