import { exitCode, safeLine } from '../../base/index.ts'
import {
  type Check,
  checkAgents,
  checkLibrary,
  checkMachine,
  checkSkillLock,
  checkTrust,
} from '../_doctor-checks.ts'
import { checkEngine } from '../_doctor-engine.ts'
import { checkHooks } from '../_doctor-hooks.ts'
import { checkSandbox } from '../_doctor-sandbox.ts'
import { declareEngine, type EngineOptions } from '../_engine.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options extends EngineOptions {
  probe?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    declareEngine(program)
    program
      .option('--probe', 'call the hook of every client as the client would')
      .addHelpText(
        'after',
        '\nEnds with 1 when something is wrong that keeps skillrail from working.\n\nExample:\n  $ skillrail doctor\n',
      )
  },
  async run(context, _positionals, options) {
    const checks = [
      ...checkMachine(context),
      await checkSandbox(context),
      ...checkLibrary(context),
      ...checkTrust(context),
      ...checkSkillLock(context),
      ...checkAgents(context),
      ...(await checkHooks(context, options.probe === true)),
      ...(await checkEngine(context, options)),
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
