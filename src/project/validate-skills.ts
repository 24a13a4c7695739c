import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { Context } from '#core/command'
import { hasErrors, summaryOf, type ValidationSummary } from '#core/errors'
import type { Runtime } from '#core/runtime'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import { isPluginManifest } from '#library/plugins'
import { SkillNames } from './never-sent.ts'
import {
  shownPath,
  type SkillVerdict,
  validate,
  validationTargets,
  type VerdictOptions,
  verdictOn,
  withConflicts,
  withPlan,
} from './verdicts.ts'

export interface ValidationRequest {
  /** Skills, SKILL.md files, plugins, or folders with skills; none: the working directory. */
  paths: readonly string[]
  /** `reference`: the rules of skills-ref instead of ours. */
  profile: 'spec' | 'reference'
  fix: VerdictOptions['fix']
}

export interface ValidateResult {
  skills: readonly SkillVerdict[]
  summary: ValidationSummary & {
    /** How many of the checked ones are plugins; absent for none. */
    plugins?: number
  }
  directory: string
  /** `--fix` was given, and no problem can be fixed automatically. */
  nothingToFix?: boolean
}

/** Checks every skill at and below the paths. Undefined if the caller stops it. */
export async function validateSkills(
  { runtime, settings, signal }: Pick<Context, 'runtime' | 'settings' | 'signal'>,
  { paths, profile, fix }: ValidationRequest,
): Promise<ValidateResult | undefined> {
  const verdicts: SkillVerdict[] = []
  const options = discoverOptionsFrom(runtime, settings)
  const validator =
    profile === 'reference'
      ? (await import('#skill/reference/validate-reference')).validateReference
      : validate
  const skillNames = new SkillNames(() => discoverSkills(options).skills.map(({ name }) => name))
  verdicts.push(...(await pluginVerdicts(runtime, paths)))
  for (const target of validationTargets(options, paths, verdicts.length > 0)) {
    if (signal.aborted) return undefined
    const verdict = verdictOn(target, { validate: validator, fix, runtime, skillNames })
    const isChain = profile === 'spec' && verdict.isChain === true
    verdicts.push(isChain ? await withPlan(verdict, target.file, runtime.cwd) : verdict)
    // Lets a signal in: the work itself is synchronous.
    if (verdicts.length % 500 === 0) await new Promise((done) => setImmediate(done))
  }
  const skills = profile === 'spec' ? withConflicts(verdicts, options) : verdicts
  const isUnfixed = fix !== undefined && skills.every(({ changes = [] }) => changes.length === 0)
  const fixes = isUnfixed ? { nothingToFix: true } : {}
  const plugins = skills.filter(({ isPlugin }) => isPlugin === true).length
  const { checked, ...counts } = summaryOf(skills)
  const summary = { checked, ...(plugins === 0 ? {} : { plugins }), ...counts }
  return { skills, summary, directory: runtime.cwd, ...fixes }
}

/** Checks the plugins of the paths, besides their skills. */
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
    const shown = diagnostics.map((one) => ({ ...one, path: shownPath(cwd, one.path) }))
    const file = shownPath(cwd, resolve(cwd, path, 'plugin.json'))
    return { path: file, name, valid: !hasErrors(shown), isPlugin: true, diagnostics: shown }
  })
}
