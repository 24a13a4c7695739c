import { defineCommand } from '../../core/command.ts'
import { exitCode } from '../../core/errors.ts'
import { safeLine } from '../../core/text.ts'
import { WorkflowNotConfirmedError } from '../workflow/errors.ts'
import { listLines } from '../workflow/messages.ts'
import { changeOutput, changeWorkflow, lifted, type WorkflowChange } from './workflow-change.ts'
import { openWorkflows, requireWorkflow } from './workflow-project.ts'

export const command = defineCommand<WorkflowChange>()({
  arguments: { '<name>': 'the workflow' },
  options: {
    yes: { kind: 'flag', flags: '--yes', help: 'do not ask' },
    dryRun: { kind: 'flag', flags: '--dry-run', help: 'show what would be removed' },
  },
  details: lifted,
  examples: ['workflow remove old-workflow --yes'],
  async run(context, { arguments: [name = ''], yes, dryRun }) {
    const project = openWorkflows(context)
    const workflow = requireWorkflow(project, name)
    const { path } = workflow
    const about = listLines(workflow)
    const request = { path, edit: { kind: 'remove', name }, change: 'removed' } as const
    if (dryRun || yes) return await changeWorkflow(context, project, { ...request, dryRun, about })
    for (const line of about) context.note(safeLine(line))
    const answer = await context.ask({
      text: `Remove workflow '${safeLine(name)}'? [y/N] `,
      otherwise: () => notConfirmed(name),
    })
    const isAgreed = /^y(?:es)?$/i.test(answer.trim())
    if (isAgreed) return await changeWorkflow(context, project, { ...request, dryRun })
    const change = await changeWorkflow(context, project, { ...request, dryRun: true })
    return { ...change, after: change.before, declined: true }
  },
  ...changeOutput,
  exitCode: ({ declined }) => (declined === true ? exitCode.refused : exitCode.done),
})

function notConfirmed(name: string): WorkflowNotConfirmedError {
  return new WorkflowNotConfirmedError({
    code: 'workflow-not-confirmed',
    message: `Workflow '${name}' was not removed: it was not confirmed`,
    hint: 'Give --yes.',
  })
}
