import { option, type OptionSpecs } from '#core/command'
import { pointless, wrongUse } from '#core/errors'
import { poll } from '#core/poll'
import type { RunResult } from '#chain/engine'
import { RunBusyError } from '#chain/errors'
import type { ServerAddress } from '#chain/restate/client'
import { cancelRun } from '#chain/cancel-run'
import type { Resumption } from '#chain/continuation'
import { type NewRun, resumeRun, type RunSetup, startRun } from '#chain/run-chain'
import { isOpen, type RunJournal } from '#chain/run-journal'
import type { ChainProject, RunContext } from './chains.ts'
import { readUpToDate } from './stored-runs.ts'

/** The engine that executes a run, and the address of its server. */
export interface EngineChoice {
  engine?: 'journal' | 'restate' | undefined
  url?: string | undefined
  adminUrl?: string | undefined
}

/** The options of a command that set an {@link EngineChoice}. */
export const engineOptions = {
  engine: option.choice('--engine <name>', 'journal (default): here; restate: by workers', {
    choices: ['journal', 'restate'],
  }),
  url: option.text('--url <url>', 'the ingress of the Restate server'),
  adminUrl: option.text('--admin-url <url>', 'its admin interface'),
} as const satisfies OptionSpecs

/** Starts a run with the engine that the options choose. */
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

/** Continues a run with the engine that it was started with. */
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

/** Ends a run, and waits until its steps have ended. */
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
  const hasEnded = async (): Promise<boolean> =>
    !isOpen((await readUpToDate({ context, store }, runId)).journal)
  if (await poll(hasEnded, { everyMs: 100, patienceMs: cancelPatienceMs })) return
  throw new RunBusyError(
    'run-busy',
    `the steps of the run ${runId} have not ended yet`,
    `${line('runs show', runId)} says when they have.`,
  )
}

const cancelPatienceMs = 10_000

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
