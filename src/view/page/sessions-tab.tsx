import type { JSX } from 'preact'
import type { Answers } from '../questions.ts'
import { Answered, useAnswer } from './answer.tsx'
import { List, RowHead, Split } from './list.tsx'
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

type SessionAnswer = Answers['session']
type SessionsAnswer = Answers['sessions']

export function SessionsTab({ id }: { id: string | undefined }): JSX.Element {
  const { answer, error } = useAnswer('sessions')
  const list = (
    <List<SessionsAnswer['sessions'][number]>
      noun="sessions"
      items={answer?.sessions}
      error={error}
      selected={id}
      keyOf={(session) => session.id}
      words={(session) => session.id}
      content={({ id: name, current, startedAt, completed, calls, isOver }) => (
        <>
          <RowHead name={name}>
            {current && <Chip text="current" kind="wait" />}
            {isOver && <Chip text="over" />}
          </RowHead>
          <div class="about">
            {startedAt !== undefined && ['started ', <Clock iso={startedAt} />, ', ']}
            {`${amount(calls, 'call')}, ${amount(completed, 'prerequisite')} completed`}
          </div>
        </>
      )}
      empty={
        <Empty
          text="There are no sessions here. A call of a tool starts one:"
          line="skillrail tools call SERVER__TOOL"
        />
      }
    />
  )
  const resting = <p class="soft">Choose a session to see what it has completed.</p>
  return (
    <Split tab="sessions" list={list} selected={id} resting={resting}>
      {id !== undefined && <Session key={id} id={id} />}
    </Split>
  )
}

function Session({ id }: { id: string }): JSX.Element {
  const asked = useAnswer('session', { id })
  return <Answered asked={asked}>{(session) => <Details {...session} />}</Answered>
}

function Details(session: SessionAnswer): JSX.Element {
  const { id, path, logPath, startedAt, isOver, completed, calls, allCalls, diagnostics } = session
  return (
    <>
      <h1>Session {id}</h1>
      <Facts
        rows={[
          ['started', startedAt !== undefined && <Clock iso={startedAt} />],
          ['over', isOver ? 'yes; the next call starts a new one' : 'no'],
          ['file', <code>{path}</code>],
          ['log of calls', <code>{logPath}</code>],
        ]}
      />
      <Findings list={diagnostics} />
      <Section title="Completed prerequisites">
        {completed.length === 0 ? (
          <p class="soft">None.</p>
        ) : (
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
        )}
      </Section>
      <Section title="Calls">
        {calls.length === 0 ? (
          <p class="soft">None.</p>
        ) : (
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
        )}
        {allCalls > calls.length && (
          <p class="soft">{`The latest ${count(calls.length)} of ${count(allCalls)}.`}</p>
        )}
      </Section>
    </>
  )
}
