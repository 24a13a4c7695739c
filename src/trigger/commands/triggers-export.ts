import { readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { writeLimit } from '#core/project-state'
import type { Runtime } from '#core/runtime'
import { dirname, join } from 'node:path'
import { defineCommand, option } from '#core/command'
import { codeOfErrors, type Diagnostic, hasErrors, SkillrailError } from '#core/errors'
import { isInside, readRegularFile, realPathOf } from '#core/read-files'
import { safeText } from '#core/text'
import { unifiedDiff } from '#core/unified-diff'
import { requireWithin, writeFileAtomicSync } from '#core/write-files'
import { discoverOptionsFrom } from '#library/discover'
import { findSkill } from '#library/find-skill'
import { splitFrontmatter } from '#skill/frontmatter'
import { checkTriggers } from '#trigger/check'
import {
  exportTriggers,
  scriptOrigin,
  scriptPath,
  scriptText,
  withoutExport,
} from '#trigger/export-triggers'
import type { TriggerSkill } from '#trigger/match'
import { readText } from './skills.ts'

interface Result {
  skill: string
  changed: readonly Pick<ExportChange, 'path' | 'action' | 'diff'>[]
  written: boolean
  diagnostics: readonly Diagnostic[]
}

type ExportChange = ReturnType<typeof change>[number]

export const command = defineCommand<Result>()({
  arguments: { '<skill>': 'name or path' },
  options: {
    remove: option.flag('--remove', 'remove the script and the lines in the body'),
    force: option.flag(
      '--force',
      'replace or remove a script that skillrail did not write or that was changed',
    ),
    dryRun: option.flag('--dry-run', 'show the changes and write nothing'),
  },
  examples: ['triggers export skills/deploy --dry-run'],
  async run({ runtime, settings }, { arguments: [reference = ''], remove, force, dryRun }) {
    const info = findSkill(reference, discoverOptionsFrom(runtime, settings))
    const { name, directory, path, fields } = info
    const skill = { name, directory, path, triggers: fields.triggers }
    const { changes, diagnostics } = exportPlan(skill, { remove, force })
    if (!dryRun && !hasErrors(diagnostics))
      for (const change of changes) writeChange(change, runtime)
    const changed = changes.map(({ path: file, action, diff }) => ({ path: file, action, diff }))
    return { skill: name, changed, written: !dryRun, diagnostics }
  },
  exitCode: codeOfErrors,
  render: ({ changed, written }) =>
    changed
      .map(({ path, action, diff }) => `${written ? `${action} ${path}` : safeText(diff)}\n`)
      .join(''),
  notes: ({ changed, diagnostics }) => [
    changed.length === 0 && 'Nothing to change.',
    ...diagnostics,
  ],
})

/** What an export changes: the script and the body of the `SKILL.md`. Nothing is written. */
function exportPlan(skill: TriggerSkill, { remove, force }: { remove: boolean; force: boolean }) {
  const before = readText(skill.path)
  const script = scriptFile(skill.directory)
  const reading = readRegularFile(script, { maxBytes: 1024 * 1024, followSymlinks: false })
  if (!reading.ok && reading.code !== 'file-missing')
    throw new SkillrailError({ code: reading.code, message: `${reading.message}.` })
  const present = reading.ok ? reading.text : undefined
  if (present !== undefined && scriptOrigin(present) === 'foreign' && !force) {
    const message = `${script} was not written by skillrail, or was changed since; it is left alone.`
    const hint = 'Look at it, then use --force.'
    throw new SkillrailError({ code: 'foreign-script', message, hint })
  }
  const { text, diagnostics } = remove
    ? { text: withoutExport(before), diagnostics: [] }
    : exportTriggers({ ...skill, text: before })
  const changes = [
    ...change(script, present, remove ? undefined : scriptText(), 0o755),
    ...change(skill.path, before, text),
  ]
  return { changes, diagnostics: [...diagnostics, ...(remove ? [] : bodyRisks(skill, text))] }
}

function writeChange({ path, text, mode }: ExportChange, runtime: Runtime): void {
  const within = writeLimit(path, runtime)
  if (text !== undefined) return writeFileAtomicSync(path, text, { mode, within })
  if (within !== undefined) requireWithin(within, path)
  rmSync(path)
  const directory = dirname(path)
  if (readdirSync(directory).length === 0) rmdirSync(directory)
}

function change(path: string, before: string | undefined, text: string | undefined, mode?: number) {
  if (before === text) return []
  const diff = unifiedDiff(path, before ?? '', text ?? '')
  return [{ path, action: text === undefined ? 'removed' : 'wrote', text, mode, diff }]
}

/** The routing table is part of the body: a pattern that matches it is reported at once. */
function bodyRisks(skill: TriggerSkill, text: string): Diagnostic[] {
  const split = splitFrontmatter(text)
  const { diagnostics } = checkTriggers({ ...skill, text, body: split.found ? split.body : '' })
  return diagnostics
    .filter(({ code }) => code === 'trigger-matches-body')
    .map((risk) => ({ ...risk, severity: 'warning' }))
}

function scriptFile(directory: string): string {
  const path = join(directory, scriptPath)
  const folder = dirname(path)
  const parent = realPathOf(folder) ?? folder
  if (isInside(realpathSync(directory), parent) || parent === folder) return path
  const message = `${folder} leads out of the skill, to ${parent}.`
  const hint = 'Make it a directory of the skill.'
  throw new SkillrailError({ code: 'path-escapes', message, hint })
}
