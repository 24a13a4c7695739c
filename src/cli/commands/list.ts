import { exitCode, hasErrors } from '../../base/index.ts'
import { discoverOptionsFrom } from '../../library/index.ts'
import { amount } from '../../base/text.ts'
import { listAnswer } from '../_list-answer.ts'
import { listRows } from '../_list-rows.ts'
import { type ListedSkills, listedSkills } from '../_listed-skills.ts'
import { precedenceOption } from '../_precedence-option.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  all?: boolean | undefined
  precedence?: string | undefined
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
    if (context.options.json) context.output.json(listAnswer(discovery, options.all === true))
    else print(context, discovery, options.all === true)
    return exitCode.done
  },
})

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
