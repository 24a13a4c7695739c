import { defineCommand, type Note, option } from '#core/command'
import { contradiction, exitCode, type ExitCode } from '#core/errors'
import { linesText, safeLine } from '#core/text'
import type { ChainEvent } from '#chain/engine'
import { renderPlan, renderPlanMermaid } from '#chain/plan-model'
import type { RunAnswer } from '#chain/run-answer'
import { ChainPlanError } from '#chain/errors'
import type { RunContext } from '#project/chains'
import { engineOptions, wantsServer } from '#project/engines'
import { type PlanAnswer, type PlanOptions, planSkill, runSkill } from '#project/runs'
import { planForClients, type RailPlan } from '#rail/plan'
import { railLine } from '#hooks/status'
import { confinementOptions, executeOptions, instructionOptions, reportOptions } from './options.ts'
import { runFormats, runNotes, runShown } from './run-text.ts'

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
    ...reportOptions,
  },
  examples: ['run release-check --report html=report.html'],
  async run(context, { arguments: [name = '', ...words], ...values }) {
    if (values.dryRun) {
      wantsServer(values)
      const hint = 'Nothing runs.'
      if (values.report.length > 0) throw contradiction('--dry-run', '--report', hint)
      if (values.events !== undefined) throw contradiction('--dry-run', '--events', hint)
      return await planSkill(context, name, values)
    }
    try {
      return await runSkill(context, { name, arguments: words }, values)
    } catch (error) {
      throw await withRailHint(error, context, name, values)
    }
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

/** Says how an agent client executes a chain that nothing here can run, or what it lacks. */
async function withRailHint(
  error: unknown,
  context: RunContext,
  name: string,
  options: PlanOptions,
): Promise<unknown> {
  if (!(error instanceof ChainPlanError) || error.hint !== undefined) return error
  const { code, message, diagnostics } = error
  if (!diagnostics.some((one) => one.code === 'no-executor')) return error
  const plan = await planForClients(context, name, options)
  const rail = plan.diagnostics.find((one) => one.code === 'rail-executes')
  const planned = plan.diagnostics.find((one) => one.code === 'no-executor')
  const hint = rail && `Or ${rail.message}.`
  const hinted = diagnostics.map((one) =>
    one.code === 'no-executor' ? { ...one, hint: planned?.hint ?? one.hint } : one,
  )
  return new ChainPlanError(code, message, hint, { diagnostics: hinted, cause: error })
}

function isPlan(result: Result): result is PlanAnswer {
  return 'steps' in result
}

export const planCommand = defineCommand<RailPlan>()({
  arguments: { '<skill>': 'a name, a directory, or a SKILL.md' },
  options: {
    format: option.choice('--format <format>', 'text or mermaid', {
      choices: ['text', 'mermaid'],
      default: 'text',
    }),
    client: option.text('--client <client>', 'what this agent client enforces of the plan'),
    ...instructionOptions,
  },
  examples: ['chain plan release-check --format mermaid', 'chain plan release --client claude'],
  async run(context, { arguments: [name = ''], ...values }) {
    const answer = await planForClients(context, name, values)
    // A drawing has no notes.
    if (values.format === 'mermaid') {
      context.diagnose(answer.diagnostics)
      if (answer.sandbox !== undefined) context.note(answer.sandbox)
    }
    return answer
  },
  render: (answer, screen) => renderPlan(answer, screen) + clientText(answer),
  notes: planNotes,
  exitCode: codeOfPlan,
  formats: { mermaid: (answer) => renderPlanMermaid(answer) },
})

function clientText({ client }: RailPlan): string {
  if (client === undefined) return ''
  const { title, rail, unread, enforced, limits } = client
  const state = railLine({ ...client, platform: client.client })
  return linesText([
    '',
    `${title}: ${rail.state === 'ready' && unread !== undefined ? safeLine(unread) : state}`,
    rail.state !== 'ready' && unread !== undefined && `${title}: ${safeLine(unread)}`,
    ...enforced.map((sentence) => `  ${safeLine(sentence)}`),
    limits.length > 0 && 'What it cannot do:',
    ...limits.map(({ text }) => `  ${text}`),
  ])
}

function planNotes({ diagnostics, sandbox }: PlanAnswer): Note[] {
  return [...diagnostics, ...(sandbox === undefined ? [] : [sandbox])]
}

/** Whether the plan could run: 4 without trust, 3 with another error, or if the client does not read the chain. */
function codeOfPlan({ diagnostics, client }: RailPlan): ExitCode {
  if (diagnostics.some(({ code }) => code === 'skill-not-trusted')) return exitCode.refused
  const broken = diagnostics.some(({ severity }) => severity === 'error')
  const isUnread = client?.unread !== undefined
  return broken || isUnread ? exitCode.notFound : exitCode.done
}
