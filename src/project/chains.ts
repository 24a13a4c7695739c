import { realpathSync } from 'node:fs'
import { basename, join, resolve, sep } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Context } from '#core/command'
import { loadConfiguration } from '#core/configuration'
import { type Diagnostic, contradiction, pointless, wrongUse } from '#core/errors'
import { commaNames } from '#core/option-values'
import { findWorkspace } from '#core/read-files'
import type { Settings } from '#core/settings'
import { type AgentCliName, agentClis, isAgentCli } from '#exec/agent-clients'
import { type DiscoverOptions, discoverOptionsFrom } from '#library/discover'
import { findSkill, skillAt } from '#library/find-skill'
import type { SkillInfo } from '#library/model'
import { isUnusable } from '#skill/errors'
import { collectActingParts } from '#trust/acting-parts'
import { readTrustPolicy, SkillNotTrustedError } from '#trust/skill-trust'
import { lockReadOnce, type NearestLock } from '#trust/lock'
import type { SkillScope, TrustPolicy } from '#trust/model'
import { TrustStore } from '#trust/store'
import type { ChainEvent } from '#chain/engine'
import { ChainPlanError } from '#chain/errors'
import type { Refusal } from '#chain/executors'
import type { RunRecord, RunRequest } from '#chain/run-journal'
import {
  type ChainLookup,
  type CheckedSkill,
  createDiskLookup,
  displayPath,
  executionRefusal,
  trustFact,
} from '#chain/lookup'
import type { Plan, PlanReading } from '#chain/plan-model'
import { type InstructionExecutor, planRun } from '#chain/plan'
import { parsePolicySetting } from '#chain/policy'
import { type RunLine, runLines } from '#chain/run-line'
import { openRunStore, type RunStore } from '#chain/run-store'

export type RunContext = Pick<
  Context<ChainEvent>,
  'runtime' | 'settings' | 'signal' | 'globals' | 'note' | 'diagnose' | 'emit'
>

export interface ChainProject {
  /** Real path; scripts run here, and runs are kept below it. */
  workspace: string
  store: RunStore
  policy: TrustPolicy
  /** The skills of the plans that were made, by real directory. */
  checked: Map<string, CheckedSkill>
  context: RunContext
  /** Writes command lines about runs, with the rights that were given to this one. */
  line: RunLine
}

export function openProject(context: RunContext, grants: GrantOptions = {}): ChainProject {
  const { runtime, settings } = context
  const workspace = findWorkspace(runtime.cwd, runtime)
  const { policy, diagnostics } = readTrustPolicy(runtime, {
    workspace,
    workspaceTrust: settings.workspaceTrust,
    trustedPaths: settings.skills.trustedPaths,
  })
  context.diagnose(diagnostics)
  const store = openRunStore(workspace, context)
  const line = linesAgain(context, grants)
  return { workspace, store, policy, checked: new Map(), context, line }
}

export interface PlannedSkillRun extends PlanReading {
  /** Kept in the journal, to plan the same again. */
  directory: string
  /** The refusal of each skill of the plan that may not be executed, by its `SKILL.md`. */
  refusals: ReadonlyMap<string, SkillNotTrustedError>
}

export function planNamed(
  project: ChainProject,
  reference: string,
  changes: PlanChanges,
  mode: RunRecord['mode'] = 'run',
): PlannedSkillRun {
  return planSkill(project, (options) => findSkill(reference, options), changes, mode)
}

export function planKept(
  project: ChainProject,
  { request, mode }: Pick<RunRecord, 'request' | 'mode'>,
): PlannedSkillRun {
  const directory = resolve(project.workspace, request.directory)
  return planSkill(project, (options) => skillAt(directory, options), request, mode)
}

/** Or why nothing may run: missing trust first (exit code 4), then an impossible chain (3). */
export async function usablePlan(project: ChainProject, reading: PlannedSkillRun): Promise<Plan> {
  const { plan, diagnostics, refusals } = reading
  const untrusted = diagnostics.find((diagnostic) => diagnostic.code === 'skill-not-trusted')
  const refusal = untrusted && refusals.get(untrusted.path)
  if (refusal) {
    const changes = await changesOf(project, [refusal])
    throw new SkillNotTrustedError({ ...refusal.facts, diagnostics: changes })
  }
  const errors = diagnostics.filter((diagnostic) => diagnostic.severity === 'error')
  const [first] = errors
  if (!first) return plan
  const count = errors.length === 1 ? 'an error' : `${errors.length} errors`
  const code = errors.length === 1 ? first.code : 'plan-impossible'
  const message = `${plan.skill} cannot run; its plan has ${count}`
  // The warnings too: `chain` in the wrong place is why there is nothing to run.
  throw new ChainPlanError(code, message, undefined, { diagnostics })
}

export async function withChanges(
  project: ChainProject,
  reading: PlannedSkillRun,
): Promise<PlannedSkillRun> {
  const { diagnostics, refusals } = reading
  const refused = diagnostics.filter(({ code }) => code === 'skill-not-trusted')
  const found = refused.flatMap(({ path }) => refusals.get(path) ?? [])
  return { ...reading, diagnostics: [...diagnostics, ...(await changesOf(project, found))] }
}

async function changesOf(
  { context }: ChainProject,
  refusals: readonly SkillNotTrustedError[],
): Promise<Diagnostic[]> {
  const found = refusals.filter(({ changes }) => changes.length > 0)
  if (found.length === 0) return []
  const { changeDiagnostics } = await import('./trust-report.ts')
  const { texts } = new TrustStore(context.runtime)
  return found.flatMap(({ changes }) => changeDiagnostics(changes, texts))
}

function planSkill(
  project: ChainProject,
  find: (options: DiscoverOptions) => SkillInfo,
  changes: PlanChanges,
  mode: RunRecord['mode'],
): PlannedSkillRun {
  const { runtime, settings } = project.context
  const skill = plannable(() => find(discoverOptionsFrom(runtime, settings)))
  const directory = realpathSync(skill.directory)
  const refusals = new Map<string, SkillNotTrustedError>()
  const lookup = lookupFor(project, skill.scope, refusals)
  const { facts, diagnostics } = lookup.load(directory)
  if (!facts) {
    const message = `the skill ${skill.name} cannot be used`
    throw new ChainPlanError('skill-unusable', message, undefined, { diagnostics })
  }
  const { sandbox } = settings.run
  const reading = planRun(facts, lookup, {
    policy: Object.assign({}, ...changes.set.map((setting) => parsePolicySetting(setting))),
    from: changes.from,
    only: changes.only,
    sandbox: sandbox === 'refuse' ? undefined : sandbox,
    instructions: mode === 'stepper' ? { kind: 'driven' } : instructionsOf(changes),
  })
  const own = diagnostics.filter(({ severity }) => severity === 'error')
  return {
    plan: reading.plan,
    diagnostics: [...own, ...reading.diagnostics],
    directory: displayPath(project.workspace, directory) || '.',
    refusals,
  }
}

/** A broken skill cannot be planned, neither alone nor as a step. */
function plannable(find: () => SkillInfo): SkillInfo {
  try {
    return find()
  } catch (error) {
    if (!isUnusable(error)) throw error
    const { code, message, hint, diagnostics } = error
    throw new ChainPlanError(code, message, hint, { diagnostics, cause: error })
  }
}

/** Everything that a chain calls is in a directory beside it and has its scope. */
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
      if (refusal) refusals.set(skill.path, refusal)
      return trustFact(refusal)
    },
  })
}

/** Right before a step, since files may have changed. `lockOf`: else read at each step. */
export function refusalIn(
  project: ChainProject,
  lockOf?: () => NearestLock,
): (directory: string) => Refusal | undefined {
  return (directory) => {
    const skill = project.checked.get(directory)
    if (!skill) return { message: `the skill in ${directory} is not part of the plan` }
    return executionRefusal(skill, project.policy, lockOf)
  }
}

/** Options that hold for one command alone: the journal does not keep them. */
export interface GrantOptions {
  grant?: readonly string[]
  unsafeNoSandbox?: boolean
}

export function linesAgain(
  { globals, runtime }: RunContext,
  { grant = [], unsafeNoSandbox }: GrantOptions = {},
): RunLine {
  const { directory, config, trustWorkspace } = globals
  return runLines({
    place: [
      ...(directory === undefined ? [] : ['-C', runtime.cwd]),
      ...(config === undefined ? [] : ['--config', config]),
    ],
    rights: [
      ...(trustWorkspace ? ['--trust-workspace'] : []),
      ...grant.flatMap((text) => ['--grant', text]),
      ...(unsafeNoSandbox ? ['--unsafe-no-sandbox'] : []),
    ],
  })
}

export function runSettings(project: ChainProject): Settings['run'] {
  return { ...project.context.settings.run, environment: acceptedEnvironment(project) }
}

/** Variables that scripts get. A project's own list counts only where it was accepted. */
export function acceptedEnvironment(project: ChainProject): readonly string[] {
  const { runtime, settings, globals, note } = project.context
  const named = settings.run.environment
  if (named.length === 0) return named
  const { sources } = loadConfiguration(runtime)
  const file = sources.find((path) => path.endsWith(`${sep}${configuration}`))
  if (file === undefined || isAccepted(project, file)) return named
  const given = globals.config && resolve(runtime.cwd, globals.config)
  const elsewhere = loadConfiguration({ ...runtime, cwd: runtime.home }, { file: given })
  const own = elsewhere.settings.run.environment
  if (isDeepStrictEqual(named, own)) return named
  note(
    `run.environment in ${file} is ignored because it is not trusted (skillrail trust ${project.workspace})`,
  )
  return own
}

const configuration = join('.skillrail', 'config.json')

/** Only the file of the workspace itself is shown to the user who trusts it. */
function isAccepted({ policy, workspace }: ChainProject, file: string): boolean {
  if (policy.workspaceTrust === 'trusted') return true
  if (file !== join(workspace, configuration)) return false
  const isIt = ({ path }: { path: string }): boolean => join(path) === configuration
  const accepted = policy.acceptance?.parts.find(isIt)
  const now = collectActingParts(workspace, []).find(isIt)
  return accepted !== undefined && now?.problem === undefined && now?.digest === accepted.digest
}

export type PlanChanges = Omit<RunRequest, 'directory'>

export type InstructionChoice = Pick<RunRequest, 'via' | 'model' | 'baseUrl' | 'tools'>

/** The changes to a plan that the options of a command ask for. */
export async function planChanges(
  options: PlanChanges & { engine?: string | undefined },
): Promise<PlanChanges> {
  const { set, from, only, via, model, engine, tools, baseUrl } = options
  if (from !== undefined && only !== undefined) {
    throw contradiction('--from', '--only', 'Say which.')
  }
  if (via !== undefined && model !== undefined) {
    const hint = 'Say which.'
    throw contradiction('--via', '--model', hint)
  }
  refuseWithoutModel(model !== undefined, options, 'Add --model provider:name.')
  if (engine === 'restate' && baseUrl !== undefined) {
    const hint = 'Start the workers with --base-url.'
    throw contradiction('--engine restate', '--base-url', hint)
  }
  const names = tools === undefined ? undefined : commaNames(tools)
  if (names) (await import('#agent/built-in-tools/built-in-tools')).requireBuiltIns(names)
  return { set, from, only, via, model, baseUrl, tools }
}

/** @throws {UsageError} for options about models where there is none. */
export function refuseWithoutModel(
  hasModel: boolean,
  { tools, baseUrl }: Pick<InstructionChoice, 'tools' | 'baseUrl'>,
  hint: string,
): void {
  if (hasModel) return
  if (tools !== undefined) throw pointless('--tools', '--model', hint)
  if (baseUrl !== undefined) throw pointless('--base-url', '--model', hint)
}

export function instructionsOf({
  via,
  model,
  tools,
}: InstructionChoice): InstructionExecutor | undefined {
  if (model === undefined) {
    const client = clientNamed(via)
    if (!client) return undefined
    return { kind: 'agent', client, honours: agentClis[client].honours }
  }
  if (/^[^:]+:./.test(model)) {
    return { kind: 'model', model, honours: tools === undefined ? [] : ['allowed-tools'] }
  }
  const hint = 'Write it as provider:name, such as ollama:qwen3:8b.'
  throw wrongUse(`--model ${model}: the provider is missing`, hint)
}

export function clientNamed(via: string | undefined): AgentCliName | undefined {
  if (via === undefined || isAgentCli(via)) return via
  const hint = `Known are ${Object.keys(agentClis).join(', ')}.`
  throw wrongUse(`--via ${via} is not a known agent client`, hint)
}
