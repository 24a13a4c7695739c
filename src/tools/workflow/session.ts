import { existsSync, lstatSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { compareText, type Diagnostic } from '../../core/diagnostic.ts'
import { readRegularFile } from '../../core/read-files.ts'
import type { Runtime } from '../../core/runtime.ts'
import { sha256 } from '../../core/json.ts'
import { StateFileError, systemCode, UsageError } from '../../core/errors.ts'
import { withFileLock } from '../../core/file-lock.ts'
import { writeFileAtomic } from '../../core/write-files.ts'
import {
  appendCall,
  type CallLogEntry,
  type CallLogReading,
  readCalls,
  rotatedPath,
} from './call-log.ts'
import type { ScopeValues } from './model.ts'
import {
  completedCount,
  type CompletionRecord,
  keepCompletions,
  parseSession,
  serializeSession,
  type SessionState,
  withCompletion,
  withoutValues,
} from './session-file.ts'

export type SessionChange =
  | ({ kind: 'record' } & CompletionRecord)
  | { kind: 'invalidate'; workflow: string; tool: string; holds: (scope: ScopeValues) => boolean }

export interface SessionReading {
  state: SessionState
  recordedStart?: string | undefined
  isOver: boolean
  diagnostics: readonly Diagnostic[]
}

export interface OpenSessionOptions extends SessionOptions {
  lifetimeMs?: number | undefined
  /** Hears of a damaged file that was moved aside. */
  note?: ((line: string) => void) | undefined
}

const sessionLifetimeMs = 86_400_000

const maxBytes = 16 * 1024 * 1024
const waitMs = 60_000

/**
 * Opens the session that {@link sessionPlace} names. Nothing is read or made until it is used.
 * Throws {@link UsageError} for an invalid id.
 */
export function openSession(options: OpenSessionOptions): SessionStore {
  return new SessionStore(options)
}

/** What has run in a session. Processes take turns to write; a write is all or nothing. */
export class SessionStore {
  readonly id: string
  readonly path: string
  readonly logPath: string
  readonly #options: OpenSessionOptions

  constructor(options: OpenSessionOptions) {
    const { id, path, logPath } = sessionPlace(options)
    this.id = id
    this.path = path
    this.logPath = logPath
    this.#options = options
  }

  async read(): Promise<SessionReading> {
    const { state, problem } = readSessionFile(this.path)
    const isOver = state !== undefined && this.#isOver(state)
    return {
      state: state === undefined || isOver ? this.#fresh() : state,
      recordedStart: state?.startedAt,
      isOver,
      diagnostics: problem === undefined ? [] : [problem],
    }
  }

  /** @throws {StateFileError} for a file of a newer version, as every method that writes. */
  change(changes: readonly SessionChange[]): Promise<void> {
    return withFileLock(
      this.path,
      async () => {
        const { state, problem } = readSessionFile(this.path)
        const before = state === undefined || this.#isOver(state) ? this.#fresh() : state
        const after = changes.reduce((held, item) => applyOne(held, item, this.#now()), before)
        if (after === before) return
        this.#setAside(problem)
        await writeFileAtomic(this.path, serializeSession(after), { mode: 0o600 })
      },
      { waitMs },
    )
  }

  /** Adds a line to the log of calls, secrets masked. */
  log(entry: CallLogEntry): Promise<void> {
    return appendCall(this.logPath, entry, { session: this.id, at: this.#now() })
  }

  async calls(): Promise<CallLogReading> {
    return readCalls(this.logPath)
  }

  /** Forgets what has run; the log of calls too with `log`. False where there was nothing. */
  clear({ log = false }: { log?: boolean | undefined } = {}): Promise<boolean> {
    const { path, logPath } = this
    return withFileLock(
      path,
      async () => {
        const { state, problem } = readSessionFile(path)
        this.#setAside(problem)
        const logs = [logPath, rotatedPath(logPath)].filter((each) => existsSync(each))
        // Beside a log that stays, the file says that the session begins now.
        if (state !== undefined && !log && logs.length > 0) {
          await writeFileAtomic(path, serializeSession(this.#fresh()), { mode: 0o600 })
        } else rmSync(path, { force: true })
        if (log) for (const each of logs) rmSync(each, { force: true })
        return state !== undefined || (log && logs.length > 0)
      },
      { waitMs },
    )
  }

  /** A damaged file is kept under another name; one of a newer version is refused. */
  #setAside(problem: Diagnostic | undefined): void {
    if (problem === undefined) return
    if (problem.code !== 'session-corrupt') throw new StateFileError(problem)
    const aside = `${this.path}.damaged-${this.#options.runtime.id()}`
    renameSync(this.path, aside)
    this.#options.note?.(`${problem.message}; it was moved to ${aside}`)
  }

  #fresh(): SessionState {
    const sessionId = this.id === defaultSession ? this.#options.runtime.id() : this.id
    return { sessionId, startedAt: this.#now(), completed: new Map() }
  }

  /**
   * Older than its lifetime, or of another session. A start in the future means that the clock was
   * set back; up to one lifetime is accepted.
   */
  #isOver({ startedAt, sessionId }: SessionState): boolean {
    const { runtime, lifetimeMs = sessionLifetimeMs } = this.#options
    const age = runtime.now() - Date.parse(startedAt)
    return Math.abs(age) > lifetimeMs || (this.id !== defaultSession && sessionId !== this.id)
  }

  #now(): string {
    return new Date(this.#options.runtime.now()).toISOString()
  }
}

function readSessionFile(path: string): {
  state?: SessionState | undefined
  problem?: Diagnostic | undefined
} {
  const failed = (code: string, message: string, hint?: string): { problem: Diagnostic } => ({
    problem: { code, severity: 'error', message, path, hint },
  })
  const file = readRegularFile(path, { maxBytes, followSymlinks: false })
  if (!file.ok && file.code === 'file-missing') return {}
  if (!file.ok && file.code === 'file-unreadable') {
    return failed('session-unreadable', file.message)
  }
  const read = file.ok
    ? parseSession(file.text)
    : { kind: 'corrupt' as const, problem: file.message }
  switch (read.kind) {
    case 'state':
      return { state: isPrivate(path) ? read.state : withoutValues(read.state) }
    case 'corrupt':
      return failed('session-corrupt', `the session file ${path} is damaged: ${read.problem}`)
    case 'newer':
      return failed(
        'session-newer',
        `the session file ${path} has version ${read.version}, which is newer than this Skillrail`,
        'Use the newer Skillrail, or another session with --session; the file was not touched.',
      )
  }
}

/** Ours are; one from a checkout or another tool is not. */
function isPrivate(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return process.platform === 'win32' || (stats !== undefined && (stats.mode & 0o077) === 0)
}

function applyOne(state: SessionState, change: SessionChange, at: string): SessionState {
  return change.kind === 'record'
    ? withCompletion(state, change, at)
    : keepCompletions(state, change.workflow, change.tool, change.holds)
}

/** Which session a process belongs to. */
export interface SessionPlace {
  id: string
  /** What said so: `--session`, a variable, or nothing. */
  from: string
  path: string
  logPath: string
}

interface SessionOptions {
  project: string
  runtime: Runtime
  id?: string | undefined
}

const defaultSession = 'default'

/** Variables in which agent clients pass their session to commands. */
const platformVariables = [
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_SESSION_ID',
  'CODEX_THREAD_ID',
  'CODEX_SESSION_ID',
  'GEMINI_SESSION_ID',
  'OPENCODE_SESSION_ID',
  'COPILOT_SESSION_ID',
] as const

/**
 * The session of `--session`, else of `SKILLRAIL_SESSION`, else of the variable of the agent
 * client, else the default one. Throws {@link UsageError} for an invalid id; a client's own id is
 * digested instead.
 */
export function sessionPlace({ project, runtime, id }: SessionOptions): SessionPlace {
  const named = id === undefined ? runtime.env['SKILLRAIL_SESSION'] : id
  if (named !== undefined && (named !== '' || id !== undefined)) {
    const from = id === undefined ? 'SKILLRAIL_SESSION' : '--session'
    if (!isSessionId(named)) {
      throw new UsageError({
        code: 'session-id',
        message: `${from} ${JSON.stringify(named)} is not a session ID`,
        hint: 'An id has 1 to 100 letters, digits, dots, _ and -, and begins with a letter or a digit.',
      })
    }
    return placeOf(project, named, from)
  }
  for (const variable of platformVariables) {
    const value = runtime.env[variable]
    if (value === undefined || value === '') continue
    return placeOf(project, isSessionId(value) ? value : sha256(value).slice(7, 39), variable)
  }
  return placeOf(project, defaultSession, 'default')
}

function sessionsDirectory(project: string): string {
  return join(project, '.skillrail', 'sessions')
}

function isSessionId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text) && !text.endsWith('.calls')
}

function placeOf(project: string, id: string, from: string): SessionPlace {
  const stem = id === defaultSession ? defaultStem(project) : join(sessionsDirectory(project), id)
  return { id, from, path: `${stem}.json`, logPath: `${stem}.calls.jsonl` }
}

/** Where the project has `.opencode/`, the place that other tools of the format use. */
function defaultStem(project: string): string {
  const openCode = join(project, '.opencode')
  const hasOpenCode = statSync(openCode, { throwIfNoEntry: false })?.isDirectory() ?? false
  return hasOpenCode
    ? join(openCode, '.agent-skill-session')
    : join(project, '.skillrail', 'session')
}

export interface SessionSummary {
  id: string
  path: string
  current: boolean
  /** When it began: its file says so, else its first call. */
  startedAt?: string | undefined
  completed: number
  calls: number
  /** More time has passed than a session lasts; nothing of it counts. */
  isOver: boolean
  diagnostics: readonly Diagnostic[]
}

/** Every session of a project that left something, the default one first. */
export async function listSessions(options: OpenSessionOptions): Promise<SessionSummary[]> {
  const current = openSession(options).id
  const ids = [defaultSession, ...namedSessions(options.project)]
  const all = await Promise.all(ids.map((id) => summarise(id, { ...options, id }, current)))
  return all.filter(
    ({ startedAt, diagnostics }) => startedAt !== undefined || diagnostics.length > 0,
  )
}

async function summarise(id: string, options: OpenSessionOptions, current: string) {
  const session = openSession(options)
  const { state, recordedStart, isOver, diagnostics } = await session.read()
  const { calls, diagnostics: torn } = await session.calls()
  return {
    id,
    path: session.path,
    current: id === current,
    startedAt: recordedStart ?? calls[0]?.at,
    completed: completedCount(state),
    calls: calls.length,
    isOver,
    diagnostics: [...diagnostics, ...torn],
  }
}

function namedSessions(project: string): string[] {
  try {
    const names = readdirSync(sessionsDirectory(project)).flatMap(
      (file) => /^(.+?)(?:\.calls\.jsonl|\.json)$/.exec(file)?.[1] ?? [],
    )
    return [...new Set(names)]
      .filter((name) => isSessionId(name) && name !== defaultSession)
      .toSorted(compareText)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}

/**
 * Removes sessions with generated IDs, which begin with `prefix`, that were unused for as long as a
 * session lasts. What cannot be removed stays.
 */
export function forgetSessions({
  project,
  runtime,
  prefix,
}: {
  project: string
  runtime: Pick<Runtime, 'now'>
  prefix: string
}): void {
  const directory = sessionsDirectory(project)
  for (const name of namesIn(directory)) {
    if (!name.startsWith(prefix) || !madeUp.test(name.slice(prefix.length))) continue
    const path = join(directory, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isFile() !== true || runtime.now() - stats.mtimeMs <= sessionLifetimeMs) continue
    try {
      rmSync(path, { force: true })
    } catch {
      // A folder that cannot be written keeps them.
    }
  }
}

/** The rest of a file's name: its session, the log of its calls, and the log before that. */
const madeUp = /^[0-9a-z]{14}\.(?:json|calls\.jsonl(?:\.old)?)$/

/** None in a folder that is elsewhere in truth. */
function namesIn(directory: string): string[] {
  try {
    return lstatSync(directory).isDirectory() ? readdirSync(directory) : []
  } catch {
    return []
  }
}
