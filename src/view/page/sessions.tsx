import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Answers } from '../questions.ts'
import { Ask } from './answer.tsx'
import {
  amount,
  bytes,
  Chip,
  Clock,
  count,
  Empty,
  Facts,
  Findings,
  Section,
  Table,
} from './parts.tsx'

type ListedSession = Answers['sessions']['sessions'][number]

/** Sessions with what each has completed and called. */
export function Sessions(): JSX.Element {
  return (
    <Section title="Sessions">
      <Ask name="sessions">
        {({ sessions }) => (
          <>
            {sessions.length === 0 && (
              <Empty
                text="There are none. A call of a tool starts one:"
                line="skillrail tools call SERVER__TOOL"
              />
            )}
            {sessions.map((session) => (
              <Session key={session.id} {...session} />
            ))}
          </>
        )}
      </Ask>
    </Section>
  )
}

function Session({ id, current, startedAt, completed, calls, isOver }: ListedSession): JSX.Element {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <strong>{id}</strong> {current && <Chip text="current" kind="wait" />}{' '}
        {isOver && <Chip text="over" />}{' '}
        {startedAt !== undefined && ['started ', <Clock iso={startedAt} />, ', ']}
        {`${amount(calls, 'call')}, ${amount(completed, 'prerequisite')} completed`}
      </summary>
      {isOpen && (
        <Ask name="session" question={{ id }}>
          {(session) => <Details {...session} />}
        </Ask>
      )}
    </details>
  )
}

function Details(session: Answers['session']): JSX.Element {
  const { path, logPath, startedAt, isOver, completed, calls, allCalls, diagnostics } = session
  return (
    <>
      <Facts
        rows={[
          ['started', startedAt !== undefined && <Clock iso={startedAt} />],
          ['over', isOver ? 'yes; the next call starts a new one' : 'no'],
          ['file', <code>{path}</code>],
          ['log of calls', <code>{logPath}</code>],
        ]}
      />
      <Findings list={diagnostics} />
      <h3>Completed prerequisites</h3>
      <Table
        head={['workflow', 'tool', 'for', 'at', 'result']}
        rows={completed.map(({ workflow, tool, scope, at, result }) => [
          workflow,
          <code>{tool}</code>,
          <code>{JSON.stringify(scope)}</code>,
          <Clock iso={at} />,
          result,
        ])}
      />
      <h3>Calls</h3>
      <Table
        head={['at', 'tool', 'outcome', 'took', 'size']}
        rows={calls.map(({ at, tool, outcome, durationMs, size }) => [
          <Clock iso={at} />,
          <code>{tool}</code>,
          <Chip text={outcome} />,
          `${count(durationMs)} ms`,
          bytes(size),
        ])}
        numbers={[3, 4]}
      />
      {allCalls > calls.length && (
        <p class="soft">{`The latest ${count(calls.length)} of ${count(allCalls)}.`}</p>
      )}
    </>
  )
}
