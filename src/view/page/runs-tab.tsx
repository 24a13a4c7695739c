import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Answers } from '../questions.ts'
import { useAnswer } from './answer.tsx'
import { List, RowHead } from './list.tsx'
import { amount, Chip, Clock, count, Empty, Typed } from './parts.tsx'
import { Run } from './run-view.tsx'

type ListedRun = Answers['runs']['runs'][number]

const page = 100

export function RunsTab({ id }: { id: string | undefined }): JSX.Element {
  const [most, setMost] = useState(page)
  const { answer, error } = useAnswer('runs', { most }, { everyMs: 2000 })
  const { runs = [], total = 0, limit = 0, diagnostics = [] } = answer ?? {}
  const seen = runs.length + diagnostics.length
  const hasOlder = seen < total && most < limit
  return (
    <List<ListedRun>
      noun="runs"
      items={answer?.runs}
      error={error}
      diagnostics={diagnostics}
      selected={id}
      detail={(key) => <Run key={key} id={key} />}
      resting={<p class="soft">Choose a run to see its steps. A running run is updated.</p>}
      keyOf={({ runId }) => runId}
      words={({ runId, skill, status }) => `${runId} ${skill} ${status}`}
      content={(run) => <Row {...run} />}
      empty={<Empty text="There are no runs here. This makes one:" line="skillrail run SKILL" />}
      kinds={{
        unfinished: ({ status }) => ['running', 'waiting', 'interrupted'].includes(status),
        failed: ({ status }) => status === 'failure' || status === 'critical',
      }}
    >
      <div class="rest">
        {seen < total && (
          <p class="soft">The search looks only in the newest {count(seen)} runs.</p>
        )}
        {seen < total && !hasOlder && <Typed line="skillrail runs list" what="All of them" />}
      </div>
      {hasOlder && (
        <button type="button" class="more" onClick={() => setMost(most + page)}>
          {`Show older runs (${count(runs.length)} of ${amount(total, 'run')} are shown)`}
        </button>
      )}
    </List>
  )
}

function Row({ runId, skill, status, finishedSteps, startedAt }: ListedRun): JSX.Element {
  return (
    <>
      <RowHead name={skill}>
        <Chip text={status} />
      </RowHead>
      <div class="about">
        <code>{runId}</code> <Clock iso={startedAt} />
        {`, ${amount(finishedSteps, 'step')} finished`}
      </div>
    </>
  )
}
