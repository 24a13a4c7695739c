import { existsSync, lstatSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { compareText, type Diagnostic, StateFileError, UsageError } from '#core/errors'
import { projectStateDirectory, type Runtime } from '#core/runtime'
import { readRegularFile } from '#core/read-files'
import type { Settings } from '#core/settings'
import { hexDigest } from '#core/json'
import { withFileLock } from '#core/file-lock'
import { amount } from '#core/text'
import { writeFileAtomic } from '#core/write-files'
import { appendCall, type CallLogReading, readCalls, rotatedPath } from './call-log.ts'
import type { CallRecord } from '#tools/call/context'
import type { ScopeValues } from './model.ts'
import {
  commonCompletions,
  type Completion,
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

interface SessionsOwner {
  project: string
  runtime: Runtime
  settings: Pick<Settings, 'state'> & { tools: Pick<Settings['tools'], 'sessionHours'> }
}

export interface OpenSessionOptions extends SessionsOwner {
  id?: string | undefined
  /** Hears of a damaged file that was moved aside. */
  note?: ((line: string) => void) | undefined
}

const maxBytes = 16 * 1024 * 1024
const waitMs = 60_000

export function openSession(options: OpenSessionOptions): SessionStore {
  return new SessionStore(options)
}

export class SessionStore {
  readonly id: string
  readonly path: string
  readonly logPath: string
  /** The project's file, which other tools of the format read. It can only take completions away. */
  readonly sharedPath: string | undefined
  readonly #options: OpenSessionOptions

  constructor(options: OpenSessionOptions) {
    this.id = sessionName(options).id
    const stem = join(sessionsDirectory(options), this.id)
    this.path = `${stem}.json`
    this.logPath = `${stem}.calls.jsonl`
    this.sharedPath = this.id === defaultSession ? sharedFile(options.project) : undefined
    this.#options = options
  }

  async read() {
    const { own, current, state, shared, problems } = this.#load()
    const path = this.sharedPath
    const foreign = shared.completed.length - state.completed.length
    return {
      state,
      recordedStart: own?.startedAt,
      isOver: own !== undefined && own !== current,
      diagnostics:
        foreign === 0 || path === undefined
          ? problems
          : [...problems, foreignDiagnostic(path, foreign)],
    }
  }

  /** @throws {StateFileError} for a file of a newer version, as every method that writes. */
  change(changes: readonly SessionChange[]): Promise<void> {
    return withFileLock(
      this.path,
      async () => {
        const { current, state, shared, problems } = this.#load()
        const at = this.#now()
        const changed = (before: SessionState): SessionState =>
          changes.reduce((held, item) => applyOne(held, item, at), before)
        const [after, sharedAfter] = [changed(state), changed(shared)]
        if (after === current && sharedAfter === shared) return
        this.#setAside(problems)
        await writeFileAtomic(this.path, serializeSession(after), { mode: 0o600 })
        if (this.sharedPath === undefined) return
        const text = serializeSession(withoutValues(sharedAfter))
        await writeFileAtomic(this.sharedPath, text, { mode: 0o600 })
      },
      { waitMs },
    )
  }

  /** The same in the other sessions of this project: they may share an instance of a server. */
  async changeOthers(changes: readonly SessionChange[]): Promise<void> {
    const names = changes.map(({ workflow }) => JSON.stringify(workflow))
    const directory = dirname(this.path)
    for (const name of namesIn(directory)) {
      const [, id = ''] = /^(.+)\.json$/.exec(name) ?? []
      if (id === this.id || !isSessionId(id)) continue
      const file = readRegularFile(join(directory, name), { maxBytes, followSymlinks: false })
      if (file.ok && names.some((workflow) => file.text.includes(workflow)))
        await new SessionStore({ ...this.#options, id }).change(changes)
    }
  }

  /** A completion counts where the user's file has it, and the shared file, if there is one, too. */
  #load() {
    const { state: own, problem } = readSessionFile(this.path, { own: true })
    const { sharedPath } = this
    const found = sharedPath === undefined ? {} : readSessionFile(sharedPath, { own: false })
    const current = this.#live(own) ?? this.#fresh()
    const problems = [problem, found.problem].filter((each) => each !== undefined)
    const known = { own, current, problems }
    if (sharedPath === undefined) return { ...known, state: current, shared: current }
    const shared = this.#live(found.state) ?? { ...current, completed: [] }
    return { ...known, state: commonCompletions(current, shared), shared }
  }

  log(entry: CallRecord): Promise<void> {
    return appendCall(this.logPath, entry, { session: this.id, at: this.#now() })
  }

  async calls(): Promise<CallLogReading> {
    return readCalls(this.logPath)
  }

  clear({ log = false }: { log?: boolean | undefined } = {}): Promise<boolean> {
    const { path, logPath, sharedPath } = this
    return withFileLock(
      path,
      async () => {
        const { own, problems } = this.#load()
        this.#setAside(problems)
        const logs = [logPath, rotatedPath(logPath)].filter((each) => existsSync(each))
        const files = [path, sharedPath ?? []].flat()
        const hadFile = files.some((each) => existsSync(each))
        for (const each of log ? [...files, ...logs] : files) rmSync(each, { force: true })
        // Beside a log that stays, the file says that the session begins now.
        if (own && !log && logs.length > 0) {
          await writeFileAtomic(path, serializeSession(this.#fresh()), { mode: 0o600 })
        }
        return hadFile || (log && logs.length > 0)
      },
      { waitMs },
    )
  }

  /** A damaged file is kept under another name; one of a newer version is refused. */
  #setAside(problems: readonly Diagnostic[]): void {
    const blocking = problems.find(({ code }) => code !== 'session-corrupt')
    if (blocking) throw new StateFileError(blocking)
    for (const { path = this.path, message } of problems) {
      const aside = `${path}.damaged-${this.#options.runtime.id()}`
      renameSync(path, aside)
      this.#options.note?.(`${message}; it was moved to ${aside}`)
    }
  }

  #fresh(): SessionState {
    const sessionId = this.id === defaultSession ? this.#options.runtime.id() : this.id
    return { sessionId, startedAt: this.#now(), completed: [] }
  }

  /** Unless it is over or of another session. A clock set back by one lifetime is accepted. */
  #live(state: SessionState | undefined): SessionState | undefined {
    if (!state) return undefined
    const age = this.#options.runtime.now() - Date.parse(state.startedAt)
    const isOver = Math.abs(age) > lifetimeMs(this.#options)
    return isOver || (this.id !== defaultSession && state.sessionId !== this.id) ? undefined : state
  }

  #now(): string {
    return new Date(this.#options.runtime.now()).toISOString()
  }
}

function lifetimeMs({ settings }: SessionsOwner) {
  return settings.tools.sessionHours * 3_600_000
}

function foreignDiagnostic(path: string, count: number): Diagnostic {
  const message = `${amount(count, 'prerequisite')} of this file will run again: you did not complete them`
  return { code: 'session-foreign', severity: 'info', message, path }
}

function readSessionFile(
  path: string,
  { own }: { own: boolean },
): { state?: SessionState | undefined; problem?: Diagnostic | undefined } {
  const failed = (code: string, message: string, hint?: string): { problem: Diagnostic } => ({
    problem: { code, severity: 'error', message, path, hint },
  })
  const file = readRegularFile(path, { maxBytes, followSymlinks: false, own })
  if (!file.ok && file.code === 'file-missing') return {}
  if (!file.ok && (file.code === 'file-unreadable' || file.code === 'file-shared')) {
    return failed('session-unreadable', file.message)
  }
  const read = file.ok
    ? parseSession(file.text)
    : { kind: 'corrupt' as const, problem: file.message }
  switch (read.kind) {
    case 'state':
      return { state: read.state }
    case 'corrupt':
      return failed('session-corrupt', `the session file ${path} is damaged: ${read.problem}`)
    case 'newer':
      return failed(
        'session-newer',
        `the session file ${path} has version ${read.version}, which is newer than this Skillrail`,
        'Use the newer Skillrail, or another session with --session.',
      )
  }
}

function applyOne(state: SessionState, change: SessionChange, at: string): SessionState {
  if (change.kind === 'record') {
    const { kind: _kind, ...record } = change
    return withCompletion(state, record, at)
  }
  const isOther = ({ workflow, tool }: Completion) =>
    workflow !== change.workflow || tool !== change.tool
  return keepCompletions(state, (one) => isOther(one) || change.holds(one.scope))
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
 * The session that a process belongs to, and what said so: `--session`, else `SKILLRAIL_SESSION`,
 * else the variable of the agent client, else nothing. Throws {@link UsageError} for an invalid id;
 * a client's own id is digested instead.
 */
export function sessionName({ runtime, id }: Pick<OpenSessionOptions, 'runtime' | 'id'>): {
  id: string
  from: string
} {
  const named = id === undefined ? runtime.env['SKILLRAIL_SESSION'] : id
  if (named !== undefined && (named !== '' || id !== undefined)) {
    const from = id === undefined ? 'SKILLRAIL_SESSION' : '--session'
    if (isSessionId(named)) return { id: named, from }
    throw new UsageError({
      code: 'session-id',
      message: `${from} ${JSON.stringify(named)} is not a session ID`,
      hint: '1 to 100 letters, digits, dots, _ and -, the first a letter or a digit.',
    })
  }
  for (const from of platformVariables) {
    const value = runtime.env[from]
    if (value === undefined || value === '') continue
    return { id: isSessionId(value) ? value : hexDigest(value, 32), from }
  }
  return { id: defaultSession, from: 'default' }
}

function isSessionId(text: string) {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text) && !text.endsWith('.calls')
}

function sessionsDirectory({ project, ...place }: SessionsOwner) {
  return join(projectStateDirectory(project, place), 'sessions')
}

/** Where other tools of the format look. A link would lead writes out of the project. */
function sharedFile(project: string) {
  const openCode = join(project, '.opencode')
  const isThere = lstatSync(openCode, { throwIfNoEntry: false })?.isDirectory() === true
  return isThere ? join(openCode, '.agent-skill-session.json') : undefined
}

/** A session in a list, with the numbers of its finished prerequisites and calls. */
export interface SessionRow extends Pick<
  SessionDetails,
  'id' | 'path' | 'startedAt' | 'isOver' | 'diagnostics'
> {
  current: boolean
  completed: number
  calls: number
}

/** A session as its files have it. */
export interface SessionDetails {
  id: string
  path: string
  sharedPath: string | undefined
  logPath: string
  /** When it began: its file says so, else its first call. */
  startedAt: string | undefined
  isOver: boolean
  completed: readonly Completion[]
  calls: CallLogReading['calls']
  diagnostics: readonly Diagnostic[]
}

/** Every session of a project that left something, the default one first. */
export async function listSessions(options: OpenSessionOptions): Promise<SessionRow[]> {
  const current = openSession(options).id
  const named = namesIn(sessionsDirectory(options))
    .flatMap((file) => /^(.+?)(?:\.calls\.jsonl|\.json)$/.exec(file)?.[1] ?? [])
    .filter((name) => isSessionId(name))
    .toSorted(compareText)
  const ids = new Set([defaultSession, ...named])
  const all = await Promise.all(Array.from(ids, (id) => readWhole(openSession({ ...options, id }))))
  return all
    .filter(hasLeft)
    .map(({ id, path, startedAt, completed, calls, isOver, diagnostics }) => ({
      id,
      path,
      current: id === current,
      startedAt,
      completed: completed.length,
      calls: calls.length,
      isOver,
      diagnostics,
    }))
}

export async function readWhole(session: SessionStore): Promise<SessionDetails> {
  const { id, path, sharedPath, logPath } = session
  const { state, recordedStart, isOver, diagnostics } = await session.read()
  const { calls, diagnostics: torn } = await session.calls()
  return {
    id,
    path,
    sharedPath,
    logPath,
    startedAt: recordedStart ?? calls[0]?.at,
    isOver,
    completed: state.completed,
    calls,
    diagnostics: [...diagnostics, ...torn],
  }
}

export function hasLeft(session: Pick<SessionDetails, 'startedAt' | 'diagnostics'>): boolean {
  return session.startedAt !== undefined || session.diagnostics.length > 0
}

/** Removes unused sessions with a generated ID that begins with `prefix`, where it can. */
export function forgetSessions(owner: SessionsOwner, prefix: string): void {
  const directory = sessionsDirectory(owner)
  for (const name of namesIn(directory)) {
    if (!name.startsWith(prefix) || !madeUp.test(name.slice(prefix.length))) continue
    const path = join(directory, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isFile() !== true) continue
    if (owner.runtime.now() - stats.mtimeMs <= lifetimeMs(owner)) continue
    try {
      rmSync(path, { force: true })
    } catch {
      // A folder that cannot be written keeps them.
    }
  }
}

/** The rest of a file's name: its session, the log of its calls, and the log before that. */
const madeUp = /^[0-9a-z]{14}\.(?:json|calls\.jsonl(?:\.old)?)$/

function namesIn(directory: string) {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
