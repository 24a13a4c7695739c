import { join, resolve } from 'node:path'
import { type Diagnostic, errorsIn, hasErrors } from '#core/errors'
import { writeLimit } from '#core/project-state'
import type { Runtime } from '#core/runtime'
import { unifiedDiff } from '#core/unified-diff'
import { writeFileAtomicSync } from '#core/write-files'
import { splitFrontmatter } from '#skill/frontmatter'
import { parseSkill } from '#skill/parse'
import { type TriggerCheck, type TriggerFix, checkTriggers, fixTriggers } from '#trigger/check'
import { exportProblems } from '#trigger/export-triggers'
import type { TriggerSkill } from '#trigger/match'
import { filesFor, filesOf } from '#trigger/project-files'
import { type CaseVerdict, judgeCase, measure, type Measurement } from '#trigger/prompt-cases'
import { serversFor } from './known-servers.ts'
import { neverSent, SkillNames } from './never-sent.ts'
import {
  aboutTriggers,
  type InstalledSkill,
  readPromptFile,
  readText,
  type Settled,
  skillsFor,
} from './skills.ts'

export interface TriggersCheck {
  skills: readonly CheckedFile[]
  prompts?: readonly CaseVerdict[] | undefined
  measured?: Measurement | undefined
  diagnostics: readonly Diagnostic[]
  summary: { checked: number; risks: number; errors: number; warnings: number }
  directory: string
}

export type CheckedFile = TriggerCheck & {
  changes?: TriggerFix['changes'] | undefined
  diff?: string | undefined
}

interface CheckOptions {
  /** Names or paths; empty: every installed skill that has triggers. */
  references: readonly string[]
  /** Whether patterns are written in the portable subset; with `dryRun`, the changes are only shown. */
  fix: boolean
  dryRun: boolean
  /** A file that says what each prompt must inject. */
  prompts: string | undefined
}

/** Checks the triggers of skills and of their overlays, and what prompts inject. */
export function checkSkillTriggers(
  context: Settled,
  { references, fix, dryRun, prompts: file }: CheckOptions,
): TriggersCheck {
  const isChecked = ({ path, triggers, diagnostics }: InstalledSkill) =>
    references.length + triggers.length > 0 || hasErrors(aboutTriggers(path, diagnostics))
  const { runtime } = context
  const installed = skillsFor(context, [])
  const names = new SkillNames(() => installed.skills.map(({ name }) => name))
  const checked = skillsFor(context, references)
    .skills.filter(isChecked)
    .map((skill) => checkOne(skill, { fix: fix || dryRun, dryRun, names, runtime }))
  const directory = runtime.cwd
  const { cases, diagnostics: wrongCases = [] } =
    file === undefined ? {} : readPromptFile(resolve(directory, file), file)
  const diagnostics = [...wrongCases]
  const triggerSkills = checked.map(({ skill }) => skill)
  const prompts = cases?.map((one) => judgeCase(one, triggerSkills))
  const paths = new Set(checked.map(({ skill }) => skill.path))
  const overlays = installed.skills
    .filter(({ path }) => references.length === 0 || paths.has(path))
    .flatMap((skill) => checkOverlays(skill, names, runtime))
  const unused = installed.diagnostics.filter(({ code }) => code === 'overlay-unused')
  diagnostics.push(...unused)
  const skills = [...checked.map((one) => one.file), ...overlays]
  const reported = allDiagnostics({ skills, diagnostics })
  const errors = errorsIn(reported).length
  const warnings = reported.filter(({ severity }) => severity === 'warning').length
  const triggers = skills.flatMap((skill) => skill.triggers)
  const risks = triggers.filter(({ risk }) => risk !== undefined).length
  const summary = { checked: triggers.length, risks, errors, warnings }
  const measured = prompts && measure(prompts)
  return { skills, prompts, measured, diagnostics, summary, directory }
}

export function allDiagnostics(
  result: Pick<TriggersCheck, 'skills' | 'diagnostics'>,
): Diagnostic[] {
  return [...result.skills.flatMap((skill) => skill.diagnostics), ...result.diagnostics]
}

function checkOne(
  { name, path, directory, triggers: installed }: InstalledSkill,
  options: { fix: boolean; dryRun: boolean; names: SkillNames; runtime: Runtime },
): { skill: TriggerSkill; file: CheckedFile } {
  const before = readText(path)
  const { text, changes } = options.fix ? fixTriggers(before, path) : { text: before, changes: [] }
  const { skill: document, diagnostics } = parseSkill(text, { path })
  if (changes.length > 0 && !options.dryRun) {
    writeFileAtomicSync(path, text, { within: writeLimit(path, options.runtime) })
  }
  const split = splitFrontmatter(text)
  const triggers = document?.fields.triggers ?? []
  const skill = { name, path, directory, triggers, text, body: split.found ? split.body : '' }
  const check = checkTriggers(skill, {
    files: filesFor(skill, options.runtime),
    servers: serversFor(triggers, options.runtime),
  })
  const wrong = hasErrors(diagnostics) ? aboutTriggers(path, diagnostics) : []
  const unusable = wrong.map(({ line = 0, message }) => {
    const match = text.split(/\r?\n/)[line - 1]?.trim() ?? ''
    return { match, inject: '(none)', line, problems: [message] }
  })
  const all = [...check.triggers, ...unusable]
  const file = {
    ...check,
    triggers: all.toSorted((a, b) => a.line - b.line),
    diagnostics: [
      ...aboutTriggers(path, diagnostics),
      ...check.diagnostics,
      ...neverSent(skill, options.names, options.runtime),
      ...exportProblems(skill),
    ],
    changes: options.fix ? changes : undefined,
    diff: options.dryRun ? unifiedDiff(path, before, text) : undefined,
  }
  // A hook tests the triggers of overlays too.
  const added = installed.filter(({ base }) => base !== undefined)
  return { skill: { ...skill, triggers: [...triggers, ...added] }, file }
}

/** The triggers that overlays add to a skill, one check for each file. */
function checkOverlays(
  { name, path: skillPath, triggers }: InstalledSkill,
  names: SkillNames,
  runtime: Runtime,
): CheckedFile[] {
  const added = triggers.filter(({ base }) => base !== undefined)
  return [...Map.groupBy(added, ({ base = '' }) => base)].map(([directory, own]) => {
    const path = join(directory, 'triggers.yaml')
    const split = splitFrontmatter(readText(skillPath))
    const body = split.found ? split.body : ''
    const overlay = { name, path, directory, triggers: own, text: readText(path), body }
    // The user's own overlay holds for this project as well.
    const check = checkTriggers(overlay, {
      files: filesOf(overlay.triggers, runtime),
      servers: serversFor(overlay.triggers, runtime),
    })
    const about = check.diagnostics.filter(({ code }) => !rulesOfSkills.has(code))
    return { ...check, diagnostics: [...about, ...neverSent(overlay, names, runtime)] }
  })
}

/** An overlay is neither a skill that could be loaded whole, nor read by portable scripts. */
const rulesOfSkills: ReadonlySet<string> = new Set(['trigger-format', 'trigger-small-skill'])
