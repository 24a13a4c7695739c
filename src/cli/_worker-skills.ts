import { dirname, relative, resolve } from 'node:path'
import { messageOf, SkillrailError } from '../base/index.ts'
import { isChain, type PlannedStep } from '../chain/index.ts'
import type { Acceptance, WorkerReport } from '../chain/restate/index.ts'
import { discoverOptionsFrom, discoverSkills } from '../library/index.ts'
import { type ChainProject, planKept } from './_chain-project.ts'
import { notAllowed, type WorkerAllowance } from './_worker-executors.ts'

/**
 * Whether a step that somebody sent may be executed here. Nothing of the step is believed: the skill
 * at its path is read and planned anew, and must have the digest that the run was planned with and
 * the trust of this machine; and how it is executed must be allowed here.
 */
export function acceptIn(
  project: ChainProject,
  allowance: WorkerAllowance,
): (step: PlannedStep) => Acceptance {
  const known = new Set<string>()
  return (step) => {
    const how = isChain(step)
      ? ''
      : `${step.executor}\0${step.script}\0${step.client}\0${step.model}`
    const place = [step.path, step.digest, how].join('\0')
    // An edit since then is noticed by the check of the digest at every execution.
    if (known.has(place)) return { kind: 'accepted' }
    const acceptance = accept(project, step, allowance)
    if (acceptance.kind === 'accepted') known.add(place)
    return acceptance
  }
}

/** The skills that a worker tells of when it is asked. */
export function skillsOf(project: ChainProject): WorkerReport['skills'] {
  const { runtime, settings } = project.context
  const { skills } = discoverSkills(discoverOptionsFrom(runtime, settings))
  return skills.flatMap(({ name, directory }) => {
    const digest = digestAt(project, directory)
    return digest === undefined ? [] : [{ name, digest }]
  })
}

function digestAt(project: ChainProject, directory: string): string | undefined {
  try {
    return ownStep(project, directory)?.digest
  } catch (error) {
    if (error instanceof SkillrailError) return undefined
    throw error
  }
}

function accept(project: ChainProject, step: PlannedStep, allowance: WorkerAllowance): Acceptance {
  const directory = dirname(resolve(project.workspace, step.path))
  const place = relative(project.workspace, directory)
  try {
    const own = ownStep(project, directory)
    if (own === undefined || own.digest !== step.digest) {
      return { kind: 'elsewhere', reason: `${place} has another digest here` }
    }
    const unable = isChain(step) ? undefined : notAllowed(step, allowance)
    if (unable !== undefined) return { kind: 'elsewhere', reason: unable }
    if (!isExecutedAlike(own, step)) {
      const reason = `${place} is not executed as the run says`
      return { kind: 'refused', code: 'skill-not-trusted', reason }
    }
    if (own.trust !== 'trusted') {
      const reason = `the skill ${step.skill} is not trusted on this worker`
      return { kind: 'refused', code: 'skill-not-trusted', reason }
    }
    // By what is read here: a run that was planned elsewhere may know of no sandbox.
    if (own.sandboxed === true || step.sandboxed === true) {
      const reason = `the scripts of the skill ${step.skill} run only in a sandbox, which workers do not have`
      return { kind: 'refused', code: 'sandbox-missing', reason }
    }
    return { kind: 'accepted' }
  } catch (error) {
    if (!(error instanceof SkillrailError)) throw error
    return { kind: 'elsewhere', reason: messageOf(error) }
  }
}

/** A skill that has a script is executed by it and by nothing else. */
function isExecutedAlike(own: PlannedStep, step: PlannedStep): boolean {
  if (isChain(own) || isChain(step)) return isChain(own) === isChain(step)
  return own.script === step.script
}

/** The skill in a directory as it would be planned here. */
function ownStep(project: ChainProject, directory: string): PlannedStep | undefined {
  const { plan } = planKept(project, { request: { directory, set: [] }, mode: 'run' })
  const [first] = plan.root.steps
  const single = first !== undefined && first.path === plan.root.path && !isChain(first)
  return single ? first : plan.root
}
