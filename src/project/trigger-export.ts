import { readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Diagnostic, SkillrailError } from '#core/errors'
import { writeLimit } from '#core/project-state'
import { isInside, readRegularFile, realPathOf } from '#core/read-files'
import type { Runtime } from '#core/runtime'
import { unifiedDiff } from '#core/unified-diff'
import { requireWithin, writeFileAtomicSync } from '#core/write-files'
import { splitFrontmatter } from '#skill/frontmatter'
import { checkTriggers } from '#trigger/check'
import {
  exportTriggers,
  scriptOrigin,
  scriptPaths,
  scriptText,
  withoutExport,
} from '#trigger/export-triggers'
import type { TriggerSkill } from '#trigger/match'
import { readText } from './skills.ts'

export interface ExportPlan {
  changes: readonly ExportChange[]
  diagnostics: readonly Diagnostic[]
}

export interface ExportChange {
  path: string
  action: 'removed' | 'wrote'
  /** Undefined to remove the file. */
  text: string | undefined
  mode: number | undefined
  diff: string
}

/** Plans the changes of an export: the script and the body of the `SKILL.md`. Writes nothing. */
export function planExport(
  skill: TriggerSkill,
  { remove, force }: { remove: boolean; force: boolean },
): ExportPlan {
  const before = readText(skill.path)
  const scripts = scriptPaths.map((script) => {
    const file = scriptFile(skill.directory, script)
    return { file, present: presentScript(file, force) }
  })
  const { text, diagnostics } = remove
    ? { text: withoutExport(before), diagnostics: [] }
    : exportTriggers({ ...skill, text: before })
  const changes = [
    ...scripts.flatMap(({ file, present }) =>
      change(file, present, remove ? undefined : scriptText(), 0o755),
    ),
    ...change(skill.path, before, text),
  ]
  return {
    changes,
    diagnostics: [...diagnostics, ...(remove ? [] : bodyRisks(skill, before, text))],
  }
}

function presentScript(script: string, force: boolean): string | undefined {
  const reading = readRegularFile(script, { maxBytes: 1024 * 1024, followSymlinks: false })
  if (!reading.ok && reading.code !== 'file-missing')
    throw new SkillrailError({ code: reading.code, message: `${reading.message}.` })
  const present = reading.ok ? reading.text : undefined
  if (present !== undefined && scriptOrigin(present) === 'foreign' && !force) {
    const message = `${script} was not written by skillrail, or was changed since; it is left alone.`
    const hint = 'Look at it, then use --force.'
    throw new SkillrailError({ code: 'foreign-script', message, hint })
  }
  return present
}

export function writeChange({ path, text, mode }: ExportChange, runtime: Runtime): void {
  const within = writeLimit(path, runtime)
  if (text !== undefined) return writeFileAtomicSync(path, text, { mode, within })
  if (within !== undefined) requireWithin(within, path)
  rmSync(path)
  const directory = dirname(path)
  if (readdirSync(directory).length === 0) rmdirSync(directory)
}

function change(
  path: string,
  before: string | undefined,
  text: string | undefined,
  mode?: number,
): ExportChange[] {
  if (before === text) return []
  const diff = unifiedDiff(path, before ?? '', text ?? '')
  return [{ path, action: text === undefined ? 'removed' : 'wrote', text, mode, diff }]
}

/** The routing table is part of the body: a pattern that matches the table would make the skill invalid. */
function bodyRisks(skill: TriggerSkill, before: string, after: string): Diagnostic[] {
  const earlier = new Set(risksIn(skill, before).map(({ line }) => line))
  return risksIn(skill, after).map((risk) =>
    earlier.has(risk.line) ? { ...risk, severity: 'warning' } : risk,
  )
}

function risksIn(skill: TriggerSkill, text: string): Diagnostic[] {
  const split = splitFrontmatter(text)
  const { diagnostics } = checkTriggers({ ...skill, text, body: split.found ? split.body : '' })
  return diagnostics.filter(({ code }) => code === 'trigger-matches-body')
}

function scriptFile(directory: string, script: string): string {
  const path = join(directory, script)
  const folder = dirname(path)
  const parent = realPathOf(folder) ?? folder
  if (isInside(realpathSync(directory), parent) || parent === folder) return path
  const message = `${folder} leads out of the skill, to ${parent}.`
  const hint = 'Make it a directory of the skill.'
  throw new SkillrailError({ code: 'path-escapes', message, hint })
}
