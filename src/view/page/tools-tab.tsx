import type { Answers } from '#view/answers'
import { shellWord } from '#core/text'
import { Answered, useAnswer } from './answer.tsx'
import { List, RowHead } from './list.tsx'
import { Chip, Clock, Empty, Facts, Findings, Section, Table, Typed } from './parts.tsx'

type ListedTool = Answers['tools']['tools'][number]
type ServerRow = Answers['tools']['servers'][number]
type ToolAnswer = Answers['tool']
type ToolsAnswer = Answers['tools']

export function ToolsTab({ id }: { id: string | undefined }) {
  const { answer, error } = useAnswer('tools')
  const overview = (
    <div>
      <h1>Tools</h1>
      {answer !== undefined && <Servers {...answer} />}
      <Workflows />
    </div>
  )
  return (
    <List<ListedTool>
      noun="tools"
      items={answer?.tools}
      error={error}
      selected={id}
      Detail={Tool}
      resting={overview}
      overview
      keyOf={(tool) => tool.id}
      words={({ id: name, description, category, caution, readOnly }) => [
        name,
        description,
        category,
        caution,
        readOnly === true ? 'read-only' : '',
      ]}
      content={Row}
      empty={
        <Empty
          text="No tools are known here. This asks the servers for their tools:"
          line="skillrail tools refresh"
        />
      }
    />
  )
}

function Row({ id, description, category, readOnly, caution }: ListedTool) {
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

function Servers({ servers, state, message, refreshedAt, diagnostics }: ToolsAnswer) {
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
      {servers.map(Server)}
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

function Tool({ id }: { id: string }) {
  return (
    <Answered name="tool" question={{ id }}>
      {Details}
    </Answered>
  )
}

function Details(answer: ToolAnswer) {
  const { tool, definition, hints, caution, guards } = answer
  const { id, server, category, readOnly, examples = [] } = tool
  return (
    <>
      <h1>{id}</h1>
      <p class="lead">{definition?.description ?? tool.description}</p>
      {caution !== undefined && [<p class="note warn">Held back.</p>, <pre>{caution}</pre>]}
      <Facts
        rows={[
          ['server', server],
          ['category', category ?? 'none'],
          ['read-only', readOnly === true ? 'yes' : 'no'],
          ['hints of the server', hints],
          ['workflows before it', guards.map(({ name, mode }) => `${name} (${mode})`).join(', ')],
          ['earlier requests', examples.join('; ')],
        ]}
      />
      <Section title="Parameters">
        <Parameters {...answer} />
      </Section>
      <Section title="In a terminal">
        <Typed line={`skillrail tools show ${shellWord(id)}`} />
      </Section>
    </>
  )
}

function Parameters({ parameters }: ToolAnswer) {
  if (parameters === undefined) {
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

function Workflows() {
  return (
    <Section title="Workflows">
      <Answered name="workflows">
        {({ workflows, diagnostics }) => (
          <>
            <Findings list={diagnostics} />
            {workflows.length === 0 && (
              <Empty
                text="They say what must run before which tool. This adds one:"
                line="skillrail tools workflow add NAME"
              />
            )}
            {workflows.map(Workflow)}
          </>
        )}
      </Answered>
    </Section>
  )
}

function Workflow(workflow: Answers['workflows']['workflows'][number]) {
  const { name, enabled, description, mode, triggers, prerequisites, path } = workflow
  return (
    <>
      <h3>
        {name} <Chip text={enabled ? mode : 'disabled'} kind="mode" />
      </h3>
      <p class="lead">{description}</p>
      <Facts
        rows={[
          ['before category', triggers.category],
          ['before tools', triggers.tools?.join(', ')],
          ['on words', triggers.keywords?.join(', ')],
          ['defined in', <code>{path}</code>],
          ...prerequisites.map(
            (step) =>
              [`step ${step.step}`, [<code>{step.tool}</code>, ' ', step.description]] as const,
          ),
        ]}
      />
    </>
  )
}
