import type { ShownStep } from '#view/run-answer'
import type { Answers } from '#view/answers'
import { Answered } from './answer.tsx'
import { Gate } from './gate.tsx'
import { Graph } from './graph.tsx'
import { type Child, Chip, Clock, Facts, Findings, LongText, Section, Typed } from './parts.tsx'
import { ask } from './server.ts'

type RunAnswer = Answers['run']

export function Run({ id }: { id: string }) {
  return (
    <Answered name="run" question={{ id }} everyMs={1200}>
      {Standing}
    </Answered>
  )
}

function Standing(run: RunAnswer) {
  const { attempts, failedFirst } = run
  return (
    <>
      <Header {...run} />
      {attempts.toReversed().map((attempt, at) => (
        <Section
          title={attempts.length > 1 ? `Attempt ${attempt.attempt}: ${attempt.status}` : 'Steps'}
        >
          <Errors {...attempt} />
          {attempt.reworks.map((text) => (
            <p class="note">{text}</p>
          ))}
          <Attempt run={run} attempt={attempt} open={at === 0 ? failedFirst : undefined} />
        </Section>
      ))}
    </>
  )
}

function Header(run: RunAnswer) {
  const { runId, skill, status, startedAt, updatedAt, winner, failedFirst, gates, next } = run
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
      <Facts
        rows={[
          ['arguments', run.arguments.join(' ')],
          ['won by', winner],
          ['rail', run.rail],
        ]}
      />
      {failedFirst !== undefined && <p class="note bad">Failed first: {failedFirst}</p>}
      {gates.length === 0 && next.map((one) => <Typed {...one} />)}
      {run.onOtherFiles.length > 0 && (
        <p class="note warn">Files changed since these steps ran: {run.onOtherFiles.join(', ')}</p>
      )}
      {gates.map((gate) => (
        <Gate key={`${gate.key} ${gate.shownDigest}`} runId={runId} gate={gate} />
      ))}
      <Findings list={run.diagnostics} />
    </>
  )
}

interface AttemptProperties {
  run: RunAnswer
  attempt: RunAnswer['attempts'][number]
  open: string | undefined
}

function Attempt({ run, attempt, open }: AttemptProperties) {
  const steps = stepsIn(attempt.steps)
  return (
    <Graph
      graph={run.graph}
      open={open}
      stateOf={({ step }) => steps.get(step)}
      detail={({ step }) => {
        const found = steps.get(step)
        return found && <StepDetail runId={run.runId} attempt={attempt.attempt} step={found} />
      }}
    />
  )
}

export function stepsIn(steps: readonly ShownStep[] = []): ReadonlyMap<string, ShownStep> {
  return new Map(steps.flatMap((step) => [[step.step, step], ...stepsIn(step.steps)]))
}

function StepDetail(properties: { runId: string; attempt: number; step: ShownStep }) {
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
          ['round', step.round?.toString()],
          ['reason', step.reason],
          ['sandbox', step.sandbox],
          ['what to do', step.hint],
          ...metrics,
        ]}
      />
    </>
  )
}

function Errors({ errors }: Pick<ShownStep, 'errors'>): Child {
  return (
    <ul class="plain">
      {errors.map(({ code, message }) => (
        <li>
          <code class="bad">{code}</code> {message}
        </li>
      ))}
    </ul>
  )
}
