import { type AnyCommand, defineCommand, option } from '../../core/command.ts'
import { exitCode } from '../../core/errors.ts'
import { safeLine } from '../../core/text.ts'
import { checkDefinitionText, definitionText } from '../workflow/edit-workflows.ts'
import { WorkflowNotConfirmedError } from '../workflow/errors.ts'
import { listLines } from '../workflow/messages.ts'
import type { JsonObject } from '../workflow/model.ts'
import { editedFile, editText } from './edit-text.ts'
import {
  acceptDefinition,
  applyFlags,
  changeOutput,
  changeWorkflow,
  hasFlags,
  lifted,
  type WorkflowChange,
  workflowOptions,
} from './workflow-change.ts'
import { openWorkflows, requireWorkflow } from './workflow-project.ts'

export const edit = defineCommand<WorkflowChange>()({
  arguments: { '<name>': 'the workflow' },
  options: {
    ...workflowOptions,
    dryRun: option.flag('--dry-run', 'show what would be written'),
  },
  examples: ['workflow edit database-safe-query --mode warn'],
  async run(context, { arguments: [name = ''], ...options }) {
    const { dryRun } = options
    const project = openWorkflows(context)
    const workflow = requireWorkflow(project, name)
    const { path } = workflow
    const current = definitionText(workflow)
    const about = listLines(workflow)
    const accept = (text: string, file: string): JsonObject => {
      const definition = applyFlags(checkDefinitionText(name, text, file), options)
      acceptDefinition(project, name, definition, path)
      return definition
    }
    const definition = hasFlags(options)
      ? accept(current, path)
      : await editText(context, current, (text) => accept(text, editedFile))
    const request = { edit: { kind: 'write', name, definition }, change: 'changed' } as const
    return await changeWorkflow(context, project, { ...request, path, dryRun, about })
  },
  ...changeOutput,
})

export const remove = defineCommand<WorkflowChange>()({
  arguments: { '<name>': 'the workflow' },
  options: {
    yes: option.flag('--yes', 'do not ask'),
    dryRun: option.flag('--dry-run', 'show what would be removed'),
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

export const enable = toggle(true)
export const disable = toggle(false)

function toggle(enabled: boolean): AnyCommand {
  const word = enabled ? 'enable' : 'disable'
  return defineCommand<WorkflowChange>()({
    arguments: { '<name>': 'the workflow' },
    options: {
      dryRun: option.flag('--dry-run', 'show what would be written'),
    },
    ...(enabled ? {} : { details: lifted }),
    examples: [`workflow ${word} database-safe-query`],
    async run(context, { arguments: [name = ''], dryRun }) {
      const project = openWorkflows(context)
      const workflow = requireWorkflow(project, name)
      const { path } = workflow
      if (enabled) {
        const definition = checkDefinitionText(name, definitionText(workflow), path)
        acceptDefinition(project, name, { ...definition, enabled }, path)
      }
      const edit = { kind: 'set', name, key: 'enabled', value: enabled } as const
      const change = enabled ? 'enabled' : 'disabled'
      return await changeWorkflow(context, project, { path, edit, dryRun, change })
    },
    ...changeOutput,
  })
}
