import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ShownErrors, ShownStep } from '../run-answer.ts'
import type { Answers } from '../questions.ts'
import { Answered, useFollowed } from './answer.tsx'
import { Graph, type NodeState } from './graph.tsx'
import {
  type Child,
  Chip,
  Clock,
  count,
  Facts,
  Findings,
  LongText,
  Section,
  Typed,
} from './parts.tsx'
import { ask } from './server.ts'

type RunAnswer = Answers['run']

type RunShown = Extract<RunAnswer, { isNew: true }>

export function Run({ id }: { id: string }): JSX.Element {
  const asked = useFollowed(
    'run',
    (last) => ({ id, known: last?.isNew === true ? last.stamp : '' }),
    id,
  )
  return <Answered asked={asked}>{(run) => run.isNew && <Standing {...run} />}</Answered>
}

function Standing(run: RunShown): JSX.Element {
  const { attempts, failedFirst } = run
  // The step that failed first is open from the start.
  const [revealed, setRevealed] = useState({
    steps: failedFirst === undefined ? [] : [failedFirst],
    scroll: false,
  })
  const reveal = (step: string): void => setRevealed({ steps: [step], scroll: true })
  return (
    <>
      <Header {...run} reveal={reveal} />
      {attempts.toReversed().map((attempt, at) => (
        <Section
          title={attempts.length > 1 ? `Attempt ${attempt.attempt}: ${attempt.status}` : 'Steps'}
        >
          <Errors {...attempt} />
          <Attempt run={run} attempt={attempt} revealed={at === 0 ? revealed : undefined} />
        </Section>
      ))}
    </>
  )
}

function Header(run: RunShown & { reveal(step: string): void }): JSX.Element {
  const { runId, skill, status, startedAt, updatedAt, winner, failedFirst, next } = run
  return (
    <>
      <h1>
        {skill} <Chip text={status} />
      </h1>
      <p class="lead">
        Run <code>{runId}</code>, started <Clock iso={startedAt} />, last change{' '}
        <Clock iso={updatedAt} />
        {run.mode === 'stepper' && ', executed by an agent step by step'}
      </p>
      {run.arguments.length > 0 && (
        <p>
          Arguments: <code>{run.arguments.join(' ')}</code>
        </p>
      )}
      {winner !== undefined && (
        <p>
          Won by <strong>{winner}</strong>
        </p>
      )}
      {failedFirst !== undefined && (
        <p class="note bad">
          Failed first:{' '}
          <button type="button" class="link" onClick={() => run.reveal(failedFirst)}>
            {failedFirst}
          </button>
        </p>
      )}
      {next.map(({ what, line }) => (
        <Typed line={line} what={what} />
      ))}
      {status === 'waiting' && run.mode === 'run' && (
        <p class="soft">A user decides in a terminal. This page and models cannot approve.</p>
      )}
      <Findings list={run.diagnostics} />
    </>
  )
}

interface AttemptProperties {
  run: RunShown
  attempt: RunShown['attempts'][number]
  revealed: { steps: readonly string[]; scroll: boolean } | undefined
}

/** The graph of an attempt, each step with its result and its time on that of the run. */
function Attempt({ run, attempt, revealed }: AttemptProperties): JSX.Element {
  const steps = stepsIn(attempt.steps)
  const now = Date.now()
  const span = spanOf([...steps.values()], attempt.status === 'running' ? now : undefined)
  return (
    <Graph
      graph={run.graph}
      revealed={revealed}
      stateOf={({ step }) => stateIn(steps, step, span, now)}
      detail={({ step }) => {
        const found = steps.get(step)
        return found && <StepDetail runId={run.runId} attempt={attempt.attempt} step={found} />
      }}
    />
  )
}

/** The steps of an attempt by their full names. */
export function stepsIn(steps: readonly ShownStep[] = []): ReadonlyMap<string, ShownStep> {
  return new Map(steps.flatMap((step) => [[step.step, step], ...stepsIn(step.steps)]))
}

/** How a step stands; `span` gives it a bar on the time of the run. */
export function stateIn(
  steps: ReadonlyMap<string, ShownStep>,
  name: string,
  span?: Span,
  now = 0,
): NodeState | undefined {
  const step = steps.get(name)
  return step && { ...step, bar: span && barPlace(step, span, now) }
}

function StepDetail(properties: { runId: string; attempt: number; step: ShownStep }): JSX.Element {
  const { runId, attempt, step } = properties
  const { result, log, metrics } = step
  const text = (part: 'result' | 'log'): Child => (
    <LongText
      key={`${part} ${part === 'log' ? log?.size : result.size}`}
      read={(from) => ask('step-text', { id: runId, attempt, step: step.step, part, from })}
    />
  )
  const isLong = result.size > result.text.length
  return (
    <>
      <Errors {...step} />
      {isLong && [<h3>Result</h3>, text('result')]}
      {log !== undefined && log.size > 0 && [<h3>Output</h3>, text('log')]}
      <Facts
        rows={[
          ['result', isLong ? undefined : result.text],
          ['step', step.step],
          ['skill', step.skill],
          ['evidence', step.evidence ?? undefined],
          ['started', step.startedAt === null ? undefined : <Clock iso={step.startedAt} />],
          ['attempts', step.attempts?.join(', ')],
          ['reason', step.reason],
          ['sandbox', step.sandbox],
          ['what to do', step.hint],
          ...metrics,
        ]}
      />
    </>
  )
}

function Errors({ errors, moreErrors }: ShownErrors): Child {
  if (errors.length === 0) return null
  return (
    <ul class="plain">
      {errors.map(({ code, message }) => (
        <li>
          <code class="bad">{code}</code> {message}
        </li>
      ))}
      {moreErrors > 0 && <li class="soft">and {count(moreErrors)} more</li>}
    </ul>
  )
}

interface Span {
  start: number
  length: number
}

/** From the first start to the last end, or to now. */
function spanOf(steps: readonly ShownStep[], now: number | undefined): Span {
  let start = Number.POSITIVE_INFINITY
  let end = now ?? Number.NEGATIVE_INFINITY
  for (const { startedAt, durationMs } of steps) {
    if (startedAt === null) continue
    const at = Date.parse(startedAt)
    start = Math.min(start, at)
    end = Math.max(end, at + durationMs)
  }
  return { start, length: Math.max(1, end - start) }
}

/** Where the bar of a step lies on the line, in percent; undefined for one that has not started. */
function barPlace(step: ShownStep, { start, length }: Span, now: number): NodeState['bar'] {
  if (step.startedAt === null) return undefined
  const percent = (milliseconds: number): number =>
    Math.min(100, Math.max(0, (milliseconds / length) * 100))
  const at = Date.parse(step.startedAt)
  const left = percent(at - start)
  const took = step.status === 'running' ? now - at : step.durationMs
  return { left, width: Math.min(100 - left, percent(took)) }
}
