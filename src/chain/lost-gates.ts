import { isChain, type PlannedChain, type PlannedStep, unitsOf, wholeChain } from './plan-model.ts'

/**
 * Returns the gates of a run that the new plan lacks. A gate is lost if it was removed, weakened or renamed,
 * if it moved behind the steps that it stopped, or if its condition changed. It is kept if each step that
 * needs no answer to the gate now needed none before.
 */
export function lostGates(before: PlannedChain, now: PlannedChain): readonly string[] {
  return gatedSteps(before).filter((gate) => {
    const oldWay = wayTo(before, gate)
    const newWay = wayTo(now, gate)
    const isWeaker = gateStrength(newWay.at(-1)) < gateStrength(oldWay.at(-1))
    if (isWeaker || newWay.some((step) => step.excluded)) return true
    const isConditional = newWay.some(
      ({ when }, index) => when !== undefined && when !== oldWay[index]?.when,
    )
    const stepsWithoutGate = new Set(stepsWithout(before, gate))
    return isConditional || stepsWithout(now, gate).some((step) => !stepsWithoutGate.has(step))
  })
}

/** Returns those of the lost gates that open only by a signature: no question removes them from a run. */
export function signedGates(before: PlannedChain, lost: readonly string[]): readonly string[] {
  return lost.filter((step) => wayTo(before, step).at(-1)?.gate === 'signed')
}

function gatedSteps(root: PlannedChain): string[] {
  const steps = wholeChain(root).filter(({ gate }) => gate !== undefined)
  return steps
    .map(({ step }) => step)
    .filter((step) => wayTo(root, step).every(({ excluded }) => excluded !== true))
}

/** 0 without a gate. A stronger gate needs an approval that is harder to forge. */
function gateStrength(step: PlannedStep | undefined): number {
  if (step?.gate === undefined) return 0
  return step.gate === true ? 1 : step.gate === 'attended' ? 2 : 3
}

/** The step and the chains above it, from the top. */
function wayTo(chain: PlannedChain, name: string): readonly PlannedStep[] {
  const step = chain.steps.find((one) => isOnWay(one, name))
  if (!step) return []
  if (step.step === name) return [step]
  const innerWay = isChain(step) ? wayTo(step, name) : []
  return innerWay.length === 0 ? [] : [step, ...innerWay]
}

function isOnWay({ step }: PlannedStep, name: string): boolean {
  return `${name}/`.startsWith(`${step}/`)
}

/** Returns the steps that run without an answer to the gate: earlier, parallel and `always` steps. */
function stepsWithout(chain: PlannedChain, gate: string): readonly string[] {
  const units = unitsOf(chain.steps, chain.policy)
  const at = units.findIndex((unit) => unit.some((step) => isOnWay(step, gate)))
  return units.flatMap((unit, index) =>
    unit.flatMap((step) => {
      if (isOnWay(step, gate)) {
        return isChain(step) && step.step !== gate ? stepsWithout(step, gate) : []
      }
      // All gates of a group come before its steps.
      const isBehind = index > at || (index === at && !chain.policy.async && hasGate(unit, gate))
      return isBehind && step.always !== true ? [] : executableSteps(step)
    }),
  )
}

function hasGate(unit: readonly PlannedStep[], gate: string): boolean {
  return unit.some(({ step }) => step === gate)
}

function executableSteps(step: PlannedStep): readonly string[] {
  if (step.excluded) return []
  return isChain(step) ? step.steps.flatMap(executableSteps) : [step.step]
}
