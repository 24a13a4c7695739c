import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path'
import { type Context, defineCommand, option, type Screen } from '#core/command'
import { compareText, type Diagnostic, exitCode } from '#core/errors'
import { isDirectory } from '#core/read-files'
import { packageVersion } from '#core/runtime'
import { sarifLog } from '#core/sarif'
import { amount, bytes, count, linesText, safeLine } from '#core/text'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import { findSkill, isPath } from '#library/find-skill'
import { SkillNotFoundError } from '#skill/errors'
import { auditSkill } from '#audit/audit-skill'
import type { AuditFinding, SkillAudit } from '#audit/findings'
import { findSkillFolders } from '#audit/read-tree'
import { auditRules } from '#audit/rules'
import { InstalledNames } from '#audit/check-names'

interface AuditResult {
  skills: readonly AuditedSkill[]
  diagnostics: readonly Diagnostic[]
  summary: { audited: number; errors: number; warnings: number; facts: number }
  /** The working directory; paths are printed relative to it. */
  directory: string
  failOn: 'error' | 'warning'
}

interface AuditedSkill extends Pick<SkillAudit, 'files' | 'analysedBytes' | 'findings'> {
  path: string
  name: string | null
}

export const command = defineCommand<AuditResult>()({
  arguments: { '[skill...]': 'names, skills, or folders with skills (default: all installed)' },
  options: {
    format: option.choice('--format <name>', 'text, json, or sarif for code scanning', {
      choices: ['text', 'json', 'sarif'],
    }),
    failOn: option.choice(
      '--fail-on <severity>',
      'lowest severity that exits with code 1: error, warning',
      { choices: ['error', 'warning'], default: 'error' },
    ),
  },
  details: 'Nothing is executed, no link is followed, and facts are not a verdict.',
  examples: [
    'audit skills/deploy',
    'audit --format sarif --fail-on warning .agents/skills > audit.sarif',
  ],
  async run(context, { arguments: references, failOn }) {
    const { directories, others, diagnostics } = auditTargets(context, references)
    const skills: AuditedSkill[] = []
    const installed = new InstalledNames(others)
    for (const [real, directory] of directories) {
      // An interrupted audit prints nothing.
      if (context.signal.aborted) return undefined
      const audit = auditSkill(directory, installed, real)
      const { name = null, files, analysedBytes, findings } = audit
      skills.push({ path: directory, name, files, analysedBytes, findings })
      // Lets a signal arrive: the work itself is synchronous.
      if (skills.length % 50 === 0) await new Promise((done) => setImmediate(done))
    }
    const summary = summaryOf(skills)
    return { skills, diagnostics, summary, directory: context.runtime.cwd, failOn }
  },
  exitCode({ summary: { errors, warnings }, diagnostics, failOn }) {
    const bad = failOn === 'error' ? errors : errors + warnings + diagnostics.length
    return bad === 0 ? exitCode.done : exitCode.failed
  },
  render({ skills, summary: { audited, errors, warnings, facts }, directory }, screen) {
    const found = `${amount(errors, 'error')}, ${amount(warnings, 'warning')}, ${amount(facts, 'fact')}`
    const lines = skills.flatMap((skill) => [...skillLines(skill, directory, screen), ''])
    return linesText([...lines, `${amount(audited, 'skill')} audited: ${found}`])
  },
  notes: ({ diagnostics }) => diagnostics,
  formats: {
    sarif({ skills, diagnostics, directory }) {
      const tool = { name: 'Skillrail', version: packageVersion(), rules: auditRules }
      const found = [...diagnostics, ...skills.flatMap(({ findings }) => findings)]
      return `${JSON.stringify(sarifLog(tool, found, directory), null, 2)}\n`
    },
  },
})

function summaryOf(skills: readonly AuditedSkill[]): AuditResult['summary'] {
  const all = skills.flatMap(({ findings }) => findings)
  const { error = [], warning = [], info = [] } = Object.groupBy(all, (one) => one.severity)
  const [errors, warnings, facts] = [error.length, warning.length, info.length]
  return { audited: skills.length, errors, warnings, facts }
}

/**
 * Returns the named skills, or all installed skills, including shadowed, conflicting and broken
 * ones. A folder stands for every skill below it. `directories` maps a real path to the path to
 * print.
 * @throws {SkillNotFoundError} if a name or path leads to no skill.
 */
function auditTargets(
  { runtime, settings }: Pick<Context, 'runtime' | 'settings'>,
  references: readonly string[],
) {
  const options = discoverOptionsFrom(runtime, settings)
  const discovery = discoverSkills(options)
  const installed = [...discovery.skills, ...discovery.shadowed, ...discovery.conflicts]
  const others = installed.map(({ name, realDirectory }) => ({ name, directory: realDirectory }))
  const diagnostics: Diagnostic[] = []
  const named = references.flatMap((reference) => {
    const path = resolve(runtime.cwd, reference)
    if (!isPath(reference) && !isDirectory(path)) {
      return [findSkill(reference, { ...options, discovery }).directory]
    }
    if (/^skill\.md$/i.test(basename(path)) && existsSync(path) && !isDirectory(path)) {
      return [dirname(path)]
    }
    // Follows a link that a user named, but no link below it.
    const found = isDirectory(path) ? findSkillFolders(path) : undefined
    if (!found || found.directories.length === 0) {
      const message = `There is no skill at ${reference}, nor in a folder below it.`
      const hint = 'Give a name, or a folder with skills.'
      throw new SkillNotFoundError({ code: 'skill-not-found', message, hint })
    }
    diagnostics.push(...found.diagnostics)
    return found.directories
  })
  const all = [...installed, ...discovery.broken].map(({ path }) => dirname(path))
  const directories = references.length === 0 ? all : named
  const byReal = new Map(directories.map((path) => [realpathSync.native(path), path]))
  return { directories: byReal, others, diagnostics }
}

function skillLines(skill: AuditedSkill, directory: string, screen: Screen): string[] {
  const problems = skill.findings.filter(({ severity }) => severity !== 'info')
  const facts = skill.findings.filter(({ severity }) => severity === 'info')
  const size = `${amount(skill.files, 'file')}, ${bytes(skill.analysedBytes)} of text`
  const head = `${safeLine(skill.name ?? '?')}  ${shownPath(skill.path, directory)}  (${size})`
  return [
    screen.style('bold', head),
    ...problems.map((finding) => problemLine(finding, screen)),
    ...(screen.quiet ? [] : factLines(facts, screen.verbose)),
  ]
}

function shownPath(path: string, cwd: string): string {
  const below = relative(cwd, path)
  const isOutside = below.startsWith('..') || isAbsolute(below)
  return safeLine(isOutside ? path : below === '' ? '.' : below)
}

function problemLine(finding: AuditFinding, { style }: Screen): string {
  const { severity, message, code } = finding
  const shown = style(severity === 'error' ? 'red' : 'yellow', severity)
  return `  ${placeText(finding)}: ${shown}: ${safeLine(message)} ${style('dim', `[${code}]`)}`
}

function placeText({ file, line }: AuditFinding): string {
  const path = file === '' ? '.' : safeLine(file)
  return line === undefined ? path : `${path}:${line}`
}

function factLines(facts: readonly AuditFinding[], verbose: boolean): string[] {
  const byCode = Map.groupBy(facts, ({ code }) => code)
  const ordered = [...byCode].toSorted(([a], [b]) => compareText(a, b))
  return ordered.flatMap(([code, found]) => {
    const label = `  ${code.padEnd(20)} `
    if (verbose) {
      return found.map((fact) => `${label}${placeText(fact)}: ${safeLine(fact.message)}`)
    }
    const subjects = [...new Set(found.flatMap(({ subject }) => subject ?? []))].map(safeLine)
    const places = [...new Set(found.map(placeText))]
    return [`${label}${[shortened(subjects), shortened(places)].filter(Boolean).join('  ')}`]
  })
}

const shortList = 6

function shortened(words: readonly string[]): string {
  const more = words.length - shortList
  const shown = words.slice(0, shortList).join(', ')
  return more > 0 ? `${shown} and ${count(more)} more` : shown
}
