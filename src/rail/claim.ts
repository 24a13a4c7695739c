import { RunStateError } from '#chain/errors'
import type { Runtime } from '#core/runtime'
import { standingText } from './events.ts'
import { changeRail, type Claim, readRails, type RailSession } from './session.ts'

/** A report about a step of a run that a rail executes; undefined for every other run. */
export interface ClaimedStep {
  step: string
  chain: string
}

/**
 * Stores the agent's report until its turn ends. The check then decides whether the report counts.
 *
 * @throws {RunStateError} if the agent does not have this step, or a rail that may have the run is unreadable
 */
export function claimInRail(
  runtime: Runtime,
  { runId, claim, ...about }: { runId: string; claim: Claim } & Claimed,
): ClaimedStep | undefined {
  const rail = railOfRun(runtime, runId)
  if (!rail) return undefined
  const { step } = about
  const claimed = changeRail(runtime, rail.session, (now) => withClaim(now, about, claim))
  if (!claimed) throw notWaited(rail, step, 'it has ended')
  return { step, chain: rail.chain }
}

/**
 * Says where a run is that a rail executes: only its session continues it. Undefined for every other run.
 *
 * @throws {RunStateError} if a rail that may have the run is unreadable
 */
export function standingInRail(runtime: Runtime, runId: string): string | undefined {
  const rail = railOfRun(runtime, runId)
  if (!rail) return undefined
  return `${standingText(rail)} It continues at the end of a turn of its session, after the check of the step.`
}

function railOfRun(runtime: Runtime, runId: string): RailSession | undefined {
  const readings = readRails(runtime)
  const unreadable = readings.find((one) => one.kind === 'unreadable')
  const rails = readings.flatMap((one) => (one.kind === 'rail' ? [one.rail] : []))
  const rail = rails.find((one) => one.runId === runId)
  if (rail || !unreadable) return rail
  throw new RunStateError(
    'rail-unreadable',
    `the state of a rail cannot be read (${unreadable.path}), and the run ${runId} may be its own`,
    'A user can delete that file, which ends the rail.',
  )
}

interface Claimed {
  step: string
  /** The attempt of the agent's step; undefined for the current attempt. */
  attempt: number | undefined
}

/** Refuses a report about an earlier attempt, for example before a rejection. */
function withClaim(rail: RailSession, { step, attempt }: Claimed, claim: Claim): RailSession {
  const current = rail.step
  if (current?.step !== step) {
    throw notWaited(rail, step, current ? `its current step is ${current.step}` : rail.reason)
  }
  if (attempt !== undefined && attempt !== current.attempt) {
    throw notWaited(rail, step, `attempt ${current.attempt} is the current one`)
  }
  return { ...rail, step: { ...current, claim } }
}

function notWaited({ chain }: RailSession, step: string, why: string): RunStateError {
  return new RunStateError(
    'report-refused',
    `the chain ${chain} waits for no report about ${step}: ${why}`,
    'Do the current step, then end your turn.',
  )
}
