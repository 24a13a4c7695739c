import { useState } from 'preact/hooks'
import type { Answers } from '#view/answers'
import { Answered } from './answer.tsx'
import {
  addressOf,
  amount,
  type Child,
  Chip,
  Clock,
  count,
  Empty,
  Findings,
  Section,
  Table,
} from './parts.tsx'

type MatchAnswer = Answers['match']
type TriggerVerdict = MatchAnswer['explanation'][number]['verdicts'][number]

let lastPrompt = ''
let keptOn = 'prompt'

/** The events to try, with an example of the text to type. */
const occasions = {
  prompt: ['a prompt', 'Type a prompt, such as: deploy to staging'],
  edit: ['the agent edits a file', 'Type a path, such as: src/app.ts'],
  read: ['the agent reads a file', 'Type a path, such as: src/app.ts'],
  shell: ['the agent runs a command', 'Type a command, such as: git push'],
  mcp: ['the agent calls a tool of an MCP server', 'Type its name, such as: mcp__db__query'],
} as const

export function TriggersTab() {
  const [prompt, setPrompt] = useState(lastPrompt)
  const [on, setOn] = useState(keptOn)
  const [, placeholder] =
    Object.entries(occasions).find(([key]) => key === on)?.[1] ?? occasions.prompt
  return (
    <div class="single">
      <h1>Triggers</h1>
      <p class="lead">
        What the hook would inject for a prompt or a tool call, before any model sees it.
      </p>
      <div class="ask">
        <select
          aria-label="On"
          value={on}
          onChange={({ currentTarget }) => setOn((keptOn = currentTarget.value))}
        >
          {Object.entries(occasions).map(([key, [title]]) => (
            <option value={key}>{title}</option>
          ))}
        </select>
        <textarea
          class="search"
          placeholder={placeholder}
          aria-label="Prompt"
          value={prompt}
          onInput={({ currentTarget }) => setPrompt((lastPrompt = currentTarget.value))}
        />
      </div>
      <div aria-live="polite">
        <Answered name="match" question={{ prompt, on }} delayMs={150}>
          {Matched}
        </Answered>
      </div>
      {prompt.trim() === '' && <TriggersAndLog />}
    </div>
  )
}

/** While no prompt is typed: every trigger, and what the hook did for the latest prompts. */
function TriggersAndLog() {
  return (
    <Answered name="triggers" everyMs={5000}>
      {({ triggers, log, path }) => (
        <>
          <Section title={amount(triggers.length, 'trigger')}>
            {triggers.length === 0 ? (
              <Empty
                text="No skill here has triggers. They are fields of a skill, or of .skillrail/triggers.yaml. Suggestions for a skill:"
                line="skillrail triggers suggest SKILL"
              />
            ) : (
              <Table
                head={['skill', 'on', 'injects']}
                rows={triggers
                  .slice(0, maxVerdicts)
                  .map(({ skill, id, on, kind, inject }) => [
                    <a href={addressOf(['skills', id])}>{skill}</a>,
                    [<span class="soft">{kind}</span>, ' ', <code>{on}</code>],
                    <code>{inject}</code>,
                  ])}
              />
            )}
          </Section>
          <Section title="What the hook did here">
            {log.length === 0 && (
              <Empty
                text="No trigger has fired yet in an agent client. The hook has to be installed in it:"
                line="skillrail hooks status"
              />
            )}
            {log.map(Trace)}
            {log.length > 0 && <p class="soft">From {path}</p>}
          </Section>
        </>
      )}
    </Answered>
  )
}

function Trace(trace: Answers['triggers']['log'][number]) {
  const { at, platform, prompt, injected, withheld, durationMs, error, denied } = trace
  return (
    <div class="trace">
      <div class="line">
        <Clock iso={at} />
        <Chip text={platform} kind="word" />
        {denied === true && <Chip text="denied the call" kind="warning" />}
        <span class="about">{prompt}</span>
        <span class="side">{`${durationMs} ms`}</span>
      </div>
      <Files given={injected} held={withheld} />
      {error !== undefined && <div class="bad">{error}</div>}
    </div>
  )
}

interface ShownFile {
  skill: string
  path: string
  tokens?: number
  characters?: number
  reason?: string
}

/** Injected references and withheld ones. */
function Files({ given, held }: Record<'given' | 'held', readonly ShownFile[]>) {
  return [...given, ...held].map(({ skill, path, tokens, characters = 0, reason }) => (
    <div>
      {reason === undefined ? '+' : '−'} <code>{`${skill}/${path}`}</code>{' '}
      <span class="soft">{reason ?? amount(tokens ?? Math.ceil(characters / 4), 'token')}</span>
    </div>
  ))
}

const maxVerdicts = 200

function Matched(answer: MatchAnswer) {
  const { injected, deferred, explanation, triggers, quiet, untried, diagnostics } = answer
  if (answer.prompt.trim() === '') return <Findings list={diagnostics} />
  const tokens = injected.reduce((sum, reference) => sum + reference.tokens, 0)
  // Triggers that fired come first: very many triggers may come close.
  const said = explanation
    .flatMap(({ skill, verdicts }) => verdicts.map((verdict) => ({ skill, verdict })))
    .toSorted((a, b) => Number(hasFired(b.verdict)) - Number(hasFired(a.verdict)))
  return (
    <>
      <p>
        <strong>{amount(injected.length, 'reference')}</strong>
        {` injected, ${amount(tokens, 'token')}`}
      </p>
      <Files given={injected} held={deferred} />
      <Findings list={diagnostics} />
      {said.length > 0 && (
        <Section title="Why">
          {said.slice(0, maxVerdicts).map(({ skill, verdict }) => (
            <Verdict skill={skill} {...verdict} />
          ))}
          {said.length > maxVerdicts && (
            <p class="soft">and {count(said.length - maxVerdicts)} more</p>
          )}
        </Section>
      )}
      <p class="soft">
        {`${count(quiet)} of ${amount(triggers, 'trigger')} did not match at all.`}
      </p>
      {untried > 0 && (
        <p class="soft">
          {`${amount(untried, 'trigger')} that did not fire were not checked for near misses; skillrail triggers match --explain checks all.`}
        </p>
      )}
    </>
  )
}

function hasFired({ outcome }: TriggerVerdict) {
  return outcome === 'fired'
}

const words: Record<TriggerVerdict['outcome'], string> = {
  fired: 'fired',
  'near-miss': 'missed',
  'no-match': 'no match',
  invalid: 'invalid',
}

function Verdict(verdict: TriggerVerdict & { skill: string }) {
  const { skill, trigger, outcome } = verdict
  return (
    <div class="trace">
      <Chip text={words[outcome]} kind={outcome} /> <strong>{skill}</strong>{' '}
      <code>{trigger.match}</code> → <code>{trigger.inject}</code>
      <span class="soft"> line {trigger.line}</span>
      <div>{reasonOf(verdict)}</div>
    </div>
  )
}

function reasonOf(verdict: TriggerVerdict): Child {
  switch (verdict.outcome) {
    case 'no-match':
    case 'invalid':
      return verdict.reason
    case 'near-miss':
      return verdict.miss.reason
    case 'fired': {
      const { text, promptLine, tokens, problem = '', reason } = verdict
      const cost = tokens === undefined ? `injects nothing: ${problem}` : amount(tokens, 'token')
      const where = reason ?? `in line ${promptLine} of the prompt`
      return ['on ', <mark>{text}</mark>, ` ${where}; ${cost}`]
    }
  }
}
