import type { Answers } from '#view/answers'
import { Answered, useAnswer } from './answer.tsx'
import { addressOf, Chip, Clock, count, Empty, Section, Typed } from './parts.tsx'

type Part = Answers['overview']['parts'][number]
type Entry = Part['entries'][number]

/**
 * The state of the project and what needs attention, as `skillrail` without arguments prints it.
 */
export function OverviewTab() {
  return (
    <div class="single">
      <h1 class="unseen">Overview</h1>
      <Answered name="overview" everyMs={5000}>
        {Parts}
      </Answered>
      <RecentRuns />
    </div>
  )
}

function Parts({ parts }: { parts: readonly Part[] }) {
  const others = parts.flatMap(({ name, entries }) => (name === 'clients' ? [] : entries))
  const urgent = ['problem', 'warning'].flatMap((wanted) =>
    others.filter(({ status }) => status === wanted),
  )
  const clients = parts.find(({ name }) => name === 'clients')?.entries ?? []
  return (
    <>
      <div class="tiles">{parts.map(Tile)}</div>
      {parts.every(({ name, total }) => name !== 'skills' || total === 0) && (
        <Empty text="There are no skills here. This makes one:" line="skillrail new NAME" />
      )}
      <Section title="Needs attention">
        {urgent.length === 0 && (
          <p class="soft">Nothing. All skills are valid and trusted, and no run waits or failed.</p>
        )}
        {groupsOf(urgent).map(Group)}
      </Section>
      <Section title="Agent clients on this machine">
        {clients.length === 0 && (
          <Empty
            text="None was found. With the hook, references arrive in a client before its model runs:"
            line="skillrail hooks install"
          />
        )}
        {clients.map(Row)}
      </Section>
    </>
  )
}

function Tile({ tab, total, summary, entries }: Part) {
  const [title, ...rest] = summary.split(', ')
  const worst = ['problem', 'warning', 'information'].find((one) =>
    entries.some(({ status }) => status === one),
  )
  return (
    <a class={`tile ${total === 0 ? 'none' : (worst ?? 'ok')}`} href={addressOf([tab])}>
      <strong>{title}</strong>
      <span>{rest.join(', ') || '\u00a0'}</span>
    </a>
  )
}

/** Entries that one command fixes, or that say the same about one skill, such as its waiting runs. */
function groupsOf(entries: readonly Entry[]): Entry[][] {
  const isRun = ({ place }: Entry) => place[0] === 'runs'
  const groups = Map.groupBy(entries, (entry) => {
    const { name, state, about, fix } = entry
    return isRun(entry) || fix === undefined ? [name, state, about].join('\n') : fix
  })
  return [...groups.values()]
}

const mostInGroup = 50

/** The first entry, and the others on request. With one command for all of them, it is shown once. */
function Group([first, ...others]: readonly Entry[]) {
  if (first === undefined) return null
  const hasOneFix = others.every(({ fix }) => fix === first.fix)
  return (
    <>
      <Row {...first} />
      {others.length > 0 && (
        <details class="more-of">
          <summary>
            {hasOneFix
              ? `and ${count(others.length)} more that the same command is for`
              : `and ${count(others.length)} more like it`}
          </summary>
          {others.slice(0, mostInGroup).map((one) => (
            <Row {...one} fix={hasOneFix ? undefined : one.fix} />
          ))}
        </details>
      )}
    </>
  )
}

function Row({ name, status, state, about, fix, place }: Entry) {
  // The status of a run has the same colour everywhere.
  const kind = place[0] === 'runs' ? state : status
  return (
    <div class="entry">
      <div>
        <a href={addressOf(place)}>{name}</a> <Chip text={state} kind={kind} />
        <div class="about">{about}</div>
      </div>
      {fix !== undefined && <Typed line={fix} />}
    </div>
  )
}

function RecentRuns() {
  const { answer } = useAnswer('runs', { most: 6 }, { everyMs: 2000 })
  if (answer === undefined || answer.total === 0) return null
  return (
    <Section title="Latest runs">
      {answer.runs.map(({ runId, skill, status, arguments: given, startedAt }) => (
        <a class="row line" href={addressOf(['runs', runId])}>
          <Chip text={status} />
          <span class="name">{skill}</span>
          <span class="about">{given.join(' ')}</span>
          <span class="side">
            <Clock iso={startedAt} />
          </span>
        </a>
      ))}
    </Section>
  )
}
