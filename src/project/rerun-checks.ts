import { SkillrailError } from '#core/errors'
import type { StepOutput } from '#exec/output-protocol'
import { declaredDigest } from '#chain/declared-chain'
import { hasCheck } from '#chain/executors'
import { allSteps, type Plan } from '#chain/plan-model'
import type { CommittedChain } from './base-chain.ts'
import { type ChainProject, planKept, usablePlan } from './chains.ts'
import { confirmPlanned } from './confirm-step.ts'

/** What a check that ran again says. */
export interface RepeatedCheck {
  isDone: boolean
  text: string
}

/**
 * Runs every check of a chain in the working tree, which has the files of the commit. The chain must be the
 * one of the base and trusted. Nothing else of it is executed: a step may publish something.
 */
export async function rerunChecks(
  project: ChainProject,
  { directory, chain }: { directory: string; chain: CommittedChain },
): Promise<RepeatedCheck[]> {
  let plan: Plan
  try {
    const request = { directory, set: [] }
    plan = await usablePlan(project, planKept(project, { request, mode: 'stepper' }))
  } catch (error) {
    if (!(error instanceof SkillrailError)) throw error
    return [
      { isDone: false, text: `${error.message.replace(/\.$/, '')}. ${error.hint ?? ''}`.trim() },
    ]
  }
  if (declaredDigest(plan.root) !== declaredDigest(chain.root)) {
    return [{ isDone: false, text: `${plan.skill} is another chain in the working tree` }]
  }
  const steps = allSteps(plan.root).filter(hasCheck)
  if (steps.length === 0) {
    return [{ isDone: false, text: `${plan.skill} has no check that could be run again` }]
  }
  const run = { runId: project.context.runtime.id(), plan, arguments: [] }
  const checks: RepeatedCheck[] = []
  for (const step of steps) {
    const about = { step, attempt: 1 }
    const { output, log } = await confirmPlanned(project, run, about, emptyOutput)
    const isDone = output.status === 'success'
    const what = [step.check, step.verify].filter((one) => one !== undefined).join(' and ')
    const end = lastLine(log)
    const why = output.errors[0]?.message ?? 'it failed'
    const failure = end === '' ? why : `${why}; it printed: ${end}`
    checks.push({
      isDone,
      text: `${step.step}: ${isDone ? `${what} passed again` : failure}`,
    })
  }
  return checks
}

/** A proof has no results, so a check that reads the result of its step gets an empty one. */
const emptyOutput: StepOutput = {
  status: 'success',
  result: '',
  errors: [],
  metrics: {},
  evidence: 'self-reported',
}

function lastLine(log: string): string {
  return log.trimEnd().split('\n').at(-1)?.trim() ?? ''
}
