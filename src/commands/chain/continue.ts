import { defineCommand, option, type Screen } from '#core/command'
import type { ChainEvent } from '#chain/engine'
import type { RunAnswer } from '#chain/run-answer'
import { decideGate } from '#project/approvals'
import { type RepeatedRun, repeatRun } from '#project/repeat-run'
import { resumeStored } from '#project/continue-run'
import {
  confinementOptions,
  executeOptions,
  reportOptions,
  runArgument,
  runArguments,
} from './options.ts'
import { runFormats, runNotes, runShown } from './run-text.ts'
import { stepperShown } from './stepper.ts'

/** What every command that continues a run writes, like `run`. */
const continued = {
  ...runShown,
  notes: runNotes,
  formats: runFormats((run: RunAnswer) => run),
  jobSummary: true,
} as const

export const resume = defineCommand<RunAnswer, ChainEvent>()({
  arguments: runArguments,
  options: {
    ...confinementOptions,
    force: option.flag('--force', 'continue although the skills have changed'),
    ...executeOptions,
    ...reportOptions,
  },
  examples: ['runs resume 0mh2k9x0ab12cd'],
  run: async (context, { arguments: [name = '', ...words], force, ...values }) =>
    resumeStored(context, { name, arguments: words, force }, values),
  ...continued,
})

const repeatShown = {
  notes: (result: RepeatedRun, screen: Screen) => (isRun(result) ? runNotes(result, screen) : []),
  formats: runFormats(reportedRun),
  jobSummary: true,
  progress: runShown.progress,
  render: (result: RepeatedRun, screen: Screen) =>
    isRun(result) ? runShown.render(result, screen) : stepperShown.render(result, screen),
  exitCode: (result: RepeatedRun) =>
    isRun(result) ? runShown.exitCode(result) : stepperShown.exitCode(result),
}

export const retry = defineCommand<RepeatedRun, ChainEvent>()({
  arguments: runArguments,
  options: { ...confinementOptions, ...executeOptions, ...reportOptions },
  examples: ['runs retry 0mh2k9x0ab12cd'],
  run: async (context, { arguments: [name = '', ...words], ...values }) =>
    repeatRun(context, { name, arguments: words }, { kind: 'retry' }, values),
  ...repeatShown,
})

export const fork = defineCommand<RepeatedRun, ChainEvent>()({
  arguments: runArguments,
  options: {
    ...confinementOptions,
    from: option.text('--from <step>', 'the first step that is executed again', { required: true }),
    ...executeOptions,
    ...reportOptions,
  },
  examples: ['runs fork 0mh2k9x0ab12cd --from deploy'],
  run: async (context, { arguments: [name = '', ...words], from, ...values }) =>
    repeatRun(context, { name, arguments: words }, { kind: 'fork', from }, values),
  ...repeatShown,
})

function reportedRun(result: RepeatedRun): RunAnswer {
  if (!isRun(result)) throw new Error('a run of the stepper has no report: repeatRun refuses one')
  return result
}

function isRun(result: RepeatedRun): result is RunAnswer {
  return 'attempts' in result
}

const stepOption = option.text('--step <step>', 'which step, if several wait')
const reasonOption = option.text('--reason <text>', 'why; recorded, and told to steps done again')

export const approve = defineCommand<RunAnswer, ChainEvent>()({
  arguments: runArguments,
  options: {
    ...confinementOptions,
    step: stepOption,
    reason: reasonOption,
    sign: option.flag('--sign', 'sign the approval with your SSH key, for gate=signed'),
    ...reportOptions,
  },
  examples: ['runs approve 0mh2k9x0ab12cd'],
  run: async (context, { arguments: [name = '', ...words], step, reason, sign, ...values }) =>
    decideGate(context, { name, step, reason, arguments: words, approved: true, sign }, values),
  ...continued,
})

export const reject = defineCommand<RunAnswer, ChainEvent>()({
  arguments: runArgument,
  options: { step: stepOption, reason: reasonOption, ...reportOptions },
  examples: ['runs reject 0mh2k9x0ab12cd --reason "the tests are missing"'],
  run: async (context, { arguments: [name = ''], step, reason }) =>
    decideGate(context, { name, step, reason, arguments: [], approved: false }, {}),
  ...continued,
})
