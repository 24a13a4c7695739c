import { contradiction } from '../../core/errors.ts'
import { defineCommand, option } from '../../core/command.ts'
import type { ChainEvent } from '../engine.ts'
import type { ShownRun } from '../step-result.ts'
import { confinementOptions, executeOptions, executeRun, startOn, wantsServer } from './execute.ts'
import { engineOptions } from './engine.ts'
import { askedInstructions, askedSteps, stepOptions } from './instructions.ts'
import { codeOfPlan, type PlanAnswer, planAnswer, planNotes, renderPlanAnswer } from './plan.ts'
import { openProject, planNamed, usablePlan, withChanges } from './project.ts'
import {
  codeOfRun,
  renderRun,
  type RunAnswer,
  runFormats,
  runNotes,
  runProgress,
} from './run-text.ts'

/** With `--dry-run` a plan. */
type Result = RunAnswer | PlanAnswer

export const command = defineCommand<Result, ChainEvent>()({
  arguments: {
    '<skill>': 'a name, a directory, or a SKILL.md',
    '[arguments...]': 'for every step; put arguments with a dash after --',
  },
  options: {
    ...engineOptions,
    ...confinementOptions,
    ...stepOptions,
    dryRun: option.flag('--dry-run', 'show the plan and run nothing'),
    set: option.list('--set <key=value>', 'change the policy for this run (repeatable)'),
    yesGates: option.flag('--yes-gates', 'approve every gate in advance'),
    via: option.text(
      '--via <client>',
      'claude, codex, gemini, opencode, copilot or qwen for steps without a script',
    ),
    model: option.text('--model <provider:name>', 'a model for steps without a script'),
    baseUrl: option.text('--base-url <url>', 'the address of the model server'),
    tools: option.text(
      '--tools <names>',
      'built-in tools for the model: read,list,search,write,edit,shell or all',
    ),
    ...executeOptions,
    requireVerified: option.flag(
      '--require-verified',
      'a success needs a verification, not only the word of an agent',
    ),
    report: option.list(
      '--report <format[=file]>',
      'json, junit, github or html; - is stdout (repeatable)',
    ),
    events: option.optional(
      '--events [file]',
      'every event as a line of JSON; as in --events=FILE, else stdout',
    ),
  },
  examples: ['run release-check --report html=report.html'],
  async run(context, { arguments: [reference = '', ...given], ...values }) {
    wantsServer(values)
    const project = openProject(context)
    const changes = {
      set: values.set,
      ...askedSteps(values),
      ...(await askedInstructions(values)),
    }
    const planned = planNamed(project, reference, changes)
    if (values.dryRun) {
      const hint = 'Nothing runs, so there is nothing to report.'
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
  progress: runProgress,
  render: (result, screen) =>
    isPlan(result) ? renderPlanAnswer(result) : renderRun(result, screen),
  notes: (result, screen) => (isPlan(result) ? planNotes(result) : runNotes(result, screen)),
  exitCode: (result) => (isPlan(result) ? codeOfPlan(result) : codeOfRun(result)),
  formats: runFormats(runOf),
  jobSummary: true,
})

function isPlan(result: Result): result is PlanAnswer {
  return 'steps' in result
}

/** A report has nothing that only helps at a terminal. */
function runOf(result: Result): ShownRun {
  if (isPlan(result)) throw new Error('a plan has no report')
  const { continueWith: _, argumentsNeeded: _needed, timedOut: _timedOut, ...run } = result
  return run
}
