import { type Context, defineCommand, option, type Screen } from '#core/command'
import { type Diagnostic, errorsIn } from '#core/errors'
import { amount, cell, count } from '#core/text'
import { findWorkspace } from '#core/read-files'
import { invalidSkills } from '#skill/commands/verdicts'
import { lockedTrust } from '#trust/skill-trust'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import { clientsReading } from '#library/locations'
import type { BrokenSkill, SkillInfo } from '#library/model'

interface ListResult {
  skills: readonly ListedSkill[]
  diagnostics: readonly Diagnostic[]
  broken: readonly BrokenSkill[]
  /** How many skills another one of the same name hides; they are in `skills` with `--all`. */
  shadowed: number
  /** How many skills are not trusted, though their place is. */
  heldBack: number
  /** Whether the table shows clients in place of descriptions. */
  byClient?: boolean | undefined
}

interface ListedSkill extends ReturnType<typeof listed> {
  /** The skill that is used instead. */
  shadowedBy?: string | undefined
  /** The first error of `validate`. */
  invalid?: string | undefined
  /** Whether another skill has its name, so that neither is used, or one that is used instead. */
  standing?: 'conflict' | 'shadowed' | undefined
  source?: string | undefined
}

export const command = defineCommand<ListResult>()({
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
    // Those of a shadowed skill are for `--json`.
    const own = result.skills.filter(({ standing }) => standing !== 'shadowed')
    const found = [...result.diagnostics, ...own.flatMap(({ diagnostics }) => diagnostics)]
    const wanted = verbose ? ['error', 'warning'] : ['error']
    const shown = found.filter(({ severity }) => wanted.includes(severity))
    const warnings = verbose ? 0 : found.filter(({ severity }) => severity === 'warning').length
    return [
      isEmpty(result) && 'There are no skills here. `skillrail new NAME` makes one.',
      shown.length > 0 && '',
      ...shown,
      !isEmpty(result) && `\n${summary(result, warnings)}`,
    ]
  },
})

/** Lists what a search finds, with the verdicts. With a lock, each file of a skill is read. */
export async function listSkills(
  { runtime, settings }: Pick<Context, 'runtime' | 'settings'>,
  { all, precedence }: { all: boolean; precedence?: 'project' | 'user' | undefined },
): Promise<ListResult> {
  const configured = discoverOptionsFrom(runtime, settings)
  const options = precedence ? { ...configured, precedence } : configured
  const { skills, conflicts, shadowed, broken, diagnostics } = discoverSkills(options)
  const invalid = await invalidSkills(skills, runtime)
  const workspace = findWorkspace(runtime.cwd, runtime)
  const trustOf = lockedTrust(runtime, { ...options, workspace })
  let heldBack = 0
  const asLocked = (info: SkillInfo): SkillInfo => {
    if (!trustOf || info.trustLevel !== 'trusted') return info
    const { level, code, reason, hint } = trustOf(info)
    if (level === 'trusted') return info
    heldBack++
    const message = `the skill is not trusted: ${reason}`
    const held = { code, severity: 'warning' as const, message, path: info.path, hint }
    return { ...info, trustLevel: level, diagnostics: [...info.diagnostics, held] }
  }
  const shown = (info: SkillInfo) => listed(asLocked(info))
  const winners = new Map(
    skills.flatMap(({ path, shadows }) => shadows.map((shadow) => [shadow, path] as const)),
  )
  const hidden = shadowed.map((info) => ({
    ...shown(info),
    shadowedBy: winners.get(info.path),
    standing: 'shadowed' as const,
    source: info.source,
  }))
  return {
    skills: [
      ...skills.map((info) => ({ ...shown(info), invalid: invalid.get(info.path) })),
      ...conflicts.map((info) => ({ ...shown(info), standing: 'conflict' as const })),
      ...(all ? hidden : []),
    ],
    diagnostics,
    broken,
    shadowed: shadowed.length,
    heldBack,
  }
}

function listed(info: SkillInfo) {
  const { name, description, path, scope, trustLevel: trust, tokens, diagnostics } = info
  const shadows = info.shadows.length > 0 ? info.shadows : undefined
  const clients = clientsReading(info.source)
  return { name, description, path, scope, trust, tokens, clients, shadows, diagnostics }
}

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

/** The table with its head. A narrow terminal loses the description first, then the scope. */
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

/** Skills, conflicts, with `--all` the shadowed ones, then broken ones. */
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
