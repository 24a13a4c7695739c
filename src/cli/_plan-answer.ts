import { exitCode, type ExitCode } from '../base/index.ts'
import {
  confinedSteps,
  planJson,
  renderPlan,
  renderPlanMermaid,
  sandboxForeseen,
} from '../chain/index.ts'
import type { PlannedSkillRun } from './_chain-project.ts'
import type { CommandContext } from './command.ts'

/** Prints a plan; the exit code says whether it could run: 4 without trust, 3 with another error. */
export function answerPlan(
  context: CommandContext,
  reading: PlannedSkillRun,
  format: 'text' | 'mermaid',
): ExitCode {
  const { plan, diagnostics, refusals } = reading
  const { output } = context
  if (context.options.json) {
    output.json(planJson(plan, diagnostics))
  } else {
    output.raw(format === 'mermaid' ? renderPlanMermaid(plan) : renderPlan(plan))
    output.diagnostics(diagnostics)
    const [confined] = confinedSteps(plan)
    if (confined !== undefined) output.note(sandboxForeseen(refusals.get(confined.path)?.hint))
  }
  if (diagnostics.some(({ code }) => code === 'skill-not-trusted')) return exitCode.refused
  const broken = diagnostics.some(({ severity }) => severity === 'error')
  return broken ? exitCode.notFound : exitCode.done
}
