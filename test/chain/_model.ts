import type { StepStatus } from '../../src/exec/output-protocol.ts'
import type { ChainPolicy } from '../../src/skill/model.ts'
import type { SimulatedStep } from './_simulated-engine.ts'

/**
 * The rules of a flat chain, written a second time and differently: as one simulation by time over
 * arrays, with no engine. The interpreter must agree with it on everything.
 */
export interface ModelRun {
  status: StepStatus
  attempts: { status: StepStatus; steps: string[]; outputs: string[]; details: string[] }[]
  started: string[]
  winner: string | undefined
  /** Whether attempts that were to become stable did not, which is an error of the chain. */
  unstable: boolean
}

export function modelRun(
  names: readonly string[],
  policy: ChainPolicy,
  behaviour: (attempt: number, name: string) => SimulatedStep & { detail?: string },
): ModelRun {
  const run: ModelRun = {
    status: 'success',
    attempts: [],
    started: [],
    winner: undefined,
    unstable: false,
  }
  const most = policy.retryUntil === 'none' || policy.retryCount > 1 ? policy.retryCount : 10
  for (let number = 1; number <= most; number++) {
    oneAttempt(run, names, policy, number, (name) => behaviour(number, name))
    const last = run.attempts.at(-1)
    const before = run.attempts.at(-2)
    if (policy.retryUntil === 'success' && last?.status === 'success') break
    if (policy.retryUntil === 'stable' && before !== undefined) {
      const same = [last, before].map((attempt) => [attempt?.steps, attempt?.details])
      if (JSON.stringify(same[0]) === JSON.stringify(same[1])) {
        run.status = last?.status ?? 'success'
        return run
      }
    }
  }
  const statuses = run.attempts.map((attempt) => attempt.status)
  const last = statuses.at(-1) ?? 'success'
  if (policy.retryUntil === 'none') run.status = gravest(statuses)
  else if (policy.retryUntil === 'success') run.status = last
  else {
    run.status = last === 'critical' ? 'critical' : 'failure'
    run.unstable = true
  }
  return run
}

function oneAttempt(
  run: ModelRun,
  names: readonly string[],
  policy: ChainPolicy,
  number: number,
  behaviour: (name: string) => SimulatedStep & { detail?: string },
): void {
  const width = policy.async ? policy.parallelLimit : 1
  const state: (string | undefined)[] = names.map(() => undefined)
  const active: { index: number; ends: number }[] = []
  let clock = 0
  let position = 0
  let verdict: StepStatus | undefined
  let over = false
  let skipping = false
  run.winner = undefined
  while (position < names.length || active.length > 0) {
    const room = over || skipping ? 0 : width
    while (active.length < room && position < names.length) {
      const name = names[position] ?? ''
      run.started.push(`${number}:${name}`)
      active.push({ index: position++, ends: clock + behaviour(name).duration })
    }
    if (active.length === 0) break
    active.sort((a, b) => a.ends - b.ends || a.index - b.index)
    const done = active.shift()
    if (done === undefined) break
    clock = done.ends
    const name = names[done.index] ?? ''
    const { status } = behaviour(name)
    state[done.index] = status
    const failed = status !== 'success'
    if (policy.raceMode) {
      if (!failed) {
        over = true
        verdict = 'success'
        run.winner = name
      }
    } else if (failed) {
      if (!policy.continueOnError) over = true
      if (policy.earlyExitOn === 'failure') over = true
      if (policy.earlyExitOn === 'critical' && status === 'critical') over = true
      if (!over && policy.continueOnSuccess) skipping = true
    } else if (policy.earlyExitOn === 'success') {
      over = true
      verdict = 'success'
    }
    if (over) for (const cancelled of active.splice(0)) state[cancelled.index] = 'cancelled'
  }
  const steps = state.map((status) => status ?? (skipping ? 'skipped' : 'not_run'))
  const ran = steps.filter((status) => ['success', 'failure', 'critical'].includes(status))
  const raced = policy.raceMode && ran.length > 0 ? 'failure' : undefined
  run.attempts.push({
    status: verdict ?? raced ?? gravest(ran),
    steps,
    outputs: names.filter((_name, index) => ran.includes(steps[index] ?? '')),
    details: names.map((name, index) =>
      ran.includes(steps[index] ?? '') ? (behaviour(name).detail ?? '') : '',
    ),
  })
}

function gravest(statuses: readonly string[]): StepStatus {
  if (statuses.includes('critical')) return 'critical'
  return statuses.includes('failure') ? 'failure' : 'success'
}
