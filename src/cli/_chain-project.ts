import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { type Diagnostic, isInside } from '../base/index.ts'
import {
  type ChainLookup,
  ChainPlanError,
  createDiskLookup,
  openRunStore,
  parsePolicySetting,
  type Plan,
  type PlanOptions,
  type PlanReading,
  planRun,
  type RunStore,
  trustFact,
} from '../chain/index.ts'
import { discoverOptionsFrom, findSkill, skillAt, type SkillInfo } from '../library/index.ts'
import { SkillLoadError } from '../skill/index.ts'
import {
  findWorkspace,
  readTrustPolicy,
  SkillNotTrustedError,
  type SkillScope,
  type TrustPolicy,
} from '../trust/index.ts'
import type { CommandContext } from './command.ts'

/** The project that a command about chains works in. */
export interface ChainProject {
  /** Real path; scripts run here, and runs are kept below it. */
  workspace: string
  store: RunStore
  policy: TrustPolicy
  context: CommandContext
}

export function openProject(context: CommandContext): ChainProject {
  const workspace = findWorkspace(context.runtime.cwd, context.runtime)
  const { policy, diagnostics } = readTrustPolicy(context.runtime, {
    workspace,
    workspaceTrust: context.settings.workspaceTrust,
    trustedPaths: context.settings.skills.trustedPaths,
  })
  context.output.diagnostics(diagnostics)
  return { workspace, store: openRunStore(workspace), policy, context }
}

/** What changes a plan on the command line. */
export interface PlanChanges {
  set: readonly string[]
  from?: string | undefined
  only?: string | undefined
}

export interface PlannedSkillRun extends PlanReading {
  /** As the journal keeps it, to plan the same again. */
  directory: string
}

/** Finds a skill as a person named it, and plans its run. */
export function planNamed(
  project: ChainProject,
  reference: string,
  changes: PlanChanges,
  instructions?: PlanOptions['instructions'],
): PlannedSkillRun {
  const { runtime, settings } = project.context
  const skill = findSkill(reference, discoverOptionsFrom(runtime, settings))
  return planSkill(project, skill, changes, instructions)
}

/** Plans the skill of a directory that a journal names. */
export function planKept(
  project: ChainProject,
  directory: string,
  changes: PlanChanges,
  instructions?: PlanOptions['instructions'],
): PlannedSkillRun {
  const { runtime, settings } = project.context
  const skill = skillAt(
    resolve(project.workspace, directory),
    discoverOptionsFrom(runtime, settings),
  )
  return planSkill(project, skill, changes, instructions)
}

/**
 * The plan, or the error that says why nothing may run: no trust first (exit code 4), then
 * everything that makes the chain impossible (exit code 3).
 */
export function usablePlan(reading: PlanReading): Plan {
  const { plan, diagnostics } = reading
  const refusal = diagnostics.find((diagnostic) => diagnostic.code === 'skill-not-trusted')
  if (refusal !== undefined) throw notTrusted(refusal)
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error')
  const [first] = errors
  if (first === undefined) return plan
  if (errors.length === 1) {
    const { code, message, hint } = first
    throw new ChainPlanError({ code, message: `${plan.skill} cannot run: ${message}`, hint })
  }
  throw new ChainPlanError({
    code: 'plan-impossible',
    message: `${plan.skill} cannot run; its plan has ${errors.length} errors`,
    diagnostics: errors,
  })
}

function planSkill(
  project: ChainProject,
  skill: SkillInfo,
  changes: PlanChanges,
  instructions: PlanOptions['instructions'],
): PlannedSkillRun {
  const directory = realpathSync(skill.directory)
  const report = lookupFor(project, skill.scope).load(directory)
  if (report.facts === undefined) {
    throw new SkillLoadError({
      code: 'skill-unusable',
      message: `the skill ${skill.name} cannot be used`,
      diagnostics: report.diagnostics,
    })
  }
  const reading = planRun(report.facts, lookupFor(project, skill.scope), {
    policy: Object.assign({}, ...changes.set.map((setting) => parsePolicySetting(setting))),
    from: changes.from,
    only: changes.only,
    instructions,
  })
  const own = report.diagnostics.filter(({ severity }) => severity === 'error')
  return {
    plan: reading.plan,
    diagnostics: [...own, ...reading.diagnostics],
    directory: keptPath(project.workspace, directory),
  }
}

/** Everything that a chain calls lies beside it and has its scope. */
function lookupFor(project: ChainProject, scope: SkillScope): ChainLookup {
  const { workspace, policy } = project
  return createDiskLookup({
    workspace,
    trustOf: (skill, directory) =>
      trustFact(
        {
          name: skill.fields.name ?? dirname(directory),
          scope,
          directory,
          path: isAbsolute(skill.path) ? skill.path : resolve(workspace, skill.path),
          fields: skill.fields,
        },
        policy,
      ),
  })
}

function keptPath(workspace: string, directory: string): string {
  if (!isInside(workspace, directory)) return directory
  return relative(workspace, directory).split(sep).join('/') || '.'
}

function notTrusted(refusal: Diagnostic): SkillNotTrustedError {
  const skill = /^Skill (\S+) may not/.exec(refusal.message)?.[1] ?? refusal.path
  const reason = refusal.message.replace(/^Skill \S+ may not run its script: |\.$/g, '')
  return new SkillNotTrustedError({
    skill,
    action: 'run its script',
    reason,
    reasonCode: 'workspace-not-accepted',
    hint: refusal.hint ?? 'skillrail trust shows what would be allowed, and allows it.',
  })
}
