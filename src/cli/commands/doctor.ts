import { exitCode, safeLine } from '../../base/index.ts'
import {
  type Check,
  checkAgents,
  checkLibrary,
  checkMachine,
  checkTrust,
} from '../_doctor-checks.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program.addHelpText(
      'after',
      '\nEnds with 1 when something is wrong that keeps skillrail from working.\n\nExample:\n  $ skillrail doctor\n',
    )
  },
  async run(context) {
    const checks = [
      ...checkMachine(context),
      ...checkLibrary(context),
      ...checkTrust(context),
      ...checkAgents(context),
    ]
    if (context.options.json) context.output.json({ checks })
    else print(context, checks)
    const failed = checks.some(({ status }) => status === 'problem')
    return failed ? exitCode.badAnswer : exitCode.done
  },
})

function print({ output }: CommandContext, checks: readonly Check[]): void {
  const marks = {
    ok: output.style('green', '✓'),
    information: output.style('dim', '·'),
    warning: output.style('yellow', '!'),
    problem: output.style('red', '✗'),
  } as const satisfies Record<Check['status'], string>
  const width = Math.max(...checks.map(({ name }) => name.length))
  for (const { name, status, found, advice } of checks) {
    output.line(`${marks[status]} ${name.padEnd(width)}  ${safeLine(found)}`)
    if (advice !== undefined) output.line(`  ${' '.repeat(width)}  ${output.style('dim', advice)}`)
  }
}
