import { exitCode } from '../../base/index.ts'
import { forgetExamples, readLearned } from '../../tools/index.ts'
import { amount } from '../../base/text.ts'
import { toolProject } from '../../tools/commands/project-tools.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program.addHelpText('after', '\nExample:\n  $ skillrail tools learn clear\n')
  },
  async run(context) {
    const place = { project: toolProject(context), runtime: context.runtime }
    const isEmpty =
      readLearned(place).examples.length === 0 && readLearned(place).diagnostics.length === 0
    const removed = isEmpty ? 0 : await forgetExamples(place, () => true)
    if (context.options.json) context.output.json({ removed })
    else context.output.line(`Forgotten: ${amount(removed, 'example')}.`)
    return exitCode.done
  },
})
