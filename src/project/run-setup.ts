import { refuseBelowAgent } from '#core/agent-ancestry'
import { dirname, join, resolve } from 'node:path'
import { contradiction, wrongUse } from '#core/errors'
import { isInside } from '#core/read-files'
import { stateDirectory, userDirectories } from '#core/runtime'
import { safeLine } from '#core/text'
import { type Grants, parseGrants, SandboxMissingError } from '#exec/sandbox/grants'
import { openSandbox } from '#exec/sandbox/open-sandbox'
import { lockReadOnce } from '#trust/lock'
import type { Executor } from '#chain/engine'
import type { RunConfinement } from '#chain/executors'
import { confinedSteps, type Plan } from '#chain/plan-model'
import type { RunSetup } from '#chain/run-chain'
import {
  type ChainProject,
  type GrantOptions,
  type InstructionChoice,
  refusalIn,
  type RunContext,
  runSettings,
} from './chains.ts'
import { signerOf, statementOf } from './signed-approvals.ts'
import type { EngineChoice } from './engines.ts'
import { recordedTree } from './work-tree.ts'

/** What a user allows the scripts of one command. Never read from a file or a journal. */
export interface ConfinementChoice extends GrantOptions {
  engine?: EngineChoice['engine']
}

/** The options of a command that executes a run. */
export interface ExecuteChoice extends InstructionChoice, ConfinementChoice {
  yesGates?: boolean | undefined
  /** Milliseconds after which the run is interrupted. */
  maxTime?: number | undefined
}

/**
 * The set-up of a run: what executes its steps and where, and who is told.
 *
 * @param signal interrupts the run
 * @throws {SandboxMissingError} if a script needs a sandbox and there is none
 * @throws {UsageError} for a grant that is invalid or would let a skill change itself
 * @throws {ChainPlanError} if the agent client of the steps is not installed
 */
export async function runSetup(
  project: ChainProject,
  plan: Plan,
  choice: ExecuteChoice,
  signal: AbortSignal = project.context.signal,
): Promise<RunSetup> {
  const { context, workspace, store, line, policy } = project
  refusePermissions(context, choice)
  return {
    runtime: context.runtime,
    workspace,
    store,
    settings: runSettings(project),
    confinement: await confinementFor(project, plan, choice),
    executors: await executorsOf(project, choice),
    refusalOf: refusalIn(project, lockReadOnce(policy.workspace)),
    yesGates: opensPlainGates(context, choice),
    isSigned: (runId, gate, { at, signature }) =>
      signature !== undefined &&
      signerOf(context, statementOf(runId, gate, at), signature.text) === signature.signer,
    readTree: () => recordedTree(workspace, context.runtime),
    signal,
    line,
    onProblem: (problem) => context.diagnose([problem]),
    onEvent: (event) => context.emit(event),
  }
}

/** A user's setting can ask for more than what `--yes-gates` is. */
function opensPlainGates({ settings, note }: RunContext, { yesGates }: ExecuteChoice): boolean {
  const { approval } = settings.rail
  if (yesGates !== true || approval === 'prompted') return yesGates === true
  note(`--yes-gates opens no gate: the setting rail.approval asks for one that is ${approval}`)
  return false
}

/** An agent may start a run, and may not give it permissions that are a user's. */
function refusePermissions(context: ChainProject['context'], choice: ExecuteChoice): void {
  const { yesGates, grant = [], unsafeNoSandbox } = choice
  if (yesGates === true) refuseBelowAgent(context, '--yes-gates')
  if (grant.length > 0) refuseBelowAgent(context, '--grant')
  if (unsafeNoSandbox === true) refuseBelowAgent(context, '--unsafe-no-sandbox')
}

/** The set-up of a run that executes no step, only a decision that is recorded in its journal. */
export function idleSetup({ context, workspace, store, line }: ChainProject): RunSetup {
  return {
    runtime: context.runtime,
    workspace,
    store,
    settings: context.settings.run,
    confinement: undefined,
    executors: [],
    refusalOf: undefined,
    yesGates: false,
    signal: context.signal,
    line,
    onProblem: () => undefined,
    onEvent: undefined,
  }
}

async function executorsOf(project: ChainProject, choice: ExecuteChoice): Promise<Executor[]> {
  // Workers have executors of their own.
  if (choice.engine === 'restate') return []
  if (choice.via === undefined && choice.model === undefined) return []
  const { executorsFor } = await import('./executors.ts')
  return await executorsFor(project, choice)
}

async function confinementFor(
  project: ChainProject,
  plan: Plan,
  { grant = [], unsafeNoSandbox = false, engine }: ConfinementChoice,
): Promise<RunConfinement | undefined> {
  const { context } = project
  if (grant.length > 0 && unsafeNoSandbox) {
    const hint = 'Without a sandbox a grant has no effect.'
    throw contradiction('--grant', '--unsafe-no-sandbox', hint)
  }
  const confined = confinedSteps(plan)
  const grants = grantsOf(project, grant)
  const [first] = confined
  if (!first) {
    const idle = unsafeNoSandbox ? '--unsafe-no-sandbox' : '--grant'
    if (unsafeNoSandbox || grant.length > 0) {
      context.note(`${idle} changes nothing: no script runs in a sandbox`)
    }
    return undefined
  }
  const missing = (reason: string, hint: string): SandboxMissingError =>
    new SandboxMissingError({
      code: 'sandbox-missing',
      message: `the scripts of the skill ${first.skill} run only in a sandbox, ${reason}`,
      hint,
    })
  if (engine === 'restate') {
    const hint = 'Run it on this machine: leave out --engine restate.'
    throw missing('which workers do not have', hint)
  }
  if (unsafeNoSandbox) {
    const names = [...new Set(confined.map(({ skill }) => safeLine(skill)))].join(', ')
    context.note(`--unsafe-no-sandbox: these run with all your rights: ${names}`)
    return 'off'
  }
  for (const { path } of confined) {
    refuseOwnSkill(dirname(resolve(project.workspace, path)), grants)
  }
  const probe = await openSandbox()
  if (probe.ok) return { sandbox: probe.sandbox, grants }
  const trust = first.trust === 'untrusted' ? ' Or trust the skill: skillrail trust.' : ''
  throw missing(`and ${probe.reason}`, `${probe.hint}${trust}`)
}

/** A skill that can write into its own directory could be another one at the next run. */
function refuseOwnSkill(directory: string, { write }: Grants): void {
  const grant = write.find((path) => isInside(path, directory) || isInside(directory, path))
  if (grant === undefined) return
  const message = `--grant write:${grant} would let the skill in ${directory} change itself`
  throw wrongUse(message, 'Name a directory beside it.')
}

function grantsOf(project: ChainProject, texts: readonly string[]): Grants {
  const { runtime } = project.context
  const { cwd, home, env } = runtime
  const guarded = [
    ...Object.values(userDirectories(runtime)),
    join(project.workspace, '.skillrail'),
    stateDirectory(project.context),
  ]
  const { grants, problems } = parseGrants(texts, { cwd, home, env, guarded })
  const [first] = problems
  if (!first) return grants
  const { grant, message, hint } = first
  throw wrongUse(`--grant ${grant}: ${message}`, hint)
}
