import { defineCommand, type Note, option } from '#core/command'
import { contradiction, exitCode, type ExitCode } from '#core/errors'
import type { ChainEvent } from '#chain/engine'
import { confinedSteps, renderPlan, renderPlanMermaid, sandboxForeseen } from '#chain/plan-model'
import { planJson } from '#chain/plan'
import {
  confinementOptions,
  engineOptions,
  executeOptions,
  executeRun,
  startOn,
  wantsServer,
} from './execute.ts'
import {
  askedChanges,
  instructionOptions,
  openProject,
  planNamed,
  type PlannedSkillRun,
  usablePlan,
  withChanges,
} from './project.ts'
import { type RunAnswer, runFormats, runNotes, runShown } from './run-text.ts'

type Result = RunAnswer | PlanAnswer

export const command = defineCommand<Result, ChainEvent>()({
  arguments: {
    '<skill>': 'a name, a directory, or a SKILL.md',
    '[arguments...]': 'for every step; put arguments with a dash after --',
  },
  options: {
    ...engineOptions,
    ...confinementOptions,
    ...instructionOptions,
    dryRun: option.flag('--dry-run', 'show the plan and run nothing'),
    yesGates: option.flag('--yes-gates', 'approve every gate in advance'),
    baseUrl: option.text('--base-url <url>', 'the address of the model server'),
    ...executeOptions,
    requireVerified: option.flag(
      '--require-verified',
      'a success needs more than the word of an agent',
    ),
    report: option.list(
      '--report <format[=file]>',
      'json, junit, github or html; - is stdout (repeatable)',
    ),
    events: option.optional(
      '--events [file]',
      'events as lines of JSON, to --events=FILE or stdout',
    ),
  },
  examples: ['run release-check --report html=report.html'],
  async run(context, { arguments: [reference = '', ...given], ...values }) {
    wantsServer(values)
    const project = openProject(context, values)
    const changes = await askedChanges(values)
    const planned = planNamed(project, reference, changes)
    if (values.dryRun) {
      const hint = 'Nothing runs.'
      if (values.report.length > 0) throw contradiction('--dry-run', '--report', hint)
      if (values.events !== undefined) throw contradiction('--dry-run', '--events', hint)
      return planAnswer(await withChanges(project, planned))
    }
    const plan = await usablePlan(project, planned)
    context.diagnose(planned.diagnostics)
    const run = {
      plan,
      arguments: given,
      mode: 'run' as const,
      requireVerified: values.requireVerified,
      request: { directory: planned.directory, ...changes },
    }
    return await executeRun(project, plan, values, async (setup) =>
      startOn(project, values, run, setup),
    )
  },
  ...runShown,
  render: (result, screen) =>
    isPlan(result) ? renderPlan(result, screen) : runShown.render(result, screen),
  notes: (result, screen) => (isPlan(result) ? planNotes(result) : runNotes(result, screen)),
  exitCode: (result) => (isPlan(result) ? codeOfPlan(result) : runShown.exitCode(result)),
  formats: runFormats((result: Result) => {
    if (isPlan(result)) throw new Error('a plan has no report')
    return result
  }),
  jobSummary: true,
})

function isPlan(result: Result): result is PlanAnswer {
  return 'steps' in result
}

interface PlanAnswer extends ReturnType<typeof planJson> {
  sandbox?: string
}

export const planCommand = defineCommand<PlanAnswer>()({
  arguments: { '<skill>': 'a name, a directory, or a SKILL.md' },
  options: {
    format: option.choice('--format <format>', 'text or mermaid', {
      choices: ['text', 'mermaid'],
      default: 'text',
    }),
    ...instructionOptions,
  },
  examples: ['chain plan release-check --format mermaid'],
  async run(context, { arguments: [reference = ''], ...values }) {
    const project = openProject(context)
    const planned = planNamed(project, reference, await askedChanges(values))
    const answer = planAnswer(await withChanges(project, planned))
    // Beside a drawing there are no notes.
    if (values.format === 'mermaid') {
      context.diagnose(answer.diagnostics)
      if (answer.sandbox !== undefined) context.note(answer.sandbox)
    }
    return answer
  },
  render: renderPlan,
  notes: planNotes,
  exitCode: codeOfPlan,
  formats: { mermaid: (answer) => renderPlanMermaid(answer) },
})

function planAnswer({ plan, diagnostics, refusals }: PlannedSkillRun): PlanAnswer {
  const answer = planJson(plan, diagnostics)
  const [confined] = confinedSteps(plan)
  if (!confined) return answer
  return { ...answer, sandbox: sandboxForeseen(refusals.get(confined.path)?.hint) }
}

function planNotes({ diagnostics, sandbox }: PlanAnswer): Note[] {
  return [...diagnostics, ...(sandbox === undefined ? [] : [sandbox])]
}

/** Whether the plan could run: 4 without trust, 3 with another error. */
function codeOfPlan({ diagnostics }: PlanAnswer): ExitCode {
  if (diagnostics.some(({ code }) => code === 'skill-not-trusted')) return exitCode.refused
  const broken = diagnostics.some(({ severity }) => severity === 'error')
  return broken ? exitCode.notFound : exitCode.done
}
