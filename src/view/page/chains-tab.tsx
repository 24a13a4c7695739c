import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Answers } from '../questions.ts'
import { typedLine } from '../shared-with-page.ts'
import { Answered, useAnswer } from './answer.tsx'
import { List, RowHead, Split } from './list.tsx'
import {
  addressOf,
  amount,
  Chip,
  Digest,
  Empty,
  Facts,
  Findings,
  More,
  Section,
  Typed,
} from './parts.tsx'

type ChainsAnswer = Answers['chains']
type PlanAnswer = Answers['plan']
type PlannedStep = PlanAnswer['steps'][number]

export function ChainsTab({ id }: { id: string | undefined }): JSX.Element {
  const { answer, error } = useAnswer('chains')
  const list = (
    <List<ChainsAnswer['chains'][number]>
      noun="chains"
      items={answer?.chains}
      error={error}
      selected={id}
      keyOf={(chain) => chain.id}
      words={({ name, description }) => `${name} ${description}`}
      content={({ name, description, steps, trust }) => (
        <>
          <RowHead name={name}>
            <span class="side">{amount(steps, 'step')}</span>
          </RowHead>
          <div class="about">{description}</div>
          {trust !== 'trusted' && (
            <div class="chips">
              <Chip text={trust} />
            </div>
          )}
        </>
      )}
      empty={
        <Empty
          text="No skill here is a chain. A chain names other skills in its frontmatter, as chain below metadata. This makes a skill:"
          line="skillrail new NAME"
        />
      }
    />
  )
  const resting = <p class="soft">Choose a chain to see what it would run, and how.</p>
  return (
    <Split tab="chains" list={list} selected={id} resting={resting}>
      {id !== undefined && <Plan key={id} id={id} />}
    </Split>
  )
}

function Plan({ id }: { id: string }): JSX.Element {
  const asked = useAnswer('plan', { id })
  return (
    <Answered asked={asked}>
      {({ skill, digest, policy, defaults, steps, diagnostics }) => (
        <>
          <h1>{skill}</h1>
          <p class="chips">
            <span class="soft">plan </span>
            <Digest digest={digest} />
            <a href={addressOf(['skills', id])}>See it as a skill</a>
          </p>
          <Findings list={diagnostics} />
          <Typed line={typedLine('skillrail', 'run', skill)} what="Run it" />
          <Section title="Steps">
            <Steps steps={steps} />
          </Section>
          <Section title="Policy">
            <Policy policy={policy} defaults={defaults} />
          </Section>
        </>
      )}
    </Answered>
  )
}

/** What the chain itself decides comes first. */
function Policy({ policy, defaults }: Pick<PlanAnswer, 'policy' | 'defaults'>): JSX.Element {
  const usual = new Map(
    Object.entries(defaults).map(([name, value]) => [name, JSON.stringify(value)]),
  )
  const rows = Object.entries(policy).map(([name, value]) => [name, JSON.stringify(value)] as const)
  const own = rows.filter(([name, value]) => value !== usual.get(name))
  return (
    <>
      {own.length === 0 ? <p class="soft">The chain uses the defaults.</p> : <Facts rows={own} />}
      <details>
        <summary>Defaults</summary>
        <Facts rows={rows.filter(([name, value]) => value === usual.get(name))} />
      </details>
    </>
  )
}

/** Maximum number of steps that are drawn at once. */
const page = 200

function Steps({ steps }: { steps: readonly PlannedStep[] }): JSX.Element {
  const [shown, setShown] = useState(page)
  return (
    <>
      <StepList steps={steps} room={{ steps: shown }} />
      <More
        rest={countOf(steps) - shown}
        noun=" steps"
        size={page}
        onMore={() => setShown(shown + page)}
      />
    </>
  )
}

function countOf(steps: readonly PlannedStep[]): number {
  return steps.reduce((sum, step) => sum + 1 + ('steps' in step ? countOf(step.steps) : 0), 0)
}

/** Draws as many steps as there is room for, and takes them from the room. */
function StepList({ steps, room }: { steps: readonly PlannedStep[]; room: { steps: number } }) {
  const drawn: JSX.Element[] = []
  for (const step of steps) {
    if (room.steps === 0) break
    room.steps--
    const inner = 'steps' in step && StepList({ steps: step.steps, room })
    drawn.push(
      <li>
        <StepLine {...step} />
        {inner}
      </li>,
    )
  }
  return <ol class="plan">{drawn}</ol>
}

function StepLine(step: PlannedStep): JSX.Element {
  const { gate, verify, sandboxed, retry, backoff, timeout, when, args } = step
  const task = 'steps' in step ? undefined : step
  const by = task?.script ?? task?.client ?? task?.model
  const how = by === undefined ? step.executor : `${step.executor} ${by}`
  const isAsync = step.group !== undefined || ('policy' in step && step.policy.async)
  const options = Object.entries({ retry, backoff, timeout, when, args }).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${value}`,
  )
  if (step.allowFailure === true) options.push('allow-failure')
  if (step.always === true) options.push('always')
  const ignored = task?.notHonoured ?? []
  return (
    <div class="line">
      <span class="name">{step.step}</span>
      <Chip text={step.trust} />
      <code>{how}</code>
      <span class="soft">{amount(step.tokens, 'token')}</span>
      <Digest digest={step.digest} />
      {gate === true && <Chip text="waits for a user" kind="waiting" />}
      {verify !== undefined && <Chip text={`verified by ${verify}`} kind="verify" />}
      {sandboxed === true && <Chip text="in the sandbox" kind="sandbox" />}
      {isAsync && <Chip text="in parallel" kind="parallel" />}
      {options.map((text) => (
        <Chip text={text} kind="parallel" />
      ))}
      {ignored.length > 0 && <Chip text={`ignores ${ignored.join(', ')}`} kind="warning" />}
    </div>
  )
}
