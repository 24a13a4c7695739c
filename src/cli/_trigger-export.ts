import { readdirSync, realpathSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type Diagnostic,
  isInside,
  readRegularFile,
  SkillrailError,
  writeFileAtomicSync,
} from '../base/index.ts'
import {
  checkTriggers,
  exportTriggers,
  scriptOrigin,
  scriptPath,
  scriptText,
  withoutExport,
} from '../trigger/index.ts'
import { splitFrontmatter } from '../skill/index.ts'
import { readSkillText } from './_checked-skills.ts'
import type { InstalledSkill } from './_trigger-skills.ts'
import { unifiedDiff } from '../base/unified-diff.ts'

export interface ExportPlan {
  changes: readonly ExportChange[]
  diagnostics: readonly Diagnostic[]
}

export interface ExportChange {
  path: string
  action: 'wrote' | 'removed'
  /** Undefined: the file goes away. */
  text: string | undefined
  mode: number
  diff: string
}

/**
 * What an export changes: the script and the body of the `SKILL.md`. Nothing is written.
 *
 * @throws SkillrailError for a script that is not ours, unless forced.
 */
export function exportPlan(
  skill: InstalledSkill,
  options: { remove: boolean; force: boolean },
): ExportPlan {
  const before = readSkillText(skill.path)
  const script = scriptFile(skill.directory)
  const present = presentScript(script)
  if (present !== undefined && scriptOrigin(present) === 'foreign' && !options.force) {
    throw foreignScript(script)
  }
  const { text, diagnostics } = options.remove
    ? { text: withoutExport(before), diagnostics: [] }
    : exportTriggers({ ...skill, text: before })
  const wanted = options.remove ? undefined : scriptText()
  const changes = [
    change(script, present, wanted, 0o755),
    change(skill.path, before, text, statSync(skill.path).mode & 0o777),
  ]
  return {
    changes: changes.filter((one) => one !== undefined),
    diagnostics: [...diagnostics, ...(options.remove ? [] : bodyRisks(skill, text))],
  }
}

export function writeExport({ changes }: ExportPlan): void {
  for (const { path, text, mode } of changes) {
    if (text !== undefined) {
      writeFileAtomicSync(realOf(path), text, { mode })
      continue
    }
    rmSync(path)
    const directory = dirname(path)
    if (readdirSync(directory).length === 0) rmdirSync(directory)
  }
}

function change(
  path: string,
  before: string | undefined,
  after: string | undefined,
  mode: number,
): ExportChange | undefined {
  if (before === after) return undefined
  const diff = unifiedDiff(path, before ?? '', after ?? '')
  return { path, action: after === undefined ? 'removed' : 'wrote', text: after, mode, diff }
}

/** The routing table is part of the body: a pattern that matches it is said so at once. */
function bodyRisks(skill: InstalledSkill, text: string): Diagnostic[] {
  const split = splitFrontmatter(text)
  const { diagnostics } = checkTriggers({ ...skill, text, body: split.found ? split.body : '' })
  return diagnostics
    .filter(({ code }) => code === 'trigger-matches-body')
    .map((risk) => ({ ...risk, severity: 'warning' }))
}

/** @throws SkillrailError when `scripts` leads out of the skill. */
function scriptFile(directory: string): string {
  const path = join(directory, scriptPath)
  const parent = realOf(dirname(path))
  if (isInside(realpathSync(directory), parent) || parent === dirname(path)) return path
  throw new SkillrailError({
    code: 'path-escapes',
    message: `${dirname(path)} leads out of the skill, to ${parent}.`,
    hint: 'Make it a directory of the skill.',
  })
}

function presentScript(path: string): string | undefined {
  const reading = readRegularFile(path, { maxBytes: 1024 * 1024, followSymlinks: false })
  if (reading.ok) return reading.text
  if (reading.code === 'file-missing') return undefined
  throw new SkillrailError({ code: reading.code, message: `${reading.message}.` })
}

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

function foreignScript(path: string): SkillrailError {
  return new SkillrailError({
    code: 'foreign-script',
    message: `${path} was not written by skillrail, or was changed since; it is left alone.`,
    hint: 'Look at it, then use --force.',
  })
}
