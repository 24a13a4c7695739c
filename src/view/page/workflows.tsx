import type { JSX } from 'preact'
import type { Answers } from '../questions.ts'
import { Ask } from './answer.tsx'
import { Chip, Empty, Facts, Findings, Section, Table } from './parts.tsx'

/** What must run before a tool is called. */
export function Workflows(): JSX.Element {
  return (
    <Section title="Workflows">
      <Ask name="workflows">
        {({ workflows, diagnostics }) => (
          <>
            <Findings list={diagnostics} />
            {workflows.length === 0 && (
              <Empty
                text="They say what must run before which tool. This adds one:"
                line="skillrail workflow add NAME"
              />
            )}
            {workflows.map((workflow) => (
              <Workflow {...workflow} />
            ))}
          </>
        )}
      </Ask>
    </Section>
  )
}

function Workflow(workflow: Answers['workflows']['workflows'][number]): JSX.Element {
  const { name, enabled, description, mode, triggers, prerequisites, path, line } = workflow
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
          ['defined in', <code>{line === undefined ? path : `${path}:${line}`}</code>],
        ]}
      />
      <Table
        head={['step', 'tool', 'about', 'with']}
        rows={prerequisites.map((step) => [
          String(step.step),
          [<code>{step.tool}</code>, !step.required && ' (may fail)'],
          step.description,
          [
            step.params && <code>{JSON.stringify(step.params)}</code>,
            step.invalidatedBy && <div class="soft">until {step.invalidatedBy.join(', ')}</div>,
          ],
        ])}
        numbers={[0]}
      />
    </>
  )
}
