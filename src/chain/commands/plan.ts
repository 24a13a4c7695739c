import { type Context, defineCommand, type Note, option } from '../../core/command.ts'
import { exitCode, type ExitCode } from '../../core/errors.ts'
import { confinedSteps } from '../plan-model.ts'
import { planJson } from '../plan.ts'
import { renderPlan, renderPlanMermaid, sandboxForeseen } from '../render-plan.ts'
import { askedInstructions, askedSteps, stepOptions } from './instructions.ts'
import { openProject, planNamed, type PlannedSkillRun, withChanges } from './project.ts'

export interface PlanAnswer extends ReturnType<typeof planJson> {
  sandbox?: string
}

export const command = defineCommand<PlanAnswer>()({
  arguments: { '<skill>': 'a name, a directory, or a SKILL.md' },
  options: {
    format: option.choice('--format <format>', 'text or mermaid', {
      choices: ['text', 'mermaid'],
      default: 'text',
    }),
    set: option.list('--set <key=value>', 'change the policy (repeatable)'),
    via: option.text(
      '--via <client>',
      'plan for an agent client: claude, codex, gemini, opencode, copilot or qwen',
    ),
    model: option.text('--model <provider:name>', 'plan for a model'),
    tools: option.text('--tools <names>', 'plan with these built-in tools for the model'),
    ...stepOptions,
  },
  examples: ['chain plan release-check --format mermaid'],
  async run(context, { arguments: [reference = ''], ...values }) {
    const changes = {
      set: values.set,
      ...askedSteps(values),
      ...(await askedInstructions(values)),
    }
    const project = openProject(context)
    const answer = planAnswer(await withChanges(project, planNamed(project, reference, changes)))
    // Beside a drawing there are no notes.
    if (values.format === 'mermaid') printNotes(answer, context)
    return answer
  },
  render: renderPlanAnswer,
  notes: planNotes,
  exitCode: codeOfPlan,
  formats: { mermaid: (answer) => renderPlanMermaid(shownPlan(answer)) },
})

export function planAnswer({ plan, diagnostics, refusals }: PlannedSkillRun): PlanAnswer {
  const answer = planJson(plan, diagnostics)
  const [confined] = confinedSteps(plan)
  if (confined === undefined) return answer
  return { ...answer, sandbox: sandboxForeseen(refusals.get(confined.path)?.hint) }
}

export function renderPlanAnswer(answer: PlanAnswer): string {
  return renderPlan(shownPlan(answer))
}

export function planNotes({ diagnostics, sandbox }: PlanAnswer): Note[] {
  return [...diagnostics, ...(sandbox === undefined ? [] : [sandbox])]
}

/** Whether the plan could run: 4 without trust, 3 with another error. */
export function codeOfPlan({ diagnostics }: PlanAnswer): ExitCode {
  if (diagnostics.some(({ code }) => code === 'skill-not-trusted')) return exitCode.refused
  const broken = diagnostics.some(({ severity }) => severity === 'error')
  return broken ? exitCode.notFound : exitCode.done
}

function printNotes({ diagnostics, sandbox }: PlanAnswer, context: Context): void {
  context.diagnose(diagnostics)
  if (sandbox !== undefined) context.note(sandbox)
}

function shownPlan({ skill, digest, policy, steps }: PlanAnswer): Parameters<typeof renderPlan>[0] {
  return { skill, digest, root: { policy, steps } }
}
