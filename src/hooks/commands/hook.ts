import { defineCommand, option } from '../../core/command.ts'
import { UsageError } from '../../core/errors.ts'
import { wholeNumber } from '../../core/option-values.ts'
import { cell } from '../../core/text.ts'
import { runHook } from '../run-hook.ts'
import { clientNamed } from './clients.ts'

export const command = defineCommand<never>()({
  arguments: { '<client>': 'the client that calls the hook' },
  options: {
    part: option.text('--part <k/n>', 'print this part of the context', { default: '1/1' }),
  },
  details:
    'Reads what the client says about a prompt from stdin and prints the references for\nit in the client’s own form. Never fails: a prompt is never held up. Clients call the launcher\nthat skillrail hooks install writes, which does the same and starts faster.',
  examples: ['hook claude < prompt.json'],
  protocol: () => true,
  async run(context, values) {
    const platform = clientNamed(values.arguments[0] ?? '')
    const part = partOf(values.part)
    const input = await context.stdin()
    const { stdout, stderr } = await runHook({ platform, part, input, runtime: context.runtime })
    context.streams?.stdout.write(stdout)
    if (stderr !== '') context.note(stderr.trimEnd())
    return undefined
  },
  render: () => '',
})

function partOf(text: string): { number: number; of: number } {
  const [number = '', count, ...more] = text.split('/')
  if (count === undefined || more.length > 0) {
    const message = `--part ${cell(text, 40)} is not like 1/2`
    throw new UsageError({ code: 'part-wrong', message })
  }
  const of = wholeNumber('--part', count, { least: 1, most: 99 })
  return { number: wholeNumber('--part', number, { least: 1, most: of }), of }
}
