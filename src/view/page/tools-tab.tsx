import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Answers } from '../questions.ts'
import { shellWord } from '../../core/text.ts'
import { Answered, Ask, useAnswer } from './answer.tsx'
import { List, RowHead } from './list.tsx'
import {
  addressOf,
  type Child,
  Chip,
  Clock,
  Empty,
  Facts,
  Findings,
  Section,
  Table,
  Typed,
} from './parts.tsx'
import { Sessions } from './sessions.tsx'
import { Workflows } from './workflows.tsx'

type ListedTool = Answers['tools']['tools'][number]
type RouteAnswer = Answers['route']
type ServerRow = Answers['tools']['servers'][number]
type ToolAnswer = Answers['tool']
type ToolsAnswer = Answers['tools']

export function ToolsTab({ id }: { id: string | undefined }): JSX.Element {
  const { answer, error } = useAnswer('tools')
  const overview = (
    <div>
      <h1>Tools</h1>
      <RouteBox />
      {answer !== undefined && <Servers {...answer} />}
      <Workflows />
      <Sessions />
    </div>
  )
  return (
    <List<ListedTool>
      noun="tools"
      items={answer?.tools}
      error={error}
      selected={id}
      detail={(key) => (
        <Ask key={key} name="tool" question={{ id: key }}>
          {(tool) => <Details {...tool} />}
        </Ask>
      )}
      resting={overview}
      overview
      keyOf={(tool) => tool.id}
      words={({ id: name, description, category = '' }) => `${name} ${description} ${category}`}
      content={(tool) => <Row {...tool} />}
      empty={
        <Empty
          text="No tools are known here. This asks the servers for their tools:"
          line="skillrail tools refresh"
        />
      }
      kinds={{
        'read-only': ({ readOnly }) => readOnly === true,
        'held back': ({ caution }) => caution !== undefined,
      }}
    />
  )
}

function Row({ id, description, category, readOnly, caution }: ListedTool): JSX.Element {
  return (
    <>
      <RowHead name={id}>
        <span class="side">{category}</span>
      </RowHead>
      <div class="about">{description}</div>
      <div class="chips">
        {readOnly === true && <Chip text="read-only" kind="reads" />}
        {caution !== undefined && <Chip text={caution} />}
      </div>
    </>
  )
}

function Servers({ servers, state, message, refreshedAt, diagnostics }: ToolsAnswer): JSX.Element {
  return (
    <Section title="Servers">
      {state !== 'fresh' && message !== undefined && <p class="note warn">{message}</p>}
      {refreshedAt !== undefined && (
        <p class="soft">
          Their tools were last listed <Clock iso={refreshedAt} />
        </p>
      )}
      {servers.length === 0 && (
        <Empty
          text="No servers are configured here. This shows where Skillrail looks for them:"
          line="skillrail tools import --all"
        />
      )}
      {servers.map((server) => (
        <Server {...server} />
      ))}
      <Findings list={diagnostics} />
    </Section>
  )
}

function Server({ name, state, client, path, address, message, stderrTail }: ServerRow) {
  return (
    <div>
      <h3>
        {name} <Chip text={state} />
      </h3>
      <Facts
        rows={[
          ['reached by', <code>{address}</code>],
          ['from', `${client} ${path}`],
        ]}
      />
      {message !== undefined && <p class="note warn">{message}</p>}
      {stderrTail !== undefined && stderrTail !== '' && <pre>{stderrTail}</pre>}
    </div>
  )
}

function Details(tool: ToolAnswer): JSX.Element {
  const { id, server, description, category, readOnly, hints, caution, workflows } = tool
  return (
    <>
      <h1>{id}</h1>
      <p class="lead">{description}</p>
      {caution !== undefined && [<p class="note warn">Held back.</p>, <pre>{caution}</pre>]}
      <Facts
        rows={[
          ['server', server],
          ['category', category ?? 'none'],
          ['read-only', readOnly ? 'yes' : 'no'],
          ['hints of the server', hints],
          ['workflows before it', workflows.join(', ')],
        ]}
      />
      <Section title="Parameters">
        <Parameters {...tool} />
      </Section>
      {tool.examples.length > 0 && (
        <Section title="Earlier requests">
          <ul>
            {tool.examples.map((text) => (
              <li>{text}</li>
            ))}
          </ul>
        </Section>
      )}
      <Section title="In a terminal">
        <Typed line={`skillrail tools show ${shellWord(id)}`} />
      </Section>
    </>
  )
}

function Parameters({ parameters, isDefined }: ToolAnswer): JSX.Element {
  if (!isDefined) {
    return (
      <Empty
        text="Its schema is not known on this machine. This asks for it:"
        line="skillrail tools refresh"
      />
    )
  }
  return (
    <Table
      head={['name', 'type', 'about']}
      rows={parameters.map(({ name, required, type, description, limits, default: fallback }) => [
        [<code>{name}</code>, required && [' ', <Chip text="required" kind="wait" />]],
        [type, limits.map((limit) => <div class="soft">{limit}</div>)],
        [description, fallback !== undefined && <div class="soft">default {fallback}</div>],
      ])}
    />
  )
}

/** Kept while the page is open. */
let kept = ''

/** Asks where a request would lead, and why; no tool is called. */
function RouteBox(): JSX.Element {
  const [request, setRequest] = useState(kept)
  const asked = useAnswer('route', { request }, 250)
  return (
    <div>
      <p class="lead">Which tool a request means, and why. Nothing is called.</p>
      <div class="ask">
        <input
          type="text"
          placeholder="Type a request, such as: take a screenshot of the login page"
          aria-label="Request"
          value={request}
          onInput={({ currentTarget }) => setRequest((kept = currentTarget.value))}
        />
      </div>
      <div aria-live="polite">
        {request.trim() !== '' && (
          <Answered asked={asked}>{(route) => <Routed {...route} />}</Answered>
        )}
      </div>
    </div>
  )
}

const words: Record<RouteAnswer['decision'], string> = {
  answer: 'clear',
  shortlist: 'one of these',
  ask: 'nothing fits well enough',
}

function Routed(answer: RouteAnswer): JSX.Element {
  const { decision, tool, category, params, missing = [], margin, heldBack = [] } = answer
  return (
    <>
      <p>
        <Chip text={words[decision]} kind={decision} />{' '}
        {tool !== undefined && <a href={addressOf(['tools', tool])}>{tool}</a>}
      </p>
      <Facts
        rows={[
          ['category', category ?? undefined],
          ['parameters', params && <code>{JSON.stringify(params)}</code>],
          ['missing', missing.join(', ')],
          ['margin', margin.toFixed(2)],
          ['held back', heldBack.join(', ')],
        ]}
      />
      <Candidates {...answer} />
      <Findings list={answer.diagnostics} />
    </>
  )
}

function Candidates({ candidates, explanation }: RouteAnswer): Child {
  if (candidates.length === 0) return null
  return (
    <Table
      head={['candidate', 'score', 'why']}
      rows={candidates.map(({ tool, score, unavailable }) => {
        const explained = explanation?.candidates.find((one) => one.tool === tool)
        return [
          <a href={addressOf(['tools', tool])}>{tool}</a>,
          score.toFixed(2),
          [
            unavailable !== undefined && <div class="warn">{unavailable}</div>,
            explained?.aheadOfNext !== undefined && (
              <div>before the next by {explained.aheadOfNext}</div>
            ),
            explained?.parts.map(({ kind, score: part, text }) => (
              <div class="soft">{`${part.toFixed(2)} ${kind}: ${text}`}</div>
            )),
          ],
        ]
      })}
      numbers={[1]}
    />
  )
}
