import { exitCode } from '../../base/index.ts'
import { estimateTokens } from '../../skill/index.ts'
import {
  compilePattern,
  readTarget,
  tierZeroLine,
  tokenReport,
  type TokenReport,
} from '../../trigger/index.ts'
import { amount, cell, count } from '../../base/text.ts'
import { type InstalledSkill, skillsFor } from '../_trigger-skills.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  tokens?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('[skill...]', 'names or paths (default: all that are installed)')
      .option('--tokens', 'what each tier costs, and a prompt with and without triggers')
      .addHelpText('after', '\nExample:\n  $ skillrail triggers list deploy --tokens\n')
  },
  async run(context, references, options) {
    const { skills, diagnostics } = skillsFor(context, references)
    const shown = skills.filter(({ triggers }) => references.length > 0 || triggers.length > 0)
    const reports = options.tokens === true ? shown.map(reportOf) : undefined
    if (context.options.json) {
      const listed = shown.map((skill, index) => ({ ...listing(skill), tokens: reports?.[index] }))
      context.output.json({ skills: listed, diagnostics })
      return exitCode.done
    }
    if (reports === undefined) print(context, shown)
    else printTokens(context, reports)
    context.output.diagnostics(diagnostics)
    return exitCode.done
  },
})

function listing({ name, path, directory, triggers }: InstalledSkill): object {
  return {
    skill: name,
    path,
    triggers: triggers.map((trigger) => {
      const target = readTarget(directory, trigger.inject)
      const reading = compilePattern(trigger.match)
      return {
        ...trigger,
        valid: reading.ok,
        portable: reading.ok && reading.pattern.notes.length === 0,
        tokens: target.ok ? estimateTokens(target.text) : null,
      }
    }),
  }
}

function reportOf(skill: InstalledSkill): TokenReport {
  const { name, info } = skill
  const line = tierZeroLine(name, info.fields)
  return tokenReport({ ...skill, tokens: info.tokens }, line, readTarget)
}

function print({ output }: CommandContext, skills: readonly InstalledSkill[]): void {
  const rows = skills.flatMap(({ name, directory, triggers }) =>
    triggers.map(({ match, inject }) => {
      const target = readTarget(directory, inject)
      const tokens = target.ok ? count(estimateTokens(target.text)) : '-'
      return [cell(name, 32), cell(match, 50), cell(inject, 50), tokens]
    }),
  )
  if (rows.length === 0) return output.note('There are no triggers here.')
  output.table([['SKILL', 'TRIGGER', 'INJECTS', 'TOKENS'], ...rows])
  output.note(`\n${amount(rows.length, 'trigger')} in ${amount(skills.length, 'skill')}`)
}

function printTokens({ output }: CommandContext, reports: readonly TokenReport[]): void {
  for (const [index, report] of reports.entries()) {
    if (index > 0) output.line()
    output.line(output.style('bold', cell(report.skill, 64)))
    output.table([
      ['  0 discovery', count(report.discovery), 'a line in CLAUDE.md, AGENTS.md, …'],
      ['  1 metadata', count(report.metadata), 'name and description, always'],
      ['  2 instructions', count(report.instructions), 'the body, when activated'],
      ...report.references.map(({ path, tokens }) => [
        '  3 reference',
        tokens === undefined ? '-' : count(tokens),
        cell(path, 60),
      ]),
      ['  without triggers', count(report.withoutTriggers), 'the body and every reference'],
      [
        '  with triggers',
        count(report.withTriggers),
        `one reference of average size: ${report.saved}% less`,
      ],
    ])
  }
}
