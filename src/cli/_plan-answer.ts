import { exitCode, type ExitCode } from '../base/index.ts'
import { planJson, type PlanReading, renderPlan, renderPlanMermaid } from '../chain/index.ts'
import type { CommandContext } from './command.ts'

/** Prints a plan; the exit code says whether it could run: 4 without trust, 3 with another error. */
export function answerPlan(
  context: CommandContext,
  reading: PlanReading,
  format: 'text' | 'mermaid',
): ExitCode {
  const { plan, diagnostics } = reading
  const { output } = context
  if (context.options.json) {
    output.json(planJson(plan, diagnostics))
  } else {
    output.raw(format === 'mermaid' ? renderPlanMermaid(plan) : renderPlan(plan))
    output.diagnostics(diagnostics)
  }
  if (diagnostics.some(({ code }) => code === 'skill-not-trusted')) return exitCode.refused
  const broken = diagnostics.some(({ severity }) => severity === 'error')
  return broken ? exitCode.notFound : exitCode.done
}
