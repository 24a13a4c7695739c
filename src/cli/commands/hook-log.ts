import { exitCode, safeLine } from '../../base/index.ts'
import { type HookTrace, readTraces } from '../../hooks/index.ts'
import { amount } from '../../base/text.ts'
import { wholeNumber } from '../../base/option-values.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  limit: string
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('-n, --limit <number>', 'how many prompts, the newest', '20')
      .addHelpText(
        'after',
        '\nOnly prompts that a trigger fired on are in the log. Secrets are masked in it.\n\nExample:\n  $ skillrail hook log -n 5\n',
      )
  },
  async run(context, _positionals, options) {
    const limit = wholeNumber('--limit', options.limit, { least: 1, most: 999_999 })
    const { traces, unreadable, path } = readTraces(context.runtime, limit)
    if (context.options.json) context.output.json({ traces, unreadable, path })
    else print(context, traces)
    if (unreadable > 0)
      context.output.note(`${amount(unreadable, 'line')} of ${path} could not be read`)
    return exitCode.done
  },
})

function print({ output }: CommandContext, traces: readonly HookTrace[]): void {
  if (traces.length === 0) output.line('No trigger has fired yet.')
  for (const { at, platform, cwd, prompt, injected, withheld, durationMs, error } of traces) {
    output.line(`${at}  ${platform}  ${durationMs} ms  ${output.style('dim', safeLine(cwd))}`)
    output.line(`  ${safeLine(prompt)}`)
    for (const { skill, path, characters } of injected) {
      output.line(`  + ${safeLine(skill)}/${safeLine(path)} (${characters} characters)`)
    }
    for (const { skill, path, reason } of withheld) {
      output.line(`  - ${safeLine(skill)}/${safeLine(path)}: ${safeLine(reason)}`)
    }
    if (error !== undefined) output.line(`  ! ${safeLine(error)}`)
  }
}
