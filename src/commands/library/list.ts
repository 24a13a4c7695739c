import { defineCommand, option, type Screen } from '#core/command'
import { errorsIn } from '#core/errors'
import { amount, cell, count } from '#core/text'
import { type ListedSkill, listSkills, type SkillList } from '#project/list-skills'

interface ListResult extends SkillList {
  /** Whether the table shows clients instead of descriptions. */
  byClient?: boolean | undefined
}

export const command = defineCommand<ListResult>()({
  helpsToRepair: true,
  options: {
    all: option.flag('--all', 'also list skills hidden by another one of the same name'),
    clients: option.flag('--clients', 'show which agent clients read each skill themselves'),
    precedence: option.choice(
      '--precedence <scope>',
      'project or user: which skills take precedence',
      { choices: ['project', 'user'] },
    ),
  },
  examples: ['list --all'],
  async run(context, values) {
    return { ...(await listSkills(context, values)), byClient: values.clients }
  },
  render: (result, screen) => (isEmpty(result) ? '' : screen.table(tableRows(result, screen))),
  notes(result, { verbose }) {
    // Only `--json` has the diagnostics of a shadowed skill.
    const active = result.skills.filter(({ standing }) => standing !== 'shadowed')
    const all = [...result.diagnostics, ...active.flatMap(({ diagnostics }) => diagnostics)]
    const severities = verbose ? ['error', 'warning'] : ['error']
    const printable = all.filter(({ severity }) => severities.includes(severity))
    const warnings = verbose ? 0 : all.filter(({ severity }) => severity === 'warning').length
    return [
      isEmpty(result) && 'There are no skills here. `skillrail new NAME` makes one.',
      printable.length > 0 && '',
      ...printable,
      !isEmpty(result) && `\n${summary(result, warnings)}`,
    ]
  },
})

function isEmpty({ skills, broken }: ListResult): boolean {
  return skills.length + broken.length === 0
}

function summary({ skills, broken, shadowed, heldBack }: ListResult, warnings: number): string {
  const used = skills.filter(({ standing }) => standing === undefined)
  const conflicts = skills.filter(({ standing }) => standing === 'conflict').length
  const isAll = skills.length > used.length + conflicts
  const unusable = broken.length + conflicts
  const failing = used.filter(({ invalid }) => invalid !== undefined).length
  return [
    amount(used.length, 'skill'),
    unusable > 0 && `${unusable} that cannot be used`,
    failing > 0 && `${failing} invalid (skillrail validate)`,
    heldBack > 0 && `${heldBack} not as locked or accepted (skillrail trust shows it)`,
    shadowed > 0 && `${shadowed} shadowed${isAll ? '' : ' (--all shows them)'}`,
    warnings > 0 && `${amount(warnings, 'warning')} (--verbose shows them)`,
  ]
    .filter(Boolean)
    .join(', ')
}

type Row = readonly [name: string, scope: string, trust: string, tokens: string, note: string]

const columns = ['NAME', 'SCOPE', 'TRUST', 'TOKENS'] as const

/** Returns the rows with a heading. A narrow terminal loses the description first, then the scope. */
function tableRows(result: ListResult, { width, style }: Screen): string[][] {
  const rows = rowsOf(result)
  const longest = (column: 0 | 3) =>
    rows.reduce((most, row) => Math.max(most, row[column].length), columns[column].length)
  const nameWidth = Math.min(longest(0), Math.max(12, Math.floor(width / 3)))
  const tokenWidth = longest(3)
  const fixed = nameWidth + 'project'.length + 'untrusted'.length + tokenWidth + 8
  const noteWidth = width - fixed
  const cellsOf = ([name, scope, trust, tokens, note]: Row): string[] => {
    const colour = colours[trust]
    return [
      cell(name, nameWidth),
      ...(width >= fixed ? [scope] : []),
      colour ? style(colour, trust) : trust,
      tokens.padStart(tokenWidth),
      ...(noteWidth >= 16 ? [cell(note, noteWidth)] : []),
    ]
  }
  const names: Row = [...columns, result.byClient ? 'CLIENTS' : 'DESCRIPTION']
  return [cellsOf(names).map((text) => style('dim', text)), ...rows.map(cellsOf)]
}

const colours: Readonly<Record<string, 'green' | 'yellow' | 'red' | undefined>> = {
  trusted: 'green',
  untrusted: 'yellow',
  broken: 'red',
  conflict: 'red',
}

/** Order: skills, conflicts, with `--all` the shadowed skills, then broken skills. */
function rowsOf({ skills, broken, byClient = false }: ListResult): Row[] {
  const unusable = broken.map(({ name, scope, diagnostics }): Row => {
    const why = errorsIn(diagnostics)[0]?.message ?? ''
    return [name, scope, 'broken', '-', why]
  })
  return [...skills.map((skill) => rowOf(skill, byClient)), ...unusable]
}

function rowOf(
  { standing, shadows, description, source, invalid, ...skill }: ListedSkill,
  byClient: boolean,
): Row {
  const hides = shadows ? `[hides ${shadows.length}] ` : ''
  const about = byClient ? skill.clients.join(' ') || 'no client by itself' : description
  const notes = {
    conflict: 'another skill here has this name',
    shadowed: `${skill.trust}, in ${source}`,
  }
  const use = invalid === undefined ? about : `[invalid] ${byClient ? about : invalid}`
  const note = standing ? notes[standing] : hides + use
  return [skill.name, skill.scope, standing ?? skill.trust, count(skill.tokens.body), note]
}
