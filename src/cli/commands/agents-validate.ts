import { resolve } from 'node:path'
import { exitCode, hasErrors } from '../../base/index.ts'
import { type AgentVerdict, verdictsOf } from '../_agent-verdicts.ts'
import { amount } from '../../base/text.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program
      .argument('[path...]', 'files or folders with files; default: all that are found here')
      .addHelpText(
        'after',
        '\nExamples:\n  $ skillrail agents validate\n  $ skillrail agents validate .claude/agents/reviewer.md\n',
      )
  },
  async run(context, paths) {
    const { runtime } = context
    const absolute = paths.map((path) => resolve(runtime.cwd, path))
    const verdicts = await verdictsOf(context, absolute)
    const summary = summaryOf(verdicts)
    if (context.options.json) context.output.json({ agents: verdicts, summary })
    else print(context, verdicts, summary)
    return summary.invalid > 0 ? exitCode.badAnswer : exitCode.done
  },
})

interface Summary {
  checked: number
  valid: number
  invalid: number
  errors: number
  warnings: number
}

function summaryOf(verdicts: readonly AgentVerdict[]): Summary {
  const diagnostics = verdicts.flatMap((verdict) => verdict.diagnostics)
  const invalid = verdicts.filter(({ valid }) => !valid).length
  return {
    checked: verdicts.length,
    valid: verdicts.length - invalid,
    invalid,
    errors: diagnostics.filter(({ severity }) => severity === 'error').length,
    warnings: diagnostics.filter(({ severity }) => severity === 'warning').length,
  }
}

function print(
  { output, options }: CommandContext,
  verdicts: readonly AgentVerdict[],
  { checked, invalid, errors, warnings }: Summary,
): void {
  output.diagnostics(
    verdicts.flatMap(({ diagnostics }) =>
      options.quiet ? diagnostics.filter((one) => hasErrors([one])) : diagnostics,
    ),
  )
  const verdict =
    invalid === 0
      ? output.style('green', checked === 1 ? 'valid' : 'all valid')
      : output.style('red', `${invalid} invalid`)
  const found = `${amount(errors, 'error')}, ${amount(warnings, 'warning')}`
  output.line(`${amount(checked, 'subagent')} checked, ${verdict}: ${found}`)
}
