import { auditRules, auditSkill } from '../../audit/index.ts'
import { exitCode, type ExitCode, UsageError } from '../../base/index.ts'
import { auditTargets } from '../_audit-targets.ts'
import { auditAnswer, auditLines, summaryOf } from '../_audit-report.ts'
import { printSarif } from '../_sarif-report.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  format?: string | undefined
  failOn: string
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('[skill...]', 'names, skills, or folders with skills (default: all installed)')
      .option('--format <name>', 'text, json, or sarif for code scanning')
      .option('--fail-on <severity>', 'what ends with exit code 1: error, warning', 'error')
      .addHelpText(
        'after',
        '\nNothing is executed, no link is followed, and facts are no verdict.\n' +
          '\nExamples:\n  $ skillrail audit skills/deploy\n' +
          '  $ skillrail audit --format sarif --fail-on warning .agents/skills > audit.sarif\n',
      )
  },
  async run(context, references, options) {
    const format = readFormat(context, options)
    const failOn = readFailOn(options.failOn)
    const { targets, others, diagnostics } = auditTargets(context, references)
    const audits = []
    for (const { directory, realDirectory } of targets) {
      if (context.signal.aborted) return exitCode.interrupted
      audits.push(
        auditSkill(directory, {
          others: others.filter((other) => other.directory !== realDirectory),
        }),
      )
      // Lets a signal in: the work itself is synchronous.
      await new Promise((done) => setImmediate(done))
    }
    const { output, runtime } = context
    if (format === 'json') output.json(auditAnswer(audits, diagnostics))
    else if (format === 'sarif') {
      const findings = audits.flatMap((audit) => audit.findings)
      printSarif(context, auditRules, [...diagnostics, ...findings])
    } else {
      for (const line of auditLines(audits, runtime.cwd, context)) output.line(line)
      output.diagnostics(diagnostics)
    }
    const { errors, warnings } = summaryOf(audits)
    return answer(failOn === 'error' ? errors : errors + warnings + diagnostics.length)
  },
})

function answer(bad: number): ExitCode {
  return bad === 0 ? exitCode.done : exitCode.badAnswer
}

function readFormat({ options: { json } }: CommandContext, { format }: Options): string {
  if (json && format !== undefined && format !== 'json') {
    throw wrongOption('--format', format, 'json, beside --json')
  }
  const name = format ?? (json ? 'json' : 'text')
  if (name === 'text' || name === 'json' || name === 'sarif') return name
  throw wrongOption('--format', name, 'text, json, sarif')
}

function readFailOn(severity: string): 'error' | 'warning' {
  if (severity === 'error' || severity === 'warning') return severity
  throw wrongOption('--fail-on', severity, 'error, warning')
}

function wrongOption(option: string, value: string, allowed: string): UsageError {
  return new UsageError({
    code: 'wrong-use',
    message: `${option} ${value} is not known; allowed: ${allowed}`,
    hint: 'skillrail audit --help shows what is allowed.',
  })
}
