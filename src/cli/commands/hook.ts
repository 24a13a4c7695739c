import { exitCode, UsageError } from '../../base/index.ts'
import { runHook } from '../../hooks/index.ts'
import { cell } from '../../base/text.ts'
import { platformNamed } from '../_hook-platforms.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  part: string
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<client>', 'whose hook protocol to speak')
      .option('--part <k/n>', 'print this part of the context', '1/1')
      .addHelpText(
        'after',
        '\nReads what the client says about a prompt from standard input and prints the references for\nit in the client’s own form. Never fails: a prompt is never held up. Clients call the launcher\nthat skillrail hooks install writes, which does the same and starts faster.\n\nExample:\n  $ echo \'{"prompt":"/deploy staging"}\' | skillrail hook claude\n',
      )
  },
  async run(context, [name = ''], options) {
    const platform = platformNamed(name)
    const part = partOf(options.part)
    const { runtime } = context
    const input = await context.readStandardInput()
    const { stdout, stderr } = await runHook({ platform, part, input, runtime })
    context.output.raw(stdout)
    if (stderr !== '') context.output.note(stderr.trimEnd())
    return exitCode.done
  },
})

/** @throws {UsageError} for a text that is not like `1/2`. */
function partOf(text: string): { number: number; of: number } {
  const [number = '', count, ...more] = text.split('/')
  if (count === undefined || more.length > 0) {
    throw new UsageError({
      code: 'part-wrong',
      message: `--part ${cell(text, 40)} is not like 1/2`,
    })
  }
  const of = wholeNumber('--part', count, { least: 1, most: 99 })
  return { number: wholeNumber('--part', number, { least: 1, most: of }), of }
}
