import { defineCommand, option, type Screen } from '#core/command'
import type { Diagnostic } from '#core/errors'
import { amount, cell, count } from '#core/text'
import type { TriggerDeclaration } from '#skill/model'
import { patternsOf } from '#trigger/check'
import { costOf } from '#trigger/inject'
import { compilePattern } from '#trigger/pattern'
import { tokenReport, type TokenReport } from '#trigger/tier-zero'
import { type InstalledSkill, skillsFor } from '#project/skills'
import { skillArguments } from './options.ts'

interface ListedSkill {
  skill: string
  path: string
  triggers: readonly ListedTrigger[]
  /** Only with `--tokens`. */
  tokens: TokenReport | undefined
}

interface ListedTrigger extends TriggerDeclaration {
  valid: boolean
  /** Whether each client's regular expressions read the pattern alike. */
  portable: boolean
  /** Tokens of the reference; null if it cannot be read. */
  tokens: number | null
}

interface Result {
  skills: readonly ListedSkill[]
  diagnostics: readonly Diagnostic[]
}

export const command = defineCommand<Result>()({
  arguments: skillArguments,
  options: {
    tokens: option.flag(
      '--tokens',
      'show the token cost of each tier, and of a prompt with and without triggers',
    ),
  },
  examples: ['triggers list deploy --tokens'],
  async run(context, { arguments: references, tokens }) {
    const { skills, diagnostics } = skillsFor(context, references)
    const listable = skills.filter(({ triggers }) => references.length > 0 || triggers.length > 0)
    return { skills: listable.map((skill) => listed(skill, tokens)), diagnostics }
  },
  render({ skills }, screen) {
    const reports = skills.flatMap(({ tokens }) => tokens ?? [])
    if (reports.length > 0) return reports.map((report) => tokensText(report, screen)).join('\n')
    const rows = skills.flatMap(({ skill, triggers }) =>
      triggers.map(({ match, inject, tokens }) => [
        cell(skill, 32),
        cell(match, 50),
        cell(inject, 50),
        tokens === null ? '-' : count(tokens),
      ]),
    )
    if (rows.length === 0) return ''
    return screen.table([['SKILL', 'TRIGGER', 'INJECTS', 'TOKENS'], ...rows])
  },
  notes({ skills, diagnostics }) {
    if (skills.some(({ tokens }) => tokens !== undefined)) return diagnostics
    const triggers = skills.reduce((sum, skill) => sum + skill.triggers.length, 0)
    const counts = `\n${amount(triggers, 'trigger')} in ${amount(skills.length, 'skill')}`
    return [triggers === 0 ? 'There are no triggers here.' : counts, ...diagnostics]
  },
})

function listed(skill: InstalledSkill, withTokens: boolean): ListedSkill {
  return {
    skill: skill.name,
    path: skill.path,
    triggers: skill.triggers.map((trigger) => {
      const readings = patternsOf(trigger).map(compilePattern)
      return {
        ...trigger,
        valid: readings.every(({ ok }) => ok),
        portable: readings.every((reading) => reading.ok && reading.pattern.notes.length === 0),
        tokens: costOf(skill, trigger).tokens ?? null,
      }
    }),
    tokens: withTokens ? tokenReport(skill) : undefined,
  }
}

function tokensText(report: TokenReport, screen: Screen): string {
  const average = `one reference of average size: ${report.saved}% less`
  const table = screen.table([
    ['  0 discovery', count(report.discovery), 'a line in CLAUDE.md, AGENTS.md, …'],
    ['  1 metadata', count(report.metadata), 'name and description, always'],
    ['  2 instructions', count(report.instructions), 'the body, when activated'],
    ...report.references.map(({ path, tokens }) => [
      '  3 reference',
      tokens === undefined ? '-' : count(tokens),
      cell(path, 60),
    ]),
    ['  without triggers', count(report.withoutTriggers), 'the body and every reference'],
    ['  with triggers', count(report.withTriggers), average],
  ])
  return `${screen.style('bold', cell(report.skill, 64))}\n${table}`
}
