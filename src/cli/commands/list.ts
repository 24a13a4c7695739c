import { type Diagnostic, exitCode, hasErrors } from '../../base/index.ts'
import { type Discovery, discoverOptionsFrom, type SkillSummary } from '../../library/index.ts'
import { amount } from '../_cells.ts'
import { listRows } from '../_list-rows.ts'
import { type ListedSkills, listedSkills } from '../_listed-skills.ts'
import { precedenceOption } from '../_precedence-option.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  all?: boolean | undefined
  precedence?: string | undefined
}

/** One skill in the answer of `list --json`. */
interface ListedSkill {
  name: string
  description: string
  path: string
  scope: SkillSummary['scope']
  trust: SkillSummary['trustLevel']
  tokens: SkillSummary['tokens']
  shadows?: readonly string[] | undefined
  /** Only with `--all`: the skill that is used instead. */
  shadowedBy?: string | undefined
  diagnostics: readonly Diagnostic[]
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .option('--all', 'also skills that another one of the same name hides')
      .option('--precedence <scope>', 'project or user: whose skill wins')
      .addHelpText('after', '\nExample:\n  $ skillrail list --all\n')
  },
  async run(context, _positionals, options) {
    const discovery = listedSkills({
      ...discoverOptionsFrom(context.runtime, context.settings),
      ...precedenceOption(options.precedence),
    })
    if (context.options.json) context.output.json(report(discovery, options.all === true))
    else print(context, discovery, options.all === true)
    return exitCode.done
  },
})

function report(discovery: Discovery<SkillSummary>, all: boolean): object {
  const { skills, conflicts, shadowed, diagnostics } = discovery
  const winners = winnersOf(skills)
  return {
    skills: [
      ...skills.map((info) => listed(info)),
      ...conflicts.map((info) => listed(info)),
      ...(all
        ? shadowed.map((info) => ({ ...listed(info), shadowedBy: winners.get(info.path) }))
        : []),
    ],
    diagnostics,
  }
}

function listed(info: SkillSummary): ListedSkill {
  const { name, description, path, scope, trustLevel, tokens, shadows, diagnostics } = info
  return {
    name,
    description,
    path,
    scope,
    trust: trustLevel,
    tokens,
    shadows: shadows.length > 0 ? shadows : undefined,
    diagnostics,
  }
}

/** Path of a shadowed skill → path of the one that is used. */
function winnersOf(skills: readonly SkillSummary[]): Map<string, string> {
  return new Map(skills.flatMap(({ path, shadows }) => shadows.map((shadow) => [shadow, path])))
}

function print(context: CommandContext, discovery: ListedSkills, all: boolean): void {
  const { output } = context
  const rows = listRows(discovery, { all, width: output.width, style: output.style })
  if (rows.length > 1) output.table(rows)
  else output.note('There are no skills here. `skillrail new NAME` makes one.')
  const ofSkills = [...discovery.skills, ...discovery.conflicts].flatMap((info) => info.diagnostics)
  const found = [...discovery.diagnostics, ...ofSkills]
  const warnings = found.filter(({ severity }) => severity === 'warning').length
  const shown = found.filter(
    ({ severity }) => severity === 'error' || (severity === 'warning' && context.options.verbose),
  )
  if (shown.length > 0) output.note('')
  output.diagnostics(shown)
  if (rows.length > 1) output.note(`\n${summary(discovery, all, context, warnings)}`)
}

function summary(
  discovery: ListedSkills,
  all: boolean,
  context: CommandContext,
  warnings: number,
): string {
  const { skills, shadowed, conflicts, broken, heldBack } = discovery
  const unusable = broken.length + conflicts.length
  const failing = skills.filter((info) => hasErrors(info.diagnostics)).length
  return [
    amount(skills.length, 'skill'),
    ...(unusable > 0 ? [`${unusable} that cannot be used`] : []),
    ...(failing > 0 ? [`${failing} with errors`] : []),
    ...(heldBack > 0 ? [`${heldBack} not as locked or accepted (skillrail trust shows it)`] : []),
    ...(shadowed.length > 0
      ? [`${shadowed.length} shadowed${all ? '' : ' (--all shows them)'}`]
      : []),
    ...(warnings > 0 && !context.options.verbose
      ? [`${amount(warnings, 'warning')} (--verbose shows them)`]
      : []),
  ].join(', ')
}
