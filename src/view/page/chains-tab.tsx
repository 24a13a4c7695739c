import { shellWord } from '#core/text'
import type { Answers } from '#view/answers'
import type { ShownStep } from '#view/run-answer'
import { Answered, useAnswer } from './answer.tsx'
import { Graph } from './graph.tsx'
import { List, RowHead } from './list.tsx'
import { addressOf, amount, Chip, Empty, Facts, Findings, Section, Typed } from './parts.tsx'
import { stepsIn } from './run-view.tsx'

type ChainsAnswer = Answers['chains']
type PlanAnswer = Answers['plan']

export function ChainsTab({ id }: { id: string | undefined }) {
  const { answer, error } = useAnswer('chains')
  return (
    <List<ChainsAnswer['chains'][number]>
      noun="chains"
      items={answer?.chains}
      error={error}
      selected={id}
      Detail={Plan}
      resting={<p class="soft">Choose a chain to see what it would run, and how.</p>}
      opensFirst
      keyOf={(chain) => chain.id}
      words={({ name, description }) => [name, description]}
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
          text="A chain is a skill that names others below metadata: chain, and runs them in order. To start one:"
          line="skillrail new NAME"
        />
      }
    />
  )
}

function Plan({ id }: { id: string }) {
  const { answer: runs } = useAnswer('runs', { most: 100 })
  return (
    <Answered name="plan" question={{ id }}>
      {({ skill, digest, policy, graph, diagnostics }) => {
        const last = runs?.runs.find((run) => run.skill === skill)
        return (
          <>
            <h1>{skill}</h1>
            <p class="chips">
              <span class="soft">plan {shortDigest(digest)}</span>
              <a href={addressOf(['skills', id])}>See it as a skill</a>
            </p>
            <Findings list={diagnostics} />
            <Start skill={skill} diagnostics={diagnostics} />
            <Section title="Steps">
              {last === undefined ? (
                <Steps graph={graph} />
              ) : (
                <LastRun graph={graph} runId={last.runId} />
              )}
            </Section>
            <Section title="Policy">
              {policy.length === 0 && <p class="soft">The chain uses the defaults.</p>}
              <Facts rows={policy} />
            </Section>
          </>
        )
      }}
    </Answered>
  )
}

/** The command that runs the chain; with an error in its plan, the one that checks it again. */
function Start({ skill, diagnostics }: Pick<PlanAnswer, 'skill' | 'diagnostics'>) {
  return diagnostics.some(({ severity }) => severity === 'error') ? (
    <Typed
      line={`skillrail chain plan ${shellWord(skill)}`}
      what="It runs only without the errors. To check it again"
    />
  ) : (
    <Typed line={`skillrail run ${shellWord(skill)}`} what="Run it" />
  )
}

/** The plan, with the state of its steps in the newest run. */
function LastRun({ graph, runId }: { graph: PlanAnswer['graph']; runId: string }) {
  const { answer } = useAnswer('run', { id: runId })
  if (answer === undefined) return <Steps graph={graph} />
  const attempt = answer.attempts.at(-1)
  return (
    <>
      <p class="chips">
        Last run <Chip text={answer.status} /> <a href={addressOf(['runs', runId])}>{runId}</a>
      </p>
      <Steps graph={graph} steps={stepsIn(attempt?.steps)} />
    </>
  )
}

function Steps(shown: { graph: PlanAnswer['graph']; steps?: ReadonlyMap<string, ShownStep> }) {
  const { graph, steps } = shown
  return (
    <Graph
      graph={graph}
      stateOf={steps && (({ step }) => steps.get(step))}
      detail={({ step, by, path, trust, digest, tokens }) => (
        <Facts
          rows={[
            ['step', step],
            ['executed by', by],
            ['file', <code>{path}</code>],
            ['trust', trust],
            ['tokens', String(tokens)],
            ['digest', shortDigest(digest)],
          ]}
        />
      )}
    />
  )
}

const shortDigest = (digest: string) => digest.replace('sha256:', '').slice(0, 12)
