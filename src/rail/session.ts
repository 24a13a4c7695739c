import { join } from 'node:path'
import type { ClientProcess } from '#core/agent-ancestry'
import { clientNames } from '#core/client-folders'
import { StateFileError } from '#core/errors'
import { withFileLockSync } from '#core/file-lock'
import type { Runtime } from '#core/runtime'
import {
  choice,
  flag,
  integer,
  list,
  object,
  optional,
  record,
  type Schema,
  text,
} from '#core/shapes'
import { readStateFile, readStateFolder, type StateFile } from '#core/state-folder'
import { removeIfThere, writeFileAtomicSync } from '#core/write-files'
import { railPath, railsDirectory } from './place.ts'
import { type Reach, removeMarks, statesHere, workspacesHere, writeMarked } from './rail-marks.ts'

/**
 * The state of a rail. `working`: the agent has a step. `running`: our process starts the rail or runs
 * scripts. `checking`: our process runs the step's check. `checked`: a check has ended after its hook, and
 * the next event uses the result. `ended`: the client does not know the end of the chain yet, and nothing
 * is guarded any more. `failed`: the chain has ended without success or did not start, and its guards
 * deny until a user decides. The other states wait for a user: for an approval, after too many failed checks, for
 * the next prompt (the client allows no further block in this turn), for an answer to the agent, because the
 * chain cannot continue, or because the user paused it.
 */
export const standings = [
  'working',
  'running',
  'checking',
  'checked',
  'ended',
  'failed',
  'approval',
  'check-failed',
  'continue',
  'question',
  'stuck',
  'paused',
] as const

export type Standing = (typeof standings)[number]

/** The state of a rail that the hook needs at every event; the journal of the run has everything else. */
export interface RailSession {
  version: number
  /** The client's ID of the session. */
  session: string
  client: (typeof clientNames)[number]
  /** The project's real path. */
  workspace: string
  /** Empty if the chain did not start: only its guards apply. */
  runId: string
  /** The path of the run's journal; absent in states of earlier versions. */
  journal?: string | undefined
  chain: string
  standing: Standing
  /** Why the rail waits, in one line for the user. */
  reason: string
  /** The agent's current step; undefined while a gate waits or a script runs. */
  step?: RailStep | undefined
  /** The plan's chains with `guards: always`, and the prefix of their steps' names. */
  always?: readonly { path: string; prefix: string }[] | undefined
  /** The names of all steps. */
  steps: readonly string[]
  /** The guarded calls of the whole plan. */
  guards: readonly Guard[]
  /** Digests of the checks' files at the start of the rail, by path in the project. */
  checkFiles: Readonly<Record<string, string>>
  turn: Turn
  /** Text for the agent that no event has delivered yet. */
  pending?: string | undefined
  /** The chain's client process; undefined until an event shows it. */
  clientProcess?: ClientProcess | undefined
  /** The gate that waits, if the client can ask about it. */
  gate?: AskedGate | undefined
  /** The gate that waits, if any. */
  waiting?: WaitingGate | undefined
  /** Whether a compaction took the step from the agent's context, and it did not get it again yet. */
  isForgotten?: true | undefined
  /** How many calls of tools the session had when the agent got its step. */
  givenAt?: number | undefined
  /** Whether background tasks delay the check of the step, or the user wants it beside them. */
  tasks?: 'told' | 'ignored' | undefined
  /** The guards of a failed chain, until it is certain that a user started this one after it. */
  kept?: KeptGuards | undefined
  /** A prompt that decides about the rail, until the client confirms that a user typed it. */
  unconfirmed?: Unconfirmed | undefined
  /** Counts the handled ends of turns, so that two hooks handle each only once. */
  sequence: number
}

/** A gate that the client's own question about a guarded call can open. */
export interface AskedGate {
  step: string
  /** What the client shows. */
  question: string
  /** The guards after the gate has opened. */
  guards: readonly Guard[]
  /** Fingerprints of the calls that the client asks about now. */
  calls: readonly string[]
}

/** A gate that waits, as the journal was when the rail came to it. */
export interface WaitingGate {
  step: string
  journal: string
  /** The journal's size in bytes. */
  size: number
}

export interface KeptGuards {
  guards: readonly Guard[]
  chain: string
  /** Why they apply, as `reason` of the failed rail said. */
  reason: string
  /** The prompt that started the chain, whose origin Claude Code says later. */
  promptId: string
}

export interface Unconfirmed {
  prompt: string
  promptId: string
}

export interface RailStep {
  step: string
  attempt: number
  hasCheck: boolean
  failedChecks: number
  maxBlocks: number
  /** Whether the agent was asked for a report, because nothing checks the step. */
  askedForReport: boolean
  /** The only tools that the agent may call; undefined: all. */
  tools?: string | undefined
  /** The agent's report before the check ran. */
  claim?: Claim | undefined
  /** The result of the check, until an event uses it. */
  verdict?: Verdict | undefined
}

/** The result of a check that ended after its hook. It counts only for the checked tree. */
export interface Verdict {
  hasPassed: boolean
  /** The agent's last message in its turn. */
  message: string
  /** Why the check failed; `log` is the end of its output. */
  why: string
  log: string
  /** The digest of the working tree. Without one, or if it is none, the check runs again. */
  tree?: string | undefined
}

export interface Claim {
  status: 'success' | 'failure' | 'critical' | 'question'
  result: string
  errors: readonly string[]
}

export interface Guard {
  step: string
  /** As in `allowed-tools`. */
  calls: string
  /** Whether the step is the current one, its gate is open, and no earlier step failed. */
  isOpen: boolean
}

export interface Turn {
  /** The client's ID of the turn, or one made from the prompt. */
  id: string
  /** Whether the agent got a step in this turn: its end is then always checked. */
  receivedStep: boolean
  /** Whether the agent has edited a file or run something in this turn. */
  worked: boolean
  /** How many times in a row the end of the turn was blocked. */
  blocks: number
  /** The start of the text of the last block: some clients report that text as a prompt. */
  sent?: string | undefined
}

const claim = object({
  status: choice('success', 'failure', 'critical', 'question'),
  result: text,
  errors: list(text),
})

const step = object({
  step: text,
  attempt: integer,
  hasCheck: flag,
  failedChecks: integer,
  maxBlocks: integer,
  askedForReport: flag,
  tools: optional(text),
  claim: optional(claim),
  verdict: optional(
    object({ hasPassed: flag, message: text, why: text, log: text, tree: optional(text) }),
  ),
})

const guards = list(object({ step: text, calls: text, isOpen: flag }))

const railSession: Schema<RailSession> = object({
  version: choice(1),
  session: text,
  client: choice(...clientNames),
  workspace: text,
  runId: text,
  journal: optional(text),
  chain: text,
  standing: choice(...standings),
  reason: text,
  step: optional(step),
  always: optional(list(object({ path: text, prefix: text }))),
  steps: list(text),
  guards,
  checkFiles: record(text),
  turn: object({
    id: text,
    receivedStep: flag,
    worked: flag,
    blocks: integer,
    sent: optional(text),
  }),
  pending: optional(text),
  clientProcess: optional(object({ pid: integer, startedAt: text })),
  gate: optional(object({ step: text, question: text, guards, calls: list(text) })),
  waiting: optional(object({ step: text, journal: text, size: integer })),
  isForgotten: optional(choice(true)),
  givenAt: optional(integer),
  tasks: optional(choice('told', 'ignored')),
  kept: optional(object({ guards, chain: text, reason: text, promptId: text })),
  unconfirmed: optional(object({ prompt: text, promptId: text })),
  sequence: integer,
})

export type SessionReading = { kind: 'none' } | RailReading

export type RailReading =
  | { kind: 'rail'; rail: RailSession }
  /** There may be a rail with unreadable guards: every call that could be guarded is denied. */
  | { kind: 'unreadable'; path: string; reason: string }

export function readRail(runtime: Runtime, session: string): SessionReading {
  const path = railPath(runtime, session)
  const file = readStateFile(path, railSession)
  if (file === undefined) return { kind: 'none' }
  if (file.kind === 'unreadable' || file.value.session === session) return railOf(file)
  return { kind: 'unreadable', path, reason: 'it belongs to another session' }
}

/** Returns all rails of the user, in any order, including unreadable ones. */
export function readRails(runtime: Runtime): RailReading[] {
  return readStateFolder(railsDirectory(runtime), railSession).map(railOf)
}

/**
 * Returns the rails of the projects in which a session works or was started, including unreadable ones that may
 * belong there.
 */
export function readRailsHere(runtime: Runtime, reaches: ReadonlySet<Reach>): RailReading[] {
  const names = statesHere(runtime, reaches)
  if (names?.length === 0) return []
  const here = new Set(workspacesHere(runtime))
  const directory = railsDirectory(runtime)
  const readings = names
    ? names.flatMap((name) => readStateFile(join(directory, name), railSession) ?? []).map(railOf)
    : readRails(runtime)
  return readings.filter(
    (reading) =>
      reading.kind === 'unreadable' ||
      (here.has(reading.rail.workspace) && reaches.has(reachOf(reading.rail))),
  )
}

function railOf(file: StateFile<RailSession>): RailReading {
  return file.kind === 'read' ? { kind: 'rail', rail: file.value } : file
}

/**
 * Changes the state of a rail under a lock: hooks of parallel calls and the process that works on the rail
 * write the same file. Nothing is written if `change` returns undefined.
 *
 * @returns the state after the change; undefined if the session has no rail any more
 * @throws {StateFileError} if the state cannot be read or locked; the system error if it cannot be written.
 * The state is then unchanged.
 */
export function changeRail(
  runtime: Runtime,
  session: string,
  change: (rail: RailSession) => RailSession | undefined,
): RailSession | undefined {
  return alone(runtime, session, () => {
    const reading = readRail(runtime, session)
    if (reading.kind === 'none') return undefined
    if (reading.kind === 'unreadable') throw unreadableState(reading)
    const changed = change(reading.rail)
    if (changed) writeRail(runtime, changed)
    return changed ?? reading.rail
  })
}

/** Whether a session can get a new rail: it has none, or that of a chain that has ended. */
export function hasNoOpenRail(reading: SessionReading): boolean {
  return reading.kind === 'none' || (reading.kind === 'rail' && hasEnded(reading.rail))
}

export function hasEnded({ standing }: Pick<RailSession, 'standing'>): boolean {
  return standing === 'ended' || standing === 'failed'
}

/** Stores a new rail. Returns false, and writes nothing, if its session has an open one. */
export function addRail(runtime: Runtime, rail: RailSession): boolean {
  return alone(runtime, rail.session, () => {
    if (!hasNoOpenRail(readRail(runtime, rail.session))) return false
    writeRail(runtime, rail)
    return true
  })
}

export function removeRail(runtime: Runtime, session: string): void {
  alone(runtime, session, () => {
    const path = railPath(runtime, session)
    removeIfThere(path)
    removeMarks(path)
  })
}

/** A change takes milliseconds; on a busy machine with many calls at once the disk makes it wait. */
const maxWaitMs = 8000

/** Locks only the file: the process that works on a rail keeps another lock for much longer. */
function alone<T>(runtime: Runtime, session: string, work: () => T): T {
  const path = railPath(runtime, session).replace(/\.json$/, '.state')
  return withFileLockSync(path, work, maxWaitMs)
}

function writeRail(runtime: Runtime, rail: RailSession): void {
  const path = railPath(runtime, rail.session)
  writeMarked(path, { workspace: rail.workspace, reach: reachOf(rail) }, () =>
    writeFileAtomicSync(path, `${JSON.stringify(rail)}\n`, { mode: 0o600 }),
  )
}

function reachOf({ standing }: RailSession): Reach {
  return standing === 'ended' || standing === 'failed' ? standing : 'open'
}

function unreadableState({ path, reason }: { path: string; reason: string }): StateFileError {
  const hint = 'A user can delete that file, which ends the rail.'
  return new StateFileError({ code: 'rail-unreadable', message: `${path}: ${reason}`, hint })
}
