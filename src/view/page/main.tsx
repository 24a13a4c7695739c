import { type JSX, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Answered } from './answer.tsx'
import { ChainsTab } from './chains-tab.tsx'
import { addressOf, Empty } from './parts.tsx'
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

const start = (): void => render(<Page />, document.body)
void takeToken().then(start, start)

function Page() {
  const [[name, id], setPlace] = useState(placeOf(location.hash))
  const hasToken = knownToken() !== undefined
  useEffect(() => {
    window.addEventListener('hashchange', () => setPlace(placeOf(location.hash)))
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
      <main>{hasToken ? <Shown key={name} id={id} /> : <WithoutToken />}</main>
      <footer class="foot">
        This page decides about gates where you click, and changes nothing else.
      </footer>
    </>
  )
}

function placeOf(hash: string): [name: string, id: string | undefined] {
  const [name = '', id] = hash.replace(/^#\/?/, '').split('/').map(decoded)
  return [tabs.has(name) ? name : 'overview', id === '' ? undefined : id]
}

function decoded(word: string) {
  try {
    return decodeURIComponent(word)
  } catch {
    return ''
  }
}

function Project() {
  return (
    <Answered name="project">
      {({ project, version }) => {
        document.title = `Skillrail: ${project.split('/').at(-1) ?? ''}`
        return (
          <span class="project" title={`${project}, skillrail ${version}`}>
            {project}
          </span>
        )
      }}
    </Answered>
  )
}

function WithoutToken() {
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
