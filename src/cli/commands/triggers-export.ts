import { exitCode, hasErrors, safeText } from '../../base/index.ts'
import { exportPlan, writeExport } from '../_trigger-export.ts'
import { skillsFor } from '../_trigger-skills.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  remove?: boolean | undefined
  force?: boolean | undefined
  dryRun?: boolean | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<skill>', 'name or path')
      .option('--remove', 'take the script and the lines in the body out again')
      .option('--force', 'replace or remove a script that is not ours or was changed')
      .option('--dry-run', 'show the changes and write nothing')
      .addHelpText('after', '\nExample:\n  $ skillrail triggers export skills/deploy --dry-run\n')
  },
  async run(context, references, options) {
    const [skill] = skillsFor(context, references).skills
    if (skill === undefined) return exitCode.notFound
    const plan = exportPlan(skill, {
      remove: options.remove === true,
      force: options.force === true,
    })
    const isDry = options.dryRun === true
    if (!isDry && !hasErrors(plan.diagnostics)) writeExport(plan)
    const changed = plan.changes.map(({ path, action }) => ({ path, action }))
    const { output } = context
    if (context.options.json) {
      output.json({ skill: skill.name, changed, written: !isDry, diagnostics: plan.diagnostics })
    } else {
      for (const { path, action, diff } of plan.changes) {
        output.line(isDry ? safeText(diff) : `${action} ${path}`)
      }
      if (plan.changes.length === 0) output.note('Nothing to change.')
      output.diagnostics(plan.diagnostics)
    }
    return hasErrors(plan.diagnostics) ? exitCode.badAnswer : exitCode.done
  },
})
