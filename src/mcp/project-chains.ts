import type { Context, Screen } from '../core/command.ts'
import { dirname, join } from 'node:path'
import { UsageError } from '../core/errors.ts'
import {
  type ChainProject,
  linesAgain,
  openProject,
  planKept,
  planNamed,
  type PlannedSkillRun,
  usablePlan,
} from '../chain/commands/project.ts'
import { runProgress } from '../chain/commands/run-text.ts'
import { openStepperWorld, withContent } from '../chain/commands/stepper.ts'
import { allSteps, type Plan, type PlannedChain, type PlannedStep } from '../chain/plan-model.ts'
import { argumentsOf, keepsArguments } from '../chain/run-arguments.ts'
import type { ChainEvent } from '../chain/engine.ts'
import {
  continueStepper,
  reportStep,
  startStepper,
  type StepperAnswer,
  stepperAnswer,
} from '../chain/stepper.ts'
import { readResult, type RunWorld } from '../chain/run-chain.ts'
import type { RunJournal } from '../chain/run-journal.ts'
import type { RunLine } from '../chain/run-line.ts'
import { runNotFound, RunStateError } from '../chain/errors.ts'
import { checkInvocation } from '../library/activation.ts'
import { discoverOptionsFrom } from '../library/discover.ts'
import { findSkill } from '../library/find-skill.ts'
import { SkillInvocationError } from '../skill/errors.ts'
import type { ChainAnswer, ChainSurroundings, ChainWorld, ScriptRun } from './world.ts'
import { plainJson } from './input.ts'
import { requestContext } from './project-tools.ts'

const plainScreen: Screen = {
  isTerminal: false,
  width: 100,
  quiet: false,
  verbose: false,
  stdoutTaken: true,
  style: (_format, text) => text,
  table: () => '',
}

/** Chains for the clients of our own server; every run is in its journal, and survives us. */
export function mcpChains(context: Context): ChainWorld {
  const progress = runProgress(plainScreen)
  const emit = (event: ChainEvent): void => {
    const { line } = progress.event(event) ?? {}
    if (line !== undefined) context.note(line)
  }
  const projectFor = (signal: AbortSignal): ChainProject =>
    openProject({ ...requestContext(context, signal), emit })
  const person = linesAgain(context)
  // Arguments that held a secret are in no journal; these are gone with this server.
  const given = new Map<string, readonly string[]>()
  // The runs whose scripts a user allowed, as long as this server lives.
  const allowed = new Set<string>()

  async function proceed(
    project: ChainProject,
    journal: RunJournal,
    { permit }: ChainSurroundings,
    go: (plan: Plan, world: RunWorld, given: readonly string[]) => Promise<StepperAnswer>,
  ): Promise<ChainAnswer> {
    const { runId, request, mode } = journal.run
    const plan = planForModel(planKept(project, { request, mode }))
    const whole = wholeArguments(project, journal, given.get(runId) ?? [])
    const run = scriptRun(plan, whole)
    if (run.scripts.length > 0 && !allowed.has(yesKey(runId, plan))) await permit(run)
    allowed.add(yesKey(runId, plan))
    const { world, end } = await openStepperWorld(project, plan, {})
    const answer = await end(go(plan, { ...world, line: toolLines(project) }, whole))
    keepYes(answer, plan)
    return { ...answered(project, plan, whole, answer), notes: notesOf(journal) }
  }

  /** What was interrupted, a user may have stopped: it is asked for anew. */
  function keepYes({ kind, runId }: StepperAnswer, plan: Plan): void {
    if (kind === 'next' || kind === 'approval') allowed.add(yesKey(runId, plan))
    else allowed.delete(yesKey(runId, plan))
  }

  return {
    async start(skill, words, { requireVerified, signal, permit }) {
      requireName(skill)
      const project = projectFor(signal)
      const { runtime, settings } = project.context
      checkInvocation(findSkill(skill, discoverOptionsFrom(runtime, settings)), 'model')
      const changes = { set: [], from: undefined, only: undefined }
      const planned = planNamed(project, skill, changes, 'stepper')
      const plan = planForModel(planned)
      const scripted = scriptRun(plan, words)
      if (scripted.scripts.length > 0) await permit(scripted)
      const request = { directory: planned.directory, ...changes }
      const run = { arguments: words, request, requireVerified }
      const { world, end } = await openStepperWorld(project, plan, {})
      const answer = await end(startStepper(plan, run, { ...world, line: toolLines(project) }))
      keepYes(answer, plan)
      given.set(answer.runId, words)
      return answered(project, plan, words, answer)
    },
    async report({ runId, step, status, result, errors, metrics }, surroundings) {
      const project = projectFor(surroundings.signal)
      const journal = steppedRun(project, runId)
      const output = {
        status,
        result,
        errors: errors.map((message) => ({ code: 'reported', message })),
        metrics: { ...metrics },
        evidence: 'self-reported' as const,
      }
      return await proceed(project, journal, surroundings, async (plan, world, whole) =>
        reportStep({ runId, step, output }, plan, world, whole),
      )
    },
    async next(runId, surroundings) {
      const project = projectFor(surroundings.signal)
      const journal = steppedRun(project, runId)
      const { run, status } = journal
      if (status === 'success' || status === 'failure' || status === 'critical') {
        const result = await readResult(journal, context.runtime)
        const answer = answered(project, journal.plan, run.arguments, stepperAnswer(result))
        return { ...answer, notes: notesOf(journal) }
      }
      return await proceed(project, journal, surroundings, async (plan, world, whole) =>
        continueStepper(runId, plan, world, whole),
      )
    },
    async status(runId) {
      const project = projectFor(context.signal)
      const journal = runOfClients(project, runId)
      const result = await readResult(journal, context.runtime)
      const answer = stepperAnswer(result)
      const next = answer.kind === 'next' ? answer.next : []
      const waiting =
        answer.kind === 'approval'
          ? { step: answer.step, line: person('runs approve', runId) }
          : undefined
      const { diagnostics } = journal
      const damage = diagnostics.length === 0 ? {} : { diagnostics }
      return plainJson({ runId, status: result.status, next, waiting, result, ...damage })
    },
  }
}

/** A user may continue a changed plan at a terminal; the yes was to the plan as it was. */
function yesKey(runId: string, { digest }: Plan): string {
  return `${runId} ${digest}`
}

/**
 * What a model starts, it starts with all of its steps: one that a user alone may start keeps the
 * whole for a user, whoever wrote it into the chain.
 *
 * @throws {SkillInvocationError} with the name of that step; what {@link usablePlan} throws
 */
function planForModel(planned: PlannedSkillRun): Plan {
  const { skill, root } = planned.plan
  const withheld = withheldStep(root)
  if (withheld === undefined) return usablePlan(planned)
  const { step, skill: own } = withheld
  const what = step === '' ? `Skill ${own} may` : `The step ${step} of ${skill} may`
  throw new SkillInvocationError({
    code: 'model-invocation-disabled',
    message: `${what} not be started by a model: its skill ${own} sets disable-model-invocation.`,
    hint: `A user can run it: skillrail run ${skill}, or step by step: skillrail chain start ${skill}`,
  })
}

function withheldStep(root: PlannedChain): PlannedStep | undefined {
  return [root, ...allSteps(root)].find(
    ({ personOnly, excluded }) => personOnly === true && excluded !== true,
  )
}

/**
 * Of the runs of a project, clients see those that they could drive. Of the others they do not learn
 * that they are there.
 *
 * @throws {RunNotFoundError} as for a run that is none
 */
function runOfClients({ store }: ChainProject, runId: string): RunJournal {
  const journal = store.read(runId)
  const { run, plan } = journal
  if (run.mode === 'stepper' && withheldStep(plan.root) === undefined) return journal
  throw runNotFound(runId)
}

/** @throws {UsageError} for a run that a user has stopped */
function steppedRun(project: ChainProject, runId: string): RunJournal {
  const journal = runOfClients(project, runId)
  if (journal.status !== 'cancelled') return journal
  throw new UsageError({
    code: 'run-not-yours',
    message: `the run ${runId} was stopped by a user`,
    hint: `A user can resume it: ${linesAgain(project.context)('runs resume', runId)}`,
  })
}

/** Everything of a plan that is executed here, checks of steps too. */
function scriptRun({ skill, root }: Plan, given: readonly string[]): ScriptRun {
  const scripts = [root, ...allSteps(root)].flatMap((step) => {
    if (step.excluded === true) return []
    const script = step.executor === 'script' ? step.script : undefined
    const sandboxed = step.sandboxed === true
    const { skill: name, path } = step
    const directory = dirname(path)
    return [script, step.verify].flatMap((file) =>
      file === undefined
        ? []
        : [{ step: step.step || name, path: join(directory, file), sandboxed }],
    )
  })
  return { skill, given, scripts }
}

/** A path could lead anywhere; what a model may start is installed. */
function requireName(skill: string): void {
  if (!/[/\\]/.test(skill) && skill !== '.' && skill !== '..') return
  throw new UsageError({
    code: 'wrong-use',
    message: `${JSON.stringify(skill)} is a path; a chain is started by the name of its skill`,
    hint: 'List skills with: find_skills',
  })
}

function answered(
  project: ChainProject,
  plan: Plan,
  given: readonly string[],
  answer: StepperAnswer,
): ChainAnswer {
  const { dismissed } = answer
  const standing = standingOf(project, plan, given, answer)
  return dismissed === undefined ? standing : { ...standing, dismissed: { ...dismissed } }
}

function standingOf(
  project: ChainProject,
  plan: Plan,
  given: readonly string[],
  answer: StepperAnswer,
): ChainAnswer {
  const { runId } = answer
  switch (answer.kind) {
    case 'next': {
      const trusted = new Set(
        allSteps(plan.root).flatMap(({ step, trust }) => (trust === 'trusted' ? [step] : [])),
      )
      const next = withContent(project, plan, given, answer.next).map((handed) => ({
        ...handed,
        trusted: trusted.has(handed.step),
      }))
      return { kind: 'next', runId, next }
    }
    case 'approval':
      return {
        kind: 'waiting',
        runId,
        step: answer.step,
        line: linesAgain(project.context)('runs approve', runId),
      }
    case 'ended':
    case 'interrupted': {
      const { result } = answer
      return { kind: 'ended', runId, status: result.status, result: plainJson(result) }
    }
  }
}

/** @throws {RunStateError} where they held a secret, and the server that was given them is gone */
function wholeArguments(
  { context }: ChainProject,
  journal: RunJournal,
  given: readonly string[],
): readonly string[] {
  if (given.length > 0 || keepsArguments(journal)) return argumentsOf(journal, given)
  const { runId } = journal.run
  throw new RunStateError({
    code: 'arguments-needed',
    message: `the arguments of the run ${runId} held a secret, and secrets are not kept`,
    hint: `A user can type: ${linesAgain(context)('chain next', runId)}, behind it -- and those arguments. Or begin again with chain_start.`,
  })
}

/** What is wrong with its journal, such as a torn last line. */
function notesOf({ diagnostics }: RunJournal): string[] {
  return diagnostics.map(({ message }) => `In the journal of the run, ${message}.`)
}

/** A client has tools for some of it; the rest a user has to type. */
function toolLines({ context }: ChainProject): RunLine {
  const person = linesAgain(context)
  const tools = {
    'chain next': 'chain_next',
    'chain report': 'chain_report',
    'runs show': 'chain_status',
  }
  return (command, ...words) => {
    const tool = Object.entries(tools).find(([name]) => name === command)?.[1]
    return tool ?? `${person(command, ...words)} (for a user to type)`
  }
}
