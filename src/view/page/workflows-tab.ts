import type { WorkflowsAnswer } from '../answers.ts'
import { type Child, chip, empty, facts, fill, findings, make, table, trouble } from './elements.ts'
import { ask } from './server.ts'
import type { Tab, TabView } from './tab.ts'

export const workflowsTab: Tab = { name: 'workflows', title: 'Workflows', open }

type Workflow = WorkflowsAnswer['workflows'][number]

function open(): TabView {
  const place = make('div')
  ask('workflows').then(
    ({ workflows, diagnostics }) =>
      fill(
        place,
        findings(diagnostics),
        workflows.length === 0
          ? empty('No workflows are defined here. This adds one:', 'skillrail workflow add NAME')
          : workflows.map(workflowPart),
      ),
    (error: unknown) => fill(place, trouble(error)),
  )
  const element = make(
    'div',
    { class: 'single' },
    make('h1', {}, 'Workflows'),
    make('p', { class: 'lead' }, 'What must have run before a tool.'),
    place,
  )
  return { element, show: () => undefined }
}

function workflowPart({
  name,
  enabled,
  description,
  mode,
  triggers,
  prerequisites,
  path,
  line,
}: Workflow): Child {
  return make(
    'section',
    {},
    make('h2', {}, name, ' ', chip(enabled ? mode : 'disabled', 'mode')),
    make('p', { class: 'lead' }, description),
    facts([
      ['before category', triggers.category],
      ['before tools', triggers.tools?.join(', ')],
      ['on words', triggers.keywords?.join(', ')],
      ['defined in', make('code', {}, line === undefined ? path : `${path}:${line}`)],
    ]),
    table(
      ['step', 'tool', 'about', 'with'],
      prerequisites.map((step) => [
        String(step.step),
        [make('code', {}, step.tool), step.required ? undefined : ' (may fail)'],
        step.description,
        [
          step.params === undefined ? undefined : make('code', {}, JSON.stringify(step.params)),
          step.invalidatedBy === undefined
            ? undefined
            : make('div', { class: 'soft' }, `until ${step.invalidatedBy.join(', ')}`),
        ],
      ]),
      [0],
    ),
  )
}
