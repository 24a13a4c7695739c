import { exitCode, safeLine } from '../../base/index.ts'
import { learnedPath, readLearned, weightOf } from '../../tools/index.ts'
import { amount, cell } from '../../base/text.ts'
import { toolProject } from '../../tools/commands/project-tools.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program.addHelpText('after', '\nExample:\n  $ skillrail tools learn list\n')
  },
  async run(context) {
    const { runtime, output, options } = context
    const place = { project: toolProject(context), runtime }
    const { examples, diagnostics } = readLearned(place)
    const now = runtime.now()
    if (options.json) {
      const rows = examples.map((example) => ({ ...example, weight: weightOf(example, now) }))
      output.json({ path: learnedPath(place), examples: rows, diagnostics })
      return exitCode.done
    }
    output.diagnostics(diagnostics)
    if (examples.length > 0) {
      output.table([
        ['TOOL', '', 'REQUEST', 'SAID', 'WEIGHT'],
        ...examples.map((example) => [
          safeLine(example.tool),
          example.wrong ? 'not' : '',
          cell(example.request, Math.max(20, output.width - 60)),
          `${example.count} x`,
          weightOf(example, now).toFixed(2),
        ]),
      ])
    }
    output.note(`${amount(examples.length, 'example')} learned in this project`)
    return exitCode.done
  },
})
