import { defineCommand, option } from '#core/command'
import { codeOfErrors, type Diagnostic, exitCode, hasErrors } from '#core/errors'
import { safeText } from '#core/text'
import { discoverOptionsFrom } from '#library/discover'
import { findSkill } from '#library/find-skill'
import { type ExportChange, planExport, writeChange } from '#project/trigger-export'

interface Result {
  skill: string
  changed: readonly Pick<ExportChange, 'path' | 'action' | 'diff'>[]
  written: boolean
  /** With `--check`: whether an export would change anything. */
  outdated?: boolean | undefined
  diagnostics: readonly Diagnostic[]
}

export const command = defineCommand<Result>()({
  arguments: { '<skill>': 'name or path' },
  options: {
    remove: option.flag('--remove', 'remove the script and the lines in the body'),
    force: option.flag(
      '--force',
      'replace or remove a script that skillrail did not write or that was changed',
    ),
    dryRun: option.flag('--dry-run', 'show the changes and write nothing'),
    check: option.flag(
      '--check',
      'write nothing, and exit with 1 if an export would change a file',
    ),
  },
  examples: ['triggers export skills/deploy --dry-run', 'triggers export deploy --check'],
  async run({ runtime, settings }, { arguments: [reference = ''], check, ...options }) {
    const { remove, force, dryRun } = options
    const info = findSkill(reference, discoverOptionsFrom(runtime, settings))
    const { name, directory, path, fields } = info
    // Triggers of an overlay are not part of the skill.
    const triggers = fields.triggers.filter(({ base }) => base === undefined)
    const skill = { name, directory, path, triggers }
    const { changes, diagnostics } = planExport(skill, { remove, force: force || check })
    const written = !dryRun && !check && !hasErrors(diagnostics)
    if (written) for (const change of changes) writeChange(change, runtime)
    const changed = changes.map(({ path: file, action, diff }) => ({ path: file, action, diff }))
    const outdated = check ? changes.length > 0 : undefined
    return { skill: name, changed, written, outdated, diagnostics }
  },
  exitCode: (result) => (result.outdated === true ? exitCode.failed : codeOfErrors(result)),
  render: ({ changed, written, outdated, diagnostics }) => {
    if (outdated === undefined && !written && hasErrors(diagnostics)) return ''
    return changed
      .map(({ path, action, diff }) => {
        if (outdated === true) return `outdated ${path}\n`
        return `${written ? `${action} ${path}` : safeText(diff)}\n`
      })
      .join('')
  },
  notes: ({ changed, diagnostics, outdated }) => [
    changed.length === 0 &&
      (outdated === false ? 'The export is up to date.' : 'Nothing to change.'),
    outdated === undefined && hasErrors(diagnostics) && 'Nothing was written.',
    ...diagnostics,
  ],
})
