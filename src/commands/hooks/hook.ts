import { defineCommand } from '#core/command'
import { runHook } from '#hooks/run-hook'
import { workflowHook } from '#project/workflow-hook'
import { railHook } from '#rail/hook-rail'
import { clientNamed } from './hooks.ts'

export const command = defineCommand<never>()({
  // It reads the settings itself, and injects nothing if they have errors: a client is not blocked.
  helpsToRepair: true,
  arguments: { '<client>': 'the client that calls the hook' },
  options: {},
  details:
    'Reads what the client says about a prompt from stdin and prints the references for it in the client’s own form. Never fails. Clients call the launcher that skillrail hooks install writes.',
  examples: ['hooks run claude < prompt.json'],
  protocol: () => true,
  async run(context, values) {
    const platform = clientNamed(values.arguments[0] ?? '')
    const part = { number: 1, of: 1 }
    const input = await context.stdin()
    const { stdout, stderr } = await runHook({
      platform,
      part,
      input,
      runtime: context.runtime,
      rail: railHook,
      workflows: workflowHook,
    })
    context.streams?.stdout.write(stdout)
    if (stderr !== '') context.note(stderr.trimEnd())
    return undefined
  },
  render: () => '',
})
