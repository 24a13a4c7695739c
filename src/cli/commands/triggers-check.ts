import {
  type Diagnostic,
  type ExitCode,
  exitCode,
  hasErrors,
  UsageError,
} from '../../base/index.ts'
import { validationRules } from '../../skill/index.ts'
import { checkOverlap, triggerRules } from '../../trigger/index.ts'
import { checkedSkills } from '../_checked-skills.ts'
import { caseLines, type CaseVerdict, checkPrompts } from '../_prompt-verdicts.ts'
import { type CheckedFile, checkLines } from '../_trigger-verdicts.ts'
import { printSarif } from '../_sarif-report.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  fix?: boolean | undefined
  dryRun?: boolean | undefined
  prompts?: string | undefined
  format?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('[skill...]', 'names or paths (default: all that are installed)')
      .option('--fix', 'write patterns in the portable subset where the meaning stays the same')
      .option('--dry-run', 'with --fix, show the changes and write nothing')
      .option('--prompts <file>', 'JSON of { "prompt", "inject" }: what each prompt must inject')
      .option('--format <name>', 'text, json, or sarif for code scanning')
      .addHelpText(
        'after',
        '\nExamples:\n  $ skillrail triggers check skills/deploy\n  $ skillrail triggers check deploy --prompts prompts.json\n',
      )
  },
  async run(context, references, options) {
    const format = readFormat(context, options)
    const files = checkedSkills(context, references, {
      fix: options.fix === true || options.dryRun === true,
      dryRun: options.dryRun === true,
    })
    const overlap = checkOverlap(files.map(({ skill }) => skill))
    const prompts =
      options.prompts === undefined ? undefined : checkPrompts(context, options.prompts, files)
    const { output } = context
    const diagnostics = [...overlap, ...(prompts?.diagnostics ?? [])]
    if (format === 'json') output.json(report(files, prompts?.verdicts, diagnostics))
    else if (format === 'sarif') {
      const found = files.flatMap(({ check }) => check.diagnostics)
      printSarif(context, [...triggerRules, ...validationRules], [...found, ...diagnostics])
    } else {
      for (const line of checkLines(files)) output.line(line)
      for (const line of caseLines(prompts?.verdicts)) output.line(line)
      output.diagnostics([...files.flatMap(({ check }) => check.diagnostics), ...diagnostics])
    }
    return answer(files, prompts?.verdicts ?? [], diagnostics)
  },
})

function readFormat({ options: { json } }: CommandContext, { format }: Options): string {
  const name = format ?? (json ? 'json' : 'text')
  if (name === 'json' || (!json && (name === 'text' || name === 'sarif'))) return name
  throw new UsageError({
    code: 'wrong-use',
    message: `--format ${name} is not known${json ? ' beside --json' : ''}; allowed: text, json, sarif`,
    hint: 'skillrail triggers check --help shows what is allowed.',
  })
}

function report(
  files: readonly CheckedFile[],
  prompts: readonly CaseVerdict[] | undefined,
  diagnostics: readonly Diagnostic[],
): object {
  const all = [...files.flatMap(({ check }) => check.diagnostics), ...diagnostics]
  const triggers = files.flatMap(({ check }) => check.triggers)
  return {
    skills: files.map(({ check, changes, diff }) => ({ ...check, changes, diff })),
    prompts,
    diagnostics,
    summary: {
      checked: triggers.length,
      risks: triggers.filter(({ risk }) => risk !== undefined).length,
      errors: all.filter(({ severity }) => severity === 'error').length,
      warnings: all.filter(({ severity }) => severity === 'warning').length,
    },
  }
}

function answer(
  files: readonly CheckedFile[],
  prompts: readonly CaseVerdict[],
  diagnostics: readonly Diagnostic[],
): ExitCode {
  const isBad =
    files.some(
      ({ check }) =>
        hasErrors(check.diagnostics) || check.triggers.some(({ problems }) => problems.length > 0),
    ) ||
    hasErrors(diagnostics) ||
    prompts.some(({ ok }) => !ok)
  return isBad ? exitCode.badAnswer : exitCode.done
}
