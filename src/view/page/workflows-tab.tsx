import type { JSX } from 'preact'
import type { Answers } from '../questions.ts'
import { Answered, useAnswer } from './answer.tsx'
import { Chip, Empty, Facts, Findings, Section, Table } from './parts.tsx'

type WorkflowsAnswer = Answers['workflows']

export function WorkflowsTab(): JSX.Element {
  const asked = useAnswer('workflows')
  return (
    <div class="single">
      <h1>Workflows</h1>
      <p class="lead">What must run before a tool is called.</p>
      <Answered asked={asked}>
        {({ workflows, diagnostics }) => (
          <>
            <Findings list={diagnostics} />
            {workflows.length === 0 && (
              <Empty
                text="No workflows are defined here. This adds one:"
                line="skillrail workflow add NAME"
              />
            )}
            {workflows.map((workflow) => (
              <Workflow {...workflow} />
            ))}
          </>
        )}
      </Answered>
    </div>
  )
}

function Workflow(workflow: WorkflowsAnswer['workflows'][number]): JSX.Element {
  const { name, enabled, description, mode, triggers, prerequisites, path, line } = workflow
  return (
    <Section title={[name, ' ', <Chip text={enabled ? mode : 'disabled'} kind="mode" />]}>
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
    </Section>
  )
}
