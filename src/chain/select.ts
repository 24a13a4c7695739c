import { type Diagnostic, nearest } from '../base/index.ts'
import { allSteps, isChain, type PlannedChain, type PlannedStep } from './plan-model.ts'

export interface StepSelection {
  /** This step and all after it, in plan order. */
  from?: string | undefined
  /** This step alone, with all that is below it. */
  only?: string | undefined
}

/** The steps of a chain with those marked that a selection leaves out. */
export function excludeSteps(
  root: PlannedChain,
  selection: StepSelection,
  diagnostics: Diagnostic[],
): readonly PlannedStep[] {
  const wanted = selection.only ?? selection.from
  if (wanted === undefined) return root.steps
  const steps = allSteps(root)
  const start = steps.findIndex((step) => step.step === wanted)
  if (start === -1) {
    const names = steps.map((step) => step.step)
    const meant = nearest(wanted, names)
    diagnostics.push({
      code: 'step-unknown',
      severity: 'error',
      message: `${root.skill} has no step ${wanted}`,
      path: root.path,
      hint: meant === undefined ? `Its steps are ${names.join(', ')}.` : `Did you mean ${meant}?`,
    })
    return root.steps
  }
  const chosen = new Set(
    steps
      .filter((step, index) =>
        selection.only === undefined
          ? index >= start
          : step.step === wanted || step.step.startsWith(`${wanted}/`),
      )
      .map((step) => step.step),
  )
  return mark(root.steps, chosen)
}

/** A chain is left out when everything below it is. */
function mark(steps: readonly PlannedStep[], chosen: ReadonlySet<string>): readonly PlannedStep[] {
  return steps.map((step) => {
    if (!isChain(step)) return chosen.has(step.step) ? step : { ...step, excluded: true as const }
    const below = mark(step.steps, chosen)
    const kept = chosen.has(step.step) || below.some((inner) => inner.excluded !== true)
    return kept ? { ...step, steps: below } : { ...step, steps: below, excluded: true as const }
  })
}
