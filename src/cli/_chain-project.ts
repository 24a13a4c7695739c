import { realpathSync } from 'node:fs'
import { basename, relative, resolve, sep } from 'node:path'
import { isInside } from '../base/index.ts'
import {
  type ChainLookup,
  ChainPlanError,
  type CheckedSkill,
  createDiskLookup,
  executionRefusal,
  openRunStore,
  parsePolicySetting,
  type Plan,
  type PlanReading,
  planRun,
  type Refusal,
  type RunStore,
  trustFact,
} from '../chain/index.ts'
import { discoverOptionsFrom, findSkill, skillAt, type SkillInfo } from '../library/index.ts'
import { SkillLoadError, SkillParseError } from '../skill/index.ts'
import {
  findWorkspace,
  lockReadOnce,
  type NearestLock,
  readTrustPolicy,
  type SkillNotTrustedError,
  type SkillScope,
  type TrustPolicy,
} from '../trust/index.ts'
import type { CommandContext } from './command.ts'
import { type InstructionChoice, instructionsOf } from './_instructions.ts'

/** The project that a command about chains works in. */
export interface ChainProject {
  /** Real path; scripts run here, and runs are kept below it. */
  workspace: string
  store: RunStore
  policy: TrustPolicy
  /** The skills of the plans that were made, by real directory. */
  checked: Map<string, CheckedSkill>
  context: CommandContext
}

/** `stepper`: an agent is driven through it. */
export type RunMode = 'run' | 'stepper'

export function openProject(context: CommandContext): ChainProject {
  const workspace = findWorkspace(context.runtime.cwd, context.runtime)
  const { policy, diagnostics } = readTrustPolicy(context.runtime, {
    workspace,
    workspaceTrust: context.settings.workspaceTrust,
    trustedPaths: context.settings.skills.trustedPaths,
  })
  context.output.diagnostics(diagnostics)
  return { workspace, store: openRunStore(workspace), policy, checked: new Map(), context }
}

/** What changes a plan on the command line. */
export interface PlanChanges extends InstructionChoice {
  set: readonly string[]
  from?: string | undefined
  only?: string | undefined
}

export interface PlannedSkillRun extends PlanReading {
  /** As the journal keeps it, to plan the same again. */
  directory: string
  /** Of each skill of the plan that may not be executed, by its `SKILL.md`. */
  refusals: ReadonlyMap<string, SkillNotTrustedError>
}

/** Finds a skill as a person named it, and plans its run; `driven` for the stepper. */
export function planNamed(
  project: ChainProject,
  reference: string,
  changes: PlanChanges,
  mode: RunMode = 'run',
): PlannedSkillRun {
  const { runtime, settings } = project.context
  return planSkill(
    project,
    () => findSkill(reference, discoverOptionsFrom(runtime, settings)),
    changes,
    mode,
  )
}

/** Plans the skill of a run again, as it was asked for then. */
export function planKept(
  project: ChainProject,
  { request, mode }: { request: PlanChanges & { directory: string }; mode: RunMode },
): PlannedSkillRun {
  const { runtime, settings } = project.context
  const directory = resolve(project.workspace, request.directory)
  return planSkill(
    project,
    () => skillAt(directory, discoverOptionsFrom(runtime, settings)),
    request,
    mode,
  )
}

/**
 * The plan, or the error that says why nothing may run: no trust first (exit code 4), then
 * everything that makes the chain impossible (exit code 3).
 */
export function usablePlan(reading: PlannedSkillRun): Plan {
  const { plan, diagnostics, refusals } = reading
  const untrusted = diagnostics.find((diagnostic) => diagnostic.code === 'skill-not-trusted')
  const refusal = untrusted === undefined ? undefined : refusals.get(untrusted.path)
  if (refusal !== undefined) throw refusal
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error')
  const [first] = errors
  if (first === undefined) return plan
  const count = errors.length === 1 ? 'an error' : `${errors.length} errors`
  throw new ChainPlanError({
    code: errors.length === 1 ? first.code : 'plan-impossible',
    message: `${plan.skill} cannot run; its plan has ${count}`,
    // The warnings too: `chain` in the wrong place is why there is nothing to run.
    diagnostics,
  })
}

function planSkill(
  project: ChainProject,
  find: () => SkillInfo,
  changes: PlanChanges,
  mode: RunMode,
): PlannedSkillRun {
  const skill = plannable(find)
  const directory = realpathSync(skill.directory)
  const refusals = new Map<string, SkillNotTrustedError>()
  const { sandbox } = project.context.settings.run
  const lookup = lookupFor(project, skill.scope, refusals)
  const report = lookup.load(directory)
  if (report.facts === undefined) {
    throw new ChainPlanError({
      code: 'skill-unusable',
      message: `the skill ${skill.name} cannot be used`,
      diagnostics: report.diagnostics,
    })
  }
  const reading = planRun(report.facts, lookup, {
    policy: Object.assign({}, ...changes.set.map((setting) => parsePolicySetting(setting))),
    from: changes.from,
    only: changes.only,
    sandbox: sandbox === 'refuse' ? undefined : sandbox,
    instructions: mode === 'stepper' ? { kind: 'driven' } : instructionsOf(changes),
  })
  const own = report.diagnostics.filter(({ severity }) => severity === 'error')
  return {
    plan: reading.plan,
    diagnostics: [...own, ...reading.diagnostics],
    directory: keptPath(project.workspace, directory),
    refusals,
  }
}

/** What is broken cannot be planned, whether it is what was asked for or a step of it. */
function plannable(find: () => SkillInfo): SkillInfo {
  try {
    return find()
  } catch (error) {
    if (!(error instanceof SkillParseError || error instanceof SkillLoadError)) throw error
    const { code, message, hint, diagnostics } = error
    throw new ChainPlanError({ code, message, hint, diagnostics, cause: error })
  }
}

/** Everything that a chain calls lies beside it and has its scope. */
function lookupFor(
  project: ChainProject,
  scope: SkillScope,
  refusals: Map<string, SkillNotTrustedError>,
): ChainLookup {
  const { workspace, policy } = project
  const lockOf = lockReadOnce(policy.workspace)
  return createDiskLookup({
    workspace,
    trustOf(skill, directory) {
      const checked = {
        name: skill.fields.name ?? basename(directory),
        scope,
        directory,
        path: resolve(workspace, skill.path),
        fields: skill.fields,
      }
      project.checked.set(directory, checked)
      const refusal = executionRefusal(checked, policy, lockOf)
      if (refusal !== undefined) refusals.set(skill.path, refusal)
      return trustFact(refusal)
    },
  })
}

/**
 * Asked again right before a step, since the files may have changed since the plan was made.
 *
 * @param lockOf the lock of the project; default: as it is whenever a step is asked about.
 */
export function refusalIn(
  project: ChainProject,
  lockOf?: () => NearestLock,
): (directory: string) => Refusal | undefined {
  return (directory) => {
    const skill = project.checked.get(directory)
    if (skill === undefined) return { message: `the skill in ${directory} is not part of the plan` }
    return executionRefusal(skill, project.policy, lockOf)
  }
}

function keptPath(workspace: string, directory: string): string {
  if (!isInside(workspace, directory)) return directory
  return relative(workspace, directory).split(sep).join('/') || '.'
}
