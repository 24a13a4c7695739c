import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ShownErrors, ShownStep } from '../run-answer.ts'
import type { Answers } from '../questions.ts'
import { Answered, useFollowed } from './answer.tsx'
import {
  type Child,
  Chip,
  Clock,
  count,
  Facts,
  Findings,
  LongText,
  More,
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
  // The step that failed first is open from the start.
  const [revealed, setRevealed] = useState({ step: run.failedFirst, scroll: false })
  const { attempts } = run
  const reveal = (step: string): void => setRevealed({ step, scroll: true })
  return (
    <>
      <Header {...run} reveal={reveal} />
      {attempts.toReversed().map((attempt, at) => (
        <Section
          title={attempts.length > 1 ? `Attempt ${attempt.attempt}: ${attempt.status}` : 'Steps'}
        >
          <Errors {...attempt} />
          <Tree
            runId={run.runId}
            attempt={attempt.attempt}
            steps={attempt.steps}
            isRunning={attempt.status === 'running'}
            revealed={at === 0 ? revealed : undefined}
          />
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
      {status === 'waiting' && run.mode === 'run' && (
        <p class="note">A user decides in a terminal. This page and models cannot approve.</p>
      )}
      {next.map(({ what, line }) => (
        <Typed line={line} what={what} />
      ))}
      <Findings list={run.diagnostics} />
    </>
  )
}

interface TreeProperties {
  runId: string
  attempt: number
  steps: readonly ShownStep[]
  isRunning: boolean
  /** A step to open, and whether to scroll to it. */
  revealed: { step: string | undefined; scroll: boolean } | undefined
}

const page = 200

const choices: Readonly<Record<string, (step: ShownStep) => boolean>> = {
  'all steps': () => true,
  failed: ({ status }) => status === 'failure' || status === 'critical',
  'running or waiting': ({ status }) => status === 'running' || status === 'waiting',
}

/** The steps of an attempt as a tree, each with its time on one line of time. */
function Tree({ runId, attempt, steps, isRunning, revealed }: TreeProperties): JSX.Element {
  const [choice, setChoice] = useState('all steps')
  const [shown, setShown] = useState(page)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set())
  const list = useRef<HTMLOListElement>(null)
  const flat = flatten(steps, 0)
  const now = Date.now()
  const span = spanOf(
    flat.map(({ step }) => step),
    isRunning ? now : undefined,
  )
  const fitting = flat.filter(({ step }) => choices[choice]?.(step) ?? true)
  useEffect(() => {
    if (revealed?.step === undefined) return
    const at = flat.findIndex(({ step }) => step.step === revealed.step)
    setChoice('all steps')
    setShown((before) => Math.max(before, Math.ceil((at + 1) / page) * page))
    setOpened((before) => new Set([...before, revealed.step ?? '']))
    if (revealed.scroll) list.current?.children[at]?.scrollIntoView({ block: 'center' })
  }, [revealed])
  const toggle = (name: string): void => {
    setOpened((before) => {
      const after = new Set(before)
      if (!after.delete(name)) after.add(name)
      return after
    })
  }
  return (
    <div>
      {flat.length >= 10 && (
        <p>
          <select
            aria-label="Which steps"
            value={choice}
            onChange={({ currentTarget }) => setChoice(currentTarget.value)}
          >
            {Object.keys(choices).map((name) => (
              <option>{name}</option>
            ))}
          </select>
        </p>
      )}
      <ol class="tree" ref={list}>
        {fitting.length === 0 && <li class="soft">No step.</li>}
        {fitting.slice(0, shown).map(({ step, depth }) => {
          const isOpen = opened.has(step.step)
          return (
            <li key={step.step} class="step" style={{ '--depth': String(depth) }}>
              <button type="button" aria-expanded={isOpen} onClick={() => toggle(step.step)}>
                <StepLine step={step} bar={barPlace(step, span, now)} />
              </button>
              {isOpen && <StepDetail runId={runId} attempt={attempt} step={step} />}
            </li>
          )
        })}
      </ol>
      <More
        rest={fitting.length - shown}
        noun=" steps"
        size={page}
        onMore={() => setShown(shown + page)}
      />
    </div>
  )
}

interface BarPlace {
  left: number
  width: number
}

function StepLine({ step, bar }: { step: ShownStep; bar: BarPlace | undefined }): JSX.Element {
  const { status, mark, label, time, said } = step
  return (
    <>
      <span class={`mark ${status}`} title={status}>
        {mark}
      </span>
      <span class="name">{label}</span>
      <span class="time">{time === '' ? status.replace('_', ' ') : time}</span>
      <span class="track">
        {bar !== undefined && (
          <span class={`bar ${status}`} style={{ left: `${bar.left}%`, width: `${bar.width}%` }} />
        )}
      </span>
      <span class="said">{said}</span>
    </>
  )
}

function flatten(steps: readonly ShownStep[], depth: number): { step: ShownStep; depth: number }[] {
  return steps.flatMap((step) => [{ step, depth }, ...flatten(step.steps ?? [], depth + 1)])
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
    <div class="opened">
      <Facts
        rows={[
          ['step', step.step],
          ['skill', step.skill],
          ['status', step.status.replace('_', ' ')],
          ['evidence', step.evidence ?? undefined],
          ['started', step.startedAt === null ? undefined : <Clock iso={step.startedAt} />],
          ['attempts', step.attempts?.join(', ')],
          ['reason', step.reason],
          ['sandbox', step.sandbox],
          ['what to do', step.hint],
          ['result', isLong ? undefined : result.text],
          ...metrics,
        ]}
      />
      <Errors {...step} title="Errors" />
      {isLong && [<h3>Result</h3>, text('result')]}
      {log !== undefined && log.size > 0 && [<h3>Output</h3>, text('log')]}
    </div>
  )
}

function Errors({ errors, moreErrors, title }: ShownErrors & { title?: string }): Child {
  if (errors.length === 0) return null
  return (
    <>
      {title !== undefined && <h3>{title}</h3>}
      <ul class="plain">
        {errors.map(({ code, message }) => (
          <li>
            <code class="bad">{code}</code> {message}
          </li>
        ))}
        {moreErrors > 0 && <li class="soft">and {count(moreErrors)} more</li>}
      </ul>
    </>
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
function barPlace(step: ShownStep, { start, length }: Span, now: number): BarPlace | undefined {
  if (step.startedAt === null) return undefined
  const percent = (milliseconds: number): number =>
    Math.min(100, Math.max(0, (milliseconds / length) * 100))
  const at = Date.parse(step.startedAt)
  const left = percent(at - start)
  const took = step.status === 'running' ? now - at : step.durationMs
  return { left, width: Math.min(100 - left, percent(took)) }
}
