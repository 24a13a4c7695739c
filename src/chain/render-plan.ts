import { columnsOf, padToColumns, safeLine } from '../base/index.ts'
import { isChain, type Plan, type PlannedStep } from './plan-model.ts'
import { executionWords, policyWords, shortDigest, stepLabel } from './plan-words.ts'

/** The plan as a tree: what runs, how, whether it is trusted, what it costs. */
export function renderPlan(plan: Plan): string {
  const rows = flatten(plan.root.steps, 0).map(({ step, depth }) => [
    `${'  '.repeat(depth)}${safeLine(stepLabel(step))}`,
    isChain(step) ? step.executor : (step.client ?? step.model ?? step.executor),
    step.trust,
    shortDigest(step.digest),
    `${step.tokens} tokens`,
    executionWords(step).join(', '),
  ])
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => columnsOf(row[column] ?? ''))),
  )
  const head = [safeLine(plan.skill), plan.digest.slice(0, 19), ...policyWords(plan.root.policy)]
  const lines = rows.map((row) =>
    row
      .map((cell, column) => padToColumns(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${[head.join('  '), ...lines].join('\n')}\n`
}

function flatten(
  steps: readonly PlannedStep[],
  depth: number,
): { step: PlannedStep; depth: number }[] {
  return steps.flatMap((step) => [
    { step, depth },
    ...(isChain(step) ? flatten(step.steps, depth + 1) : []),
  ])
}
