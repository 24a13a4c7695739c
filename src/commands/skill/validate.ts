import { defineCommand, option, type Screen } from '#core/command'
import { type Diagnostic, diagnosticText, exitCode, summaryLine } from '#core/errors'
import { sarifText } from '#core/sarif'
import { amount, linesText, safeLine, safeText, withoutGithubCommands } from '#core/text'
import { validationRules } from '#skill/rules'
import { triggerRules } from '#trigger/check'
import { type ValidateResult, validateSkills } from '#project/validate-skills'
import type { SkillVerdict } from '#project/verdicts'

interface CheckedSkills extends ValidateResult {
  failOn: 'error' | 'warning'
}

export const command = defineCommand<CheckedSkills>()({
  helpsToRepair: true,
  arguments: {
    '[path...]': 'skills, SKILL.md files, plugins, or folders with skills (default: here)',
  },
  options: {
    profile: option.choice(
      '--profile <name>',
      'spec: the written specification; reference: skills-ref',
      { choices: ['spec', 'reference'], default: 'spec' },
    ),
    format: option.choice(
      '--format <name>',
      'text, json, sarif, or github for annotations of a run',
      { choices: ['text', 'json', 'github', 'sarif'] },
    ),
    failOn: option.choice(
      '--fail-on <severity>',
      'lowest severity that exits with code 1: error, warning',
      { choices: ['error', 'warning'], default: 'error' },
    ),
    fix: option.flag(
      '--fix',
      'fix safe problems: byte order mark, CRLF, quoting, blanks, allowed-tools',
    ),
    dryRun: option.flag('--dry-run', 'with --fix, show the changes and write nothing'),
  },
  examples: ['validate skills/pdf-processing', 'validate --fix --dry-run .agents/skills'],
  async run(context, { arguments: paths, profile, failOn, fix, dryRun }) {
    const fixing = dryRun ? 'show' : fix ? 'write' : undefined
    const checked = await validateSkills(context, { paths, profile, fix: fixing })
    return checked && { ...checked, failOn }
  },
  exitCode({ summary: { invalid, warnings }, failOn }) {
    const isBad = invalid > 0 || (failOn === 'warning' && warnings > 0)
    return isBad ? exitCode.failed : exitCode.done
  },
  render: ({ skills, summary, nothingToFix = false }, screen) =>
    linesText([
      ...skills.flatMap((verdict) => changeLines(verdict, screen)),
      ...diagnosticLines(skills, screen),
      nothingToFix && 'Nothing can be fixed automatically.',
      summaryLine(
        subjectOf(summary),
        screen.quiet ? { ...summary, infos: 0 } : summary,
        screen.style,
      ),
    ]),
  commandFormat: 'github',
  formats: {
    github: ({ skills }) =>
      skills.flatMap(({ diagnostics }) => diagnostics.map(annotation)).join(''),
    sarif({ skills, directory }) {
      const found = skills.flatMap(({ diagnostics }) => diagnostics)
      return sarifText([...validationRules, ...triggerRules], found, directory)
    },
  },
})

function subjectOf({ checked, plugins = 0 }: ValidateResult['summary']): string {
  const kinds = plugins > 0 ? `${amount(plugins, 'plugin')} and ` : ''
  return `${kinds}${amount(checked - plugins, 'skill')}`
}

/** Makes the lines of fixes, made or planned. */
function changeLines({ path, changes = [], diff }: SkillVerdict, { quiet, style }: Screen) {
  const fixes = changes.map(({ line, message }) => {
    const verb = diff === undefined ? 'fixed' : 'would fix'
    return `${safeLine(path)}:${line}: ${style('green', verb)}: ${message}`
  })
  return [diff && safeText(diff.replaceAll('\r\n', '^M\n')), ...(quiet ? [] : fixes)]
}

const severities = ['error', 'warning', 'info'] as const

/** The errors of all skills, then their warnings, then advice. */
function diagnosticLines(skills: readonly SkillVerdict[], { quiet, style }: Screen): string[] {
  const all = skills.flatMap(({ diagnostics }) => diagnostics)
  const wanted = quiet ? severities.slice(0, 1) : severities
  return wanted
    .flatMap((severity) => all.filter((diagnostic) => diagnostic.severity === severity))
    .map((diagnostic) => diagnosticText(diagnostic, style))
}

const annotations = { error: 'error', warning: 'warning', info: 'notice' } as const

function annotation({ severity, path, line, column, code, message, hint }: Diagnostic): string {
  const properties = [
    `file=${property(path)}`,
    ...(line === undefined ? [] : [`line=${line}`]),
    ...(column === undefined ? [] : [`col=${column}`]),
    `title=${property(code)}`,
  ]
  const text = hint === undefined ? message : `${message}\n${hint}`
  return `::${annotations[severity]} ${properties.join(',')}::${data(safeText(text))}\n`
}

function data(text: string): string {
  return withoutGithubCommands(text)
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(safeLine(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
