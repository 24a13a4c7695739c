import { type ExitCode, exitCode, UsageError } from '../../base/index.ts'
import type { ValidationProfile } from '../../skill/index.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'
import { fixTarget } from '../_validate-fix.ts'
import { createReport, type ReportFormat, type SkillVerdict } from '../_validate-report.ts'
import { validateTarget, validationTargets } from '../_validate-target.ts'

interface Options {
  profile: string
  format?: string | undefined
  fix?: boolean | undefined
  dryRun?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('[path...]', 'skills, SKILL.md files, or folders with skills (default: here)')
      .option('--profile <name>', 'spec: the written specification; reference: skills-ref', 'spec')
      .option('--format <name>', 'text, json, sarif, or github for annotations of a run')
      .option('--fix', 'mend what is safe: byte order mark, CRLF, quoting, blanks, allowed-tools')
      .option('--dry-run', 'with --fix, show the changes and write nothing')
      .addHelpText(
        'after',
        '\nExamples:\n  $ skillrail validate skills/pdf-processing\n  $ skillrail validate --fix --dry-run .agents/skills\n',
      )
  },
  async run(context, paths, options) {
    const profile = readProfile(options.profile)
    const report = createReport(context, readFormat(context, options))
    const fix = options.fix === true || options.dryRun === true
    for (const target of validationTargets(context.runtime.cwd, paths)) {
      if (context.signal.aborted) return exitCode.interrupted
      const verdict: SkillVerdict = fix
        ? fixTarget(target, { profile, dryRun: options.dryRun === true })
        : validateTarget(target, profile)
      report.add(verdict)
      // Lets a signal in: the work itself is synchronous.
      if (report.summary.checked % 500 === 0) await new Promise((done) => setImmediate(done))
    }
    report.finish()
    return answer(report.summary.invalid)
  },
})

function answer(invalid: number): ExitCode {
  return invalid === 0 ? exitCode.done : exitCode.badAnswer
}

function readProfile(name: string): ValidationProfile {
  if (name === 'spec' || name === 'reference') return name
  throw wrongOption('--profile', name, 'spec, reference')
}

function readFormat({ options: globals }: CommandContext, { format }: Options): ReportFormat {
  if (globals.json && format !== undefined && format !== 'json') {
    throw wrongOption('--format', format, 'json, beside --json')
  }
  const name = format ?? (globals.json ? 'json' : 'text')
  if (name === 'text' || name === 'json' || name === 'github' || name === 'sarif') return name
  throw wrongOption('--format', name, 'text, json, github, sarif')
}

function wrongOption(option: string, value: string, allowed: string): UsageError {
  return new UsageError({
    code: 'wrong-use',
    message: `${option} ${value} is not known; allowed: ${allowed}`,
    hint: 'skillrail validate --help shows what is allowed.',
  })
}
