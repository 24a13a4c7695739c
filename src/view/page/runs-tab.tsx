import type { Answers } from '#view/answers'
import { useAnswer } from './answer.tsx'
import { List, RowHead } from './list.tsx'
import { amount, Chip, Clock, count, Empty, Typed } from './parts.tsx'
import { Run } from './run-view.tsx'

type ListedRun = Answers['runs']['runs'][number]

export function RunsTab({ id }: { id: string | undefined }) {
  const { answer, error } = useAnswer('runs', { most: 500 }, { everyMs: 2000 })
  const { runs = [], total = 0, diagnostics = [] } = answer ?? {}
  const seen = runs.length + diagnostics.length
  return (
    <List<ListedRun>
      noun="runs"
      items={answer?.runs}
      error={error}
      diagnostics={diagnostics}
      selected={id}
      Detail={Run}
      resting={<p class="soft">Choose a run to see its steps. A running run is updated.</p>}
      opensFirst
      keyOf={({ runId }) => runId}
      words={({ runId, skill, status }) => [runId, skill, status]}
      content={Row}
      empty={<Empty text="There are no runs here. This makes one:" line="skillrail run SKILL" />}
    >
      {seen < total && (
        <div class="rest">
          <p class="soft">{`The newest ${count(seen)} of ${amount(total, 'run')}.`}</p>
          <Typed line="skillrail runs list" what="All of them" />
        </div>
      )}
    </List>
  )
}

function Row({ runId, skill, status, finishedSteps, failedSteps, startedAt, rail }: ListedRun) {
  return (
    <>
      <RowHead name={skill}>
        <Chip text={status} />
      </RowHead>
      <div class="about">
        <code>{runId}</code> <Clock iso={startedAt} />
        {`, ${amount(finishedSteps, 'step')} finished`}
        {failedSteps > 0 && `, ${failedSteps} failed`}
        {rail && `, ${railWords(rail)}`}
      </div>
    </>
  )
}

function railWords({ client, step, waitsFor }: NonNullable<ListedRun['rail']>): string {
  const parts = [client, step && `step ${step}`, waitsFor && `waits for ${waitsFor}`]
  return parts.filter((part) => part !== undefined && part !== '').join(', ')
}
