import { dirname, join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '#core/errors'
import { safeText } from '#core/text'
import { approveOptions } from '#project/gates'
import { type ChainProject, linesAgain, openProject } from '#project/chains'
import {
  endedSteps,
  nextSteps,
  planAgain,
  planForStepper,
  reportAboutStep,
  standingOfSteps,
  startSteps,
  type StepperOptions,
  stepperRequest,
  type StepperResult,
  type StepperRun,
  usableByModel,
  withheldStep,
} from '#project/stepper'
import { refuseOtherChain } from '#rail/refuse'
import { claimInRail, standingInRail } from '#rail/claim'
import type { Claim } from '#rail/session'
import { runNotFound, RunStateError } from '#chain/errors'
import { allSteps, type Plan } from '#chain/plan-model'
import { argumentsOf, keepsArguments, type RunLine } from '#chain/run-line'
import type { RunJournal } from '#chain/run-journal'
import { checkInvocation } from '#library/activation'
import { findSkill } from '#library/find-skill'
import { askForYes, askWithinBounds, howToAllow } from './ask-user.ts'
import type { ServedProject } from './served-project.ts'
import { untrustedNote } from './skill-tools.ts'
import {
  changeAnnotations,
  type ClientCall,
  defineTool,
  nameOf,
  type OfferedTool,
  plainJson,
  readAnnotations,
  textOf,
  type ToolAnswer,
} from './tool.ts'

const output = z.object({
  run: z.string(),
  status: z.string(),
  next: z.array(z.object({ step: z.string(), skill: z.string(), attempt: z.number() })).optional(),
  waiting: z.object({ step: z.string(), line: z.string() }).optional(),
  result: z.object({}).optional(),
  dismissed: z.object({ step: z.string(), code: z.string(), message: z.string() }).optional(),
})

const run = nameOf('As chain_start gave it.')
const texts = z.array(z.string())

export function chainTools(project: ServedProject): OfferedTool[] {
  const runs = new ServedRuns(project)
  return [
    defineTool({
      name: 'chain_start',
      title: 'Start a chain',
      description:
        'Starts a chain of skills and gives the instructions of its first step. Carry them out, then call chain_report, which gives the next one. Scripts run by themselves, after the yes of the user.',
      input: z.strictObject({
        skill: nameOf('The name of the chain.'),
        arguments: texts.default([]).describe('For every step.'),
        require_verified: z
          .boolean()
          .default(false)
          .describe('A success needs more than your word.'),
      }),
      output,
      annotations: changeAnnotations,
      run: (input, call) => runs.start(input.skill, input.arguments, input.require_verified, call),
    }),
    defineTool({
      name: 'chain_report',
      title: 'Report a step',
      description: 'Reports the result of the step that was handed out, and gives the next one.',
      input: z.strictObject({
        run,
        step: nameOf('The one that was handed out.'),
        attempt: z.int().min(1).optional().describe('Its attempt, as it was handed out.'),
        status: z
          .enum(['success', 'failure', 'critical', 'question'])
          .describe(
            'How the step ended; critical can stop the chain; question waits for the user, in a rail.',
          ),
        result: textOf('What was done, in a sentence.').default(''),
        errors: texts.default([]).describe('What is wrong.'),
        metrics: z
          .record(z.string(), z.number())
          .default({})
          .describe('Numbers about it, by name.'),
      }),
      output,
      annotations: changeAnnotations,
      async run({ run: runId, step, attempt, errors, status, ...report }, call) {
        const claim = { status, result: report.result, errors }
        const claimed = runs.claim(runId, { step, attempt, claim }, call)
        if (claimed) return claimed
        if (status === 'question') {
          const message = 'the status question is for a chain that runs as a rail'
          throw new UsageError({
            code: 'option-value',
            message,
            hint: 'Ask the user, then report.',
          })
        }
        const reported = errors.map((message) => ({ code: 'reported', message }))
        const done = { ...report, status, errors: reported, evidence: 'self-reported' as const }
        return await runs.proceed(runId, call, (chain, steps, options) =>
          reportAboutStep(chain, steps, { step, attempt, output: done }, options),
        )
      },
    }),
    defineTool({
      name: 'chain_next',
      title: 'Continue a chain',
      description: 'Gives the current step once more, also after a restart.',
      input: z.strictObject({ run }),
      output,
      annotations: changeAnnotations,
      run: (input, call) => runs.next(input.run, call),
    }),
    defineTool({
      name: 'chain_status',
      title: 'Show a chain',
      description: 'Shows what is done and what waits. Runs nothing.',
      input: z.strictObject({ run }),
      annotations: readAnnotations,
      run: (input, call) => runs.status(input.run, call),
    }),
  ]
}

class ServedRuns {
  readonly #project: ServedProject
  readonly #lines: RunLine
  readonly #arguments = new Map<string, readonly string[]>()
  /**
   * Runs whose scripts the user allowed, with the digest of their plan: another plan needs a yes.
   */
  readonly #allowed = new Set<string>()

  constructor(project: ServedProject) {
    this.#project = project
    this.#lines = linesAgain(project.context)
  }

  async start(
    skill: string,
    words: readonly string[],
    requireVerified: boolean,
    call: ClientCall,
  ): Promise<ToolAnswer> {
    // A path could lead anywhere, so a model may only start installed skills.
    if (/[/\\]/.test(skill) || skill === '.' || skill === '..') {
      throw new UsageError({
        code: 'wrong-use',
        message: `${JSON.stringify(skill)} is a path, not the name of a skill`,
        hint: 'List skills with: find_skills',
      })
    }
    const project = this.#open(call)
    checkInvocation(findSkill(skill, this.#project.discovery), 'model')
    const planned = planForStepper(project, skill)
    const plan = await usableByModel(project, planned)
    await this.#requireScripts(plan, words, call)
    const chain = { plan, request: stepperRequest(planned), arguments: words, requireVerified }
    refuseOtherChain(project.context, project.workspace, chain.plan.skill)
    return this.#answer(chain, await startSteps(project, chain, this.#options))
  }

  async next(runId: string, call: ClientCall): Promise<ToolAnswer> {
    const project = this.#open(call)
    const standing = standingInRail(project.context.runtime, runId)
    if (standing !== undefined) return { text: standing, value: { run: runId, status: 'rail' } }
    const journal = drivenRun(project, runId)
    const ended = await endedSteps(project, journal)
    if (!ended) return await this.proceed(runId, call, nextSteps)
    return { ...answered(journal.plan, ended), notes: notesOf(journal) }
  }

  /**
   * In a rail, the end of the agent's turn decides about a report; undefined for every other run.
   */
  claim(
    runId: string,
    report: { step: string; attempt: number | undefined; claim: Claim },
    call: ClientCall,
  ): ToolAnswer | undefined {
    const { context } = this.#open(call)
    const claimed = claimInRail(context.runtime, { runId, ...report })
    if (!claimed) return undefined
    const text = `Recorded. End your turn now: ${claimed.chain} continues there.`
    return { text, value: { run: runId, status: 'claimed' } }
  }

  /** Continues a run, which the user may have changed meanwhile, after a yes to its scripts. */
  async proceed(
    runId: string,
    call: ClientCall,
    execute: (
      project: ChainProject,
      steps: StepperRun,
      options: StepperOptions,
    ) => Promise<StepperResult>,
  ): Promise<ToolAnswer> {
    const project = this.#open(call)
    const journal = drivenRun(project, runId)
    if (journal.status === 'cancelled') {
      throw new UsageError({
        code: 'run-not-yours',
        message: `the run ${runId} was stopped by a user`,
        hint: `A user can resume it: ${this.#lines('runs resume', runId)}`,
      })
    }
    const plan = await usableByModel(project, planAgain(project, journal))
    const steps = { runId, plan, arguments: this.#argumentsOf(journal) }
    const key = yesKey(runId, plan)
    if (!this.#allowed.has(key)) await this.#requireScripts(plan, steps.arguments, call)
    this.#allowed.add(key)
    const answer = this.#answer(steps, await execute(project, steps, this.#options))
    return { ...answer, notes: notesOf(journal) }
  }

  get #options(): StepperOptions {
    return { line: toolLines(this.#lines) }
  }

  #answer(
    { plan, arguments: words }: Pick<StepperRun, 'plan' | 'arguments'>,
    result: StepperResult,
  ): ToolAnswer {
    const key = yesKey(result.runId, plan)
    this.#arguments.set(result.runId, words)
    // If it was interrupted, perhaps by a user, it needs a new yes.
    if (result.next || result.waiting) this.#allowed.add(key)
    else this.#allowed.delete(key)
    return answered(plan, result)
  }

  async status(runId: string, call: ClientCall): Promise<ToolAnswer> {
    const project = this.#open(call)
    const journal = drivenRun(project, runId)
    const { result, answer } = await standingOfSteps(project, journal)
    const status = {
      run: runId,
      status: result.status,
      next: answer.kind === 'next' ? answer.next : [],
      waiting:
        answer.kind === 'approval'
          ? {
              step: answer.step,
              line: this.#lines(
                'runs approve',
                runId,
                approveOptions(journal.plan, answer.step, project.context.settings),
              ),
            }
          : undefined,
      result,
      diagnostics: journal.diagnostics.length === 0 ? undefined : journal.diagnostics,
    }
    return { text: JSON.stringify(status) }
  }

  #open({ signal }: ClientCall): ChainProject {
    return openProject({ ...this.#project.during(signal), emit: () => undefined })
  }

  /**
   * @throws {RunStateError} if they contained a secret and the server that received them has ended
   */
  #argumentsOf(journal: RunJournal): readonly string[] {
    const { runId } = journal.run
    const words = this.#arguments.get(runId) ?? []
    if (words.length > 0 || keepsArguments(journal)) return argumentsOf(journal, words)
    throw new RunStateError(
      'arguments-needed',
      `the arguments of the run ${runId} contained a secret and are not stored`,
      `A user can type: ${this.#lines('chain next', runId)} -- and those arguments. Or begin again with chain_start.`,
    )
  }

  async #requireScripts(plan: Plan, words: readonly string[], { ask }: ClientCall): Promise<void> {
    const scripts = scriptsOf(plan)
    const { yes } = this.#project
    if (yes || scripts.length === 0) return
    const facts = [`Skill: ${plan.skill}`, `Arguments: ${JSON.stringify(words)}`, ...scripts]
    const text = safeText(facts.join('\n'))
    const boundedAsk = askWithinBounds(ask)
    const question = `Scripts would be run on this machine.\n${text}`
    if (boundedAsk && (await askForYes(boundedAsk, question, 'Run them'))) return
    throw new UsageError({
      code: ask ? 'run-declined' : 'run-needs-yes',
      message: ask ? `nothing was run:\n${text}` : `scripts need a yes:\n${text}`,
      hint: howToAllow(ask, yes, 'skillrail run'),
    })
  }
}

function yesKey(runId: string, { digest }: Plan): string {
  return `${runId} ${digest}`
}

/**
 * Returns a run that a client can drive. Other runs count as unknown ({@link RunNotFoundError}).
 */
function drivenRun({ store }: ChainProject, runId: string): RunJournal {
  const journal = store.read(runId)
  if (journal.run.mode === 'stepper' && !withheldStep(journal.plan)) return journal
  throw runNotFound(runId)
}

function scriptsOf({ root }: Plan): string[] {
  return [root, ...allSteps(root)].flatMap((step) => {
    if (step.excluded === true) return []
    const script = step.executor === 'script' ? step.script : undefined
    const sandbox = step.sandboxed === true ? ' (in the sandbox)' : ''
    const check = step.check === undefined ? [] : [`Check of ${step.step}: ${step.check}`]
    const files = [script, step.verify].flatMap((file) => {
      if (file === undefined) return []
      return `Script of ${step.step || step.skill}: ${join(dirname(step.path), file)}${sandbox}`
    })
    return [...files, ...check]
  })
}

function notesOf({ diagnostics }: RunJournal): string[] {
  return diagnostics.map(({ message }) => `In the journal of the run, ${message}.`)
}

/** Makes lines for a model: a tool if one does the same, otherwise a command that a user types. */
function toolLines(lines: RunLine): RunLine {
  const tools = new Map<string, string>([
    ['chain next', 'chain_next'],
    ['chain report', 'chain_report'],
    ['runs show', 'chain_status'],
  ])
  return (command, ...words) =>
    tools.get(command) ?? `${lines(command, ...words)} (for a user to type)`
}

function answered(
  plan: Plan,
  { runId: run, dismissed, next = [], waiting, result }: StepperResult,
): ToolAnswer {
  const late = dismissed
    ? `The report about ${dismissed.step} came too late and does not count: ${dismissed.message}.\n\n`
    : ''
  const answerWith = (text: string, value: object): ToolAnswer => ({
    text: `${late}${text}`,
    value: plainJson({ run, ...value, dismissed }),
  })
  if (result) {
    const { status } = result
    return answerWith(`The chain has ended: ${status}.\n${JSON.stringify(result)}`, {
      status,
      result,
    })
  }
  if (waiting) {
    const { step, approveWith: line } = waiting
    const text = `${step} waits for a user, who types: ${line}\nThen continue with chain_next.`
    return answerWith(text, { status: 'waiting', waiting: { step, line } })
  }
  const steps = allSteps(plan.root)
  const instructions = next.map(({ step, skill, attempt, content }) => {
    const isTrusted = steps.some((one) => one.step === step && one.trust === 'trusted')
    const note = isTrusted ? '' : `${untrustedNote(skill)}\n\n`
    return `${note}${content}\n\nStep ${step} of run ${run}. When it is done, call chain_report with run ${JSON.stringify(run)}, step ${JSON.stringify(step)} and attempt ${attempt}.`
  })
  const stepFacts = next.map(({ step, skill, attempt }) => ({ step, skill, attempt }))
  return answerWith(instructions.join('\n\n'), { status: 'next', next: stepFacts })
}
