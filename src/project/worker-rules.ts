import { dirname, relative, resolve } from 'node:path'
import { settingsOfCall } from '#core/configuration'
import { messageOf, SkillrailError } from '#core/errors'
import type { Settings } from '#core/settings'
import { SettingsError } from '#core/settings-error'
import { isChain, type PlannedStep, type PlannedTask } from '#chain/plan-model'
import type { WorkerReport } from '#chain/restate/protocol'
import type { Refused } from '#chain/restate/step-execution'
import type { WorkerOptions } from '#chain/restate/worker'
import { discoverOptionsFrom, discoverSkills } from '#library/discover'
import type { AgentCliName } from '#exec/agent-clients'
import {
  type ChainProject,
  openProject,
  planKept,
  refusalIn,
  type RunContext,
  runSettings,
} from './chains.ts'

/** The clients and models that a worker may use for steps without a script. */
export interface WorkerAllowance {
  clients: readonly AgentCliName[]
  /** Models, as `provider:name`, compared with the plan as text. */
  models: readonly string[]
}

export interface WorkerRules extends Pick<WorkerOptions, 'accept' | 'refusalOf' | 'report'> {
  /** The settings for a run that starts now. */
  runSettings(): Settings['run']
}

/**
 * Whether this worker may execute a step that was sent to it. The skill at its path is read and
 * planned anew: it must have the digest that the run was planned with, the trust of this machine,
 * and an executor that this worker was started with. The settings and the trust are read for each
 * step; while the settings have errors, the worker leaves every step to other workers.
 */
export function workerRules(
  atStart: ChainProject,
  allowanceIn: (settings: Settings['restate']) => WorkerAllowance,
): WorkerRules {
  // What `accept` has planned is what may be executed.
  const { context, checked } = atStart
  const ignore = (): void => undefined
  const projectNow = (): ChainProject => {
    const { settings } = settingsOfCall(context.runtime, context.globals)
    return { ...openProject({ ...context, settings, note: ignore, diagnose: ignore }), checked }
  }
  const known = new Set<string>()
  let lastSettings = runSettings(atStart)
  return {
    accept: (step) =>
      unlessFaulty(
        () => {
          const project = projectNow()
          const { settings } = project.context
          const how = isChain(step) ? [] : [step.executor, step.script, step.client, step.model]
          const rules = [JSON.stringify([settings, project.policy.acceptance])]
          const place = [step.path, step.digest, ...how, ...rules].join('\0')
          // A later edit is noticed by the check of the digest at every execution.
          if (known.has(place)) return undefined
          const refused = refusalOf(project, step, allowanceIn(settings.restate))
          if (!refused) known.add(place)
          return refused
        },
        (reason) => ({ kind: 'elsewhere', reason }),
      ),
    refusalOf: (directory) =>
      unlessFaulty(
        () => refusalIn(projectNow())(directory),
        (message) => ({ message }),
      ),
    // With errors nothing is executed, so the settings of the last run do no harm.
    runSettings: () =>
      unlessFaulty(
        () => (lastSettings = runSettings(projectNow())),
        () => lastSettings,
      ),
    report: () =>
      unlessFaulty(
        () => {
          const project = projectNow()
          const { clients, models } = allowanceIn(project.context.settings.restate)
          return { skills: skillsOf(project), clients: [...clients, ...models] }
        },
        () => ({ skills: [], clients: [] }),
      ),
  }
}

function unlessFaulty<Value>(work: () => Value, otherwise: (reason: string) => Value): Value {
  try {
    return work()
  } catch (error) {
    if (error instanceof SettingsError) return otherwise(error.message)
    throw error
  }
}

function refusalOf(
  project: ChainProject,
  step: PlannedStep,
  allowance: WorkerAllowance,
): Refused | undefined {
  const directory = dirname(resolve(project.workspace, step.path))
  try {
    const own = ownStep(project, directory)
    const place = relative(project.workspace, directory)
    const changed = own.digest === step.digest ? undefined : `${place} has another digest here`
    const reason = changed ?? (isChain(step) ? undefined : notAllowed(step, allowance))
    return reason === undefined ? distrusted(own, step) : { kind: 'elsewhere', reason }
  } catch (error) {
    if (!(error instanceof SkillrailError)) throw error
    return { kind: 'elsewhere', reason: messageOf(error) }
  }
}

function distrusted(own: PlannedStep, step: PlannedStep): Refused | undefined {
  const refused = (code: 'skill-not-trusted' | 'sandbox-missing', why: string): Refused => {
    return { kind: 'refused', code, reason: `the skill ${step.skill} ${why}` }
  }
  // A skill that has a script is executed by it and by nothing else.
  if (isChain(own) !== isChain(step) || scriptOf(own) !== scriptOf(step)) {
    return refused('skill-not-trusted', 'is not executed as the run says')
  }
  if (own.trust !== 'trusted') {
    return refused('skill-not-trusted', 'is not trusted on this worker')
  }
  // The trust of this machine counts: the run may have been planned elsewhere.
  if (!own.sandboxed && !step.sandboxed) return undefined
  return refused('sandbox-missing', 'runs only in a sandbox, which workers do not have')
}

function scriptOf(step: PlannedStep): string | undefined {
  return isChain(step) ? undefined : step.script
}

function notAllowed(
  { executor, client = '', model = '' }: PlannedTask,
  { clients, models }: WorkerAllowance,
): string | undefined {
  if (executor === 'script') return undefined
  if (executor !== 'agent' && executor !== 'model') {
    return `workers do not execute steps by a ${executor}`
  }
  const ways = { agent: ['--via', client, clients], model: ['--model', model, models] } as const
  const [option, name, allowed] = ways[executor]
  if (allowed.some((one) => one === name)) return undefined
  return `a worker executes such steps only when it is started with ${option} ${name}`
}

export function skillsOf(project: ChainProject): WorkerReport['skills'] {
  const { runtime, settings }: RunContext = project.context
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  return skills.flatMap(({ name, directory }) => {
    try {
      return { name, digest: ownStep(project, directory).digest }
    } catch (error) {
      if (error instanceof SkillrailError) return []
      throw error
    }
  })
}

function ownStep(project: ChainProject, directory: string): PlannedStep {
  const { plan } = planKept(project, { request: { directory, set: [] }, mode: 'run' })
  const [first] = plan.root.steps
  const single = first !== undefined && first.path === plan.root.path && !isChain(first)
  return single ? first : plan.root
}
