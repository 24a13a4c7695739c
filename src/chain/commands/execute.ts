import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { option, type OptionSpecs, type Values } from '#core/command'
import { contradiction, pointless, SkillrailError, wrongUse } from '#core/errors'
import { isInside } from '#core/read-files'
import { stateDirectory, userDirectories } from '#core/runtime'
import { safeLine } from '#core/text'
import { childEnvironment, runProcess } from '#exec/process'
import { type Grants, parseGrants, SandboxMissingError } from '#exec/sandbox/grants'
import { openSandbox } from '#exec/sandbox/open-sandbox'
import { lockReadOnce } from '#trust/lock'
import type { RunResult, RunStatus } from '#chain/engine'
import { RunBusyError, RunStateError } from '#chain/errors'
import type { RunConfinement } from '#chain/executors'
import { confinedSteps, type Plan } from '#chain/plan-model'
import type { ServerAddress } from '#chain/restate/client'
import {
  cancelRun,
  type NewRun,
  planChanged,
  refuseImported,
  resumeRun,
  type Resumption,
  type RunSetup,
  startRun,
} from '#chain/run-chain'
import { isOpen, type RunJournal } from '#chain/run-journal'
import { keepsArguments } from '#chain/run-line'
import type { RunStore } from '#chain/run-store'
import { isFailed } from '#chain/step-result'
import {
  type ChainProject,
  type GrantOptions,
  type InstructionChoice,
  openProject,
  planKept,
  refusalIn,
  type RunContext,
  runSettings,
  usablePlan,
} from './project.ts'
import { answerWith, type RunAnswer } from './run-text.ts'

export const executeOptions = {
  maxTime: option.seconds('--max-time <seconds>', 'stop the run after this time'),
} as const satisfies OptionSpecs

export const runArgument = { '<run>': 'the run ID, the beginning of one, or latest' } as const

export const runArguments = {
  ...runArgument,
  '[arguments...]': 'the arguments again, if they held a secret',
} as const

export interface ExecuteChoice extends InstructionChoice, ConfinementChoice {
  yesGates?: boolean | undefined
  maxTime?: number | undefined
}

export async function executeRun(
  project: ChainProject,
  plan: Plan,
  choice: ExecuteChoice,
  work: (setup: RunSetup) => Promise<RunResult>,
): Promise<RunAnswer> {
  const { context, store, line } = project
  const { maxTime } = choice
  const limit = maxTime === undefined ? undefined : AbortSignal.timeout(maxTime)
  const setup = await runSetup(project, plan, choice)
  // Workers have executors of their own.
  const isLocal = choice.engine !== 'restate'
  const hasOthers = isLocal && (choice.via !== undefined || choice.model !== undefined)
  const executors = hasOthers
    ? await (await import('./executors.ts')).executorsFor(project, choice)
    : []
  const result = await work({
    ...setup,
    executors,
    refusalOf: refusalIn(project, lockReadOnce(project.policy.workspace)),
    signal: limit ? AbortSignal.any([context.signal, limit]) : context.signal,
    yesGates: choice.yesGates,
  })
  const isOver = limit?.aborted === true && !context.signal.aborted
  const timedOut = isOver && result.status === 'interrupted'
  if (timedOut && maxTime !== undefined) {
    context.note(`The run was ended after ${maxTime / 1000} s (--max-time).`)
  }
  const argumentsNeeded =
    (result.status !== 'success' && lacksArguments(store, result.runId)) || undefined
  const answer = answerWith(result, { line, argumentsNeeded })
  const told = timedOut ? { ...answer, timedOut } : answer
  await notify(project, told)
  return told
}

export async function runSetup(
  project: ChainProject,
  plan: Plan,
  choice: ConfinementChoice,
): Promise<RunSetup> {
  const { context, workspace, store, line } = project
  return {
    runtime: context.runtime,
    workspace,
    store,
    settings: runSettings(project),
    confinement: await confinementFor(project, plan, choice),
    line,
    refusalOf: refusalIn(project),
    signal: context.signal,
    onProblem: (problem) => context.diagnose([problem]),
    onEvent: (event) => context.emit(event),
  }
}

/** A journal that a step has deleted or changed has an error of its own. */
function lacksArguments(store: RunStore, runId: string): boolean {
  try {
    return !keepsArguments(store.read(runId))
  } catch (error) {
    if (error instanceof SkillrailError) return false
    throw error
  }
}

export function choiceOf({ run }: RunJournal, values: ExecuteChoice): ExecuteChoice {
  const { via, model, baseUrl, tools } = run.request
  return { ...values, via, model, baseUrl, tools, engine: run.server?.engine }
}

/** What a user allows the scripts of a run that are not trusted. Never read from a file. */
export const confinementOptions = {
  grant: option.list(
    '--grant <what>',
    'give the sandbox read:PATH, write:PATH, net:* or env:NAME (repeatable)',
  ),
  unsafeNoSandbox: option.flag('--unsafe-no-sandbox', 'run untrusted scripts with all your rights'),
} as const satisfies OptionSpecs

export interface ConfinementChoice extends GrantOptions {
  engine?: EngineChoice['engine']
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

const patienceMs = 10_000

export async function notify(
  { context, workspace }: ChainProject,
  run: { runId: string; status: RunStatus },
): Promise<void> {
  const { runtime, settings, signal } = context
  const { notify: command } = settings.run
  if (command === '' || run.status === 'cancelled' || signal.aborted) return
  const isWindows = runtime.platform === 'win32'
  const { end } = await runProcess({
    file: isWindows ? 'cmd' : '/bin/sh',
    args: isWindows ? ['/d', '/s', '/c', command] : ['-c', command],
    cwd: workspace,
    env: childEnvironment(runtime, Object.keys(runtime.env), {}),
    stdin: JSON.stringify(run),
    outputLimit: 1024,
    timeoutMs: patienceMs,
    signal,
  })
  if (end.kind === 'exit' && end.code === 0) return
  const why = end.kind === 'exit' ? `ended with exit code ${end.code}` : `failed (${end.kind})`
  context.diagnose([
    {
      code: 'notify-failed',
      severity: 'warning',
      message: `the command of run.notify ${why}`,
      path: command,
    },
  ])
}

export const engineOptions = {
  engine: option.choice('--engine <name>', 'journal (default): here; restate: by workers', {
    choices: ['journal', 'restate'],
  }),
  url: option.text('--url <url>', 'the ingress of the Restate server'),
  adminUrl: option.text('--admin-url <url>', 'its admin interface'),
} as const satisfies OptionSpecs

export type EngineChoice = Partial<Omit<Values<typeof engineOptions>, 'arguments'>>

export async function resumeOn(
  { context }: ChainProject,
  journal: RunJournal,
  resumption: Resumption,
  setup: RunSetup,
): Promise<RunResult> {
  const { server } = journal.run
  if (!server) return await resumeRun(resumption, setup)
  const { resumeServerRun } = await import('#chain/restate/server-runs')
  return await resumeServerRun(resumption, setup, serverAddress(context, server))
}

export async function cancelOn(
  { context, store, line }: ChainProject,
  journal: RunJournal,
): Promise<void> {
  const { runId, server } = journal.run
  if (!server || !isOpen(journal)) {
    return await cancelRun(store, runId, context.runtime)
  }
  const { cancelServerRun } = await import('#chain/restate/server-runs')
  await cancelServerRun(journal, serverAddress(context, server))
  for (let waited = 0; waited < cancelPatienceMs; waited += 100) {
    if (!isOpen((await upToDate({ context, store }, runId)).journal)) return
    await sleep(100)
  }
  throw new RunBusyError(
    'run-busy',
    `the steps of the run ${runId} have not ended yet`,
    `${line('runs show', runId)} says when they have.`,
  )
}

const cancelPatienceMs = 10_000

export async function readRuns(
  project: ChainProject,
): Promise<ReturnType<RunStore['list']> & { standings: ReadonlyMap<string, string> }> {
  const list = project.store.list()
  const standings = await standingsOf(project, list.runs)
  return {
    ...(list.runs.every(({ run }) => !run.server) ? list : project.store.list()),
    standings,
  }
}

export async function upToDate(
  project: Pick<ChainProject, 'context' | 'store'>,
  runId: string,
): Promise<{ journal: RunJournal; standing: string | undefined }> {
  const journal = project.store.read(runId)
  const standing = (await standingsOf(project, [journal])).get(runId)
  return { journal: standing === undefined ? project.store.read(runId) : journal, standing }
}

/** Brings journals of runs on servers up to date; returns how those stand that have no result yet. */
async function standingsOf(
  { context, store }: Pick<ChainProject, 'context' | 'store'>,
  journals: readonly RunJournal[],
): Promise<ReadonlyMap<string, string>> {
  const open = journals.filter(isOpen)
  if (open.length === 0) return new Map()
  const { syncServerRuns } = await import('#chain/restate/server-runs')
  return await syncServerRuns(store, open, context.settings.restate.token || undefined)
}

/** The run that a user names, with what its server did meanwhile. */
export async function findRun(context: RunContext, named = '', grants: GrantOptions = {}) {
  const project = openProject(context, grants)
  const runId = project.store.idOf(named)
  const { journal, standing } = await upToDate(project, runId)
  context.diagnose(journal.diagnostics)
  return { project, runId, journal, standing }
}

/** The same, to continue it. Throws where its server has not finished it or does not answer. */
export async function openRun(context: RunContext, named = '', grants: GrantOptions = {}) {
  const found = await findRun(context, named, grants)
  const { project, runId, journal, standing } = found
  const { url = '' } = journal.run.server ?? {}
  if (standing === 'running') {
    throw new RunBusyError(
      'run-busy',
      `the run ${runId} is being executed by the server at ${url}`,
      `Wait for it, or end it: ${project.line('runs cancel', runId)}`,
    )
  }
  if (standing === 'unreachable') {
    throw new RunStateError(
      'restate-away',
      `the server of the run ${runId} at ${url} does not answer`,
      'Start it, or wait: it keeps what it has done.',
    )
  }
  return found
}

/** A changed plan is refused before the user is asked anything. */
export async function planToContinue(
  project: ChainProject,
  journal: RunJournal,
  command: 'resume' | 'approve',
  force = false,
): Promise<Plan> {
  refuseImported(journal)
  const { run, status } = journal
  const plan = await usablePlan(project, planKept(project, run))
  // A run that has ended is refused by the caller, as such.
  const change = isFailed(status) ? undefined : planChanged(journal, plan, command, project.line)
  if (change && !force) throw change
  return plan
}

export function serverAddress({ settings }: RunContext, options: EngineChoice = {}): ServerAddress {
  const { token, ...set } = settings.restate
  const url = checkedUrl(options.url ?? set.url)
  const admin = options.adminUrl ?? set.adminUrl
  const adminUrl = checkedUrl(admin || url.href)
  if (admin === '') adminUrl.port = '9070'
  return { url: url.href, adminUrl: adminUrl.href, token: token || undefined }
}

function checkedUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw wrongUse(`${text} is not an address of a server`, 'Write http://HOST:PORT.')
}

/** @throws {UsageError} for an address that is not used. */
export function wantsServer({ engine, url, adminUrl }: EngineChoice): boolean {
  if (engine === 'restate') return true
  const hint = 'Add --engine restate.'
  if (url !== undefined) throw pointless('--url', '--engine restate', hint)
  if (adminUrl !== undefined) throw pointless('--admin-url', '--engine restate', hint)
  return false
}

export async function startOn(
  { context }: ChainProject,
  choice: EngineChoice,
  run: NewRun,
  setup: RunSetup,
): Promise<RunResult> {
  if (!wantsServer(choice)) return await startRun(run, setup)
  const { startServerRun } = await import('#chain/restate/server-runs')
  return await startServerRun(run, setup, serverAddress(context, choice))
}
