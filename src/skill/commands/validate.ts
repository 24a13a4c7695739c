import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { defineCommand, option, type Screen } from '#core/command'
import {
  type Diagnostic,
  diagnosticText,
  hasErrors,
  summaryLine,
  summaryOf,
  type ValidationSummary,
  exitCode,
} from '#core/errors'
import type { Runtime } from '#core/runtime'
import { sarifText } from '#core/sarif'
import { amount, linesText, safeLine, safeText, withoutGithubCommands } from '#core/text'
import { triggerRules } from '#trigger/check'
import { validationRules } from '#skill/rules'
import { isPluginManifest } from '#library/plugins'
import {
  shownPath,
  type SkillVerdict,
  validate,
  validationTargets,
  verdictOn,
  withPlan,
} from './verdicts.ts'

interface ValidateResult {
  skills: readonly SkillVerdict[]
  summary: ValidationSummary & {
    /** How many of those checked are plugins, where any is. */
    plugins?: number
  }
  directory: string
  /** `--fix` was given, and no problem can be fixed automatically. */
  nothingToFix?: boolean
}

export const command = defineCommand<ValidateResult>()({
  arguments: {
    '[path...]': 'skills, SKILL.md files, plugins, or folders with skills (default: here)',
  },
  options: {
    profile: option.choice(
      '--profile <name>',
      'spec: the written specification; reference: skills-ref',
      { choices: ['spec', 'reference'], default: 'spec' },
    ),
    format: option.choice(
      '--format <name>',
      'text, json, sarif, or github for annotations of a run',
      { choices: ['text', 'json', 'github', 'sarif'] },
    ),
    fix: option.flag(
      '--fix',
      'fix safe problems: byte order mark, CRLF, quoting, blanks, allowed-tools',
    ),
    dryRun: option.flag('--dry-run', 'with --fix, show the changes and write nothing'),
  },
  examples: ['validate skills/pdf-processing', 'validate --fix --dry-run .agents/skills'],
  async run({ runtime, signal }, { arguments: paths, profile, fix, dryRun }) {
    const skills: SkillVerdict[] = []
    const validator =
      profile === 'reference'
        ? (await import('#skill/reference/validate-reference')).validateReference
        : validate
    const fixing = dryRun ? 'show' : fix ? 'write' : undefined
    skills.push(...(await pluginVerdicts(runtime, paths)))
    for (const target of validationTargets(runtime.cwd, paths, skills.length > 0)) {
      if (signal.aborted) return undefined
      const verdict = verdictOn(target, { validate: validator, fix: fixing, runtime })
      const isChain = profile === 'spec' && verdict.isChain === true
      skills.push(isChain ? await withPlan(verdict, target.file, runtime.cwd) : verdict)
      // Lets a signal in: the work itself is synchronous.
      if (skills.length % 500 === 0) await new Promise((done) => setImmediate(done))
    }
    const isUnfixed =
      fixing !== undefined && skills.every(({ changes = [] }) => changes.length === 0)
    const fixes = isUnfixed ? { nothingToFix: true } : {}
    const plugins = skills.filter(({ isPlugin }) => isPlugin === true).length
    const { checked, ...counts } = summaryOf(skills)
    const summary = { checked, ...(plugins === 0 ? {} : { plugins }), ...counts }
    return { skills, summary, directory: runtime.cwd, ...fixes }
  },
  exitCode: ({ summary }) => (summary.invalid === 0 ? exitCode.done : exitCode.failed),
  render: ({ skills, summary, nothingToFix = false }, screen) =>
    linesText([
      ...skills.flatMap((verdict) => verdictLines(verdict, screen)),
      nothingToFix && 'Nothing can be fixed automatically.',
      summaryLine(subjectOf(summary), summary, screen.style),
    ]),
  commandFormat: 'github',
  formats: {
    github: ({ skills }) =>
      skills.flatMap(({ diagnostics }) => diagnostics.map(annotation)).join(''),
    sarif({ skills, directory }) {
      const found = skills.flatMap(({ diagnostics }) => diagnostics)
      return sarifText([...validationRules, ...triggerRules], found, directory)
    },
  },
})

/** Of each path that is a plugin, what is wrong with it besides its skills. */
async function pluginVerdicts(runtime: Runtime, paths: readonly string[]): Promise<SkillVerdict[]> {
  const { cwd } = runtime
  const named = paths.map((path) => (basename(path) === 'plugin.json' ? dirname(path) : path))
  const isPlugin = (path: string) => existsSync(resolve(cwd, path, 'plugin.json'))
  // Other programs have a file of that name, too.
  const isHere =
    paths.length === 0 && isPlugin('.') && isPluginManifest(resolve(cwd, 'plugin.json'))
  const plugins = isHere ? ['.'] : named.filter(isPlugin)
  if (plugins.length === 0) return []
  const { checkPlugin } = await import('#tools/config/read-configuration')
  return plugins.map((path) => {
    const { name, diagnostics } = checkPlugin(resolve(cwd, path), runtime)
    const found = diagnostics.map((one) => ({ ...one, path: shownPath(cwd, one.path) }))
    const file = shownPath(cwd, resolve(cwd, path, 'plugin.json'))
    return { path: file, name, valid: !hasErrors(found), isPlugin: true, diagnostics: found }
  })
}

function subjectOf({ checked, plugins = 0 }: ValidateResult['summary']): string {
  const kinds = plugins > 0 ? `${amount(plugins, 'plugin')} and ` : ''
  return `${kinds}${amount(checked - plugins, 'skill')}`
}

function verdictLines(verdict: SkillVerdict, { quiet, style }: Screen) {
  const { path, diagnostics, changes = [], diff } = verdict
  const shown = diagnostics.filter(({ severity }) => !quiet || severity === 'error')
  const fixes = changes.map(({ line, message }) => {
    const verb = diff === undefined ? 'fixed' : 'would fix'
    return `${safeLine(path)}:${line}: ${style('green', verb)}: ${message}`
  })
  return [
    diff && safeText(diff.replaceAll('\r\n', '^M\n')),
    ...(quiet ? [] : fixes),
    ...shown.map((diagnostic) => diagnosticText(diagnostic, style)),
  ]
}

const annotations = { error: 'error', warning: 'warning', info: 'notice' } as const

function annotation({ severity, path, line, column, code, message, hint }: Diagnostic): string {
  const properties = [
    `file=${property(path)}`,
    ...(line === undefined ? [] : [`line=${line}`]),
    ...(column === undefined ? [] : [`col=${column}`]),
    `title=${property(code)}`,
  ]
  const text = hint === undefined ? message : `${message}\n${hint}`
  return `::${annotations[severity]} ${properties.join(',')}::${data(safeText(text))}\n`
}

function data(text: string): string {
  return withoutGithubCommands(text)
    .replaceAll('%', '%25')
    .replaceAll('\r', '%0D')
    .replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(safeLine(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
