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
  /** The session of an agent client that its hook names; `SKILLRAIL_SESSION` takes precedence. */
  client?: string | undefined
  /** How long a change waits for another process, in milliseconds; default: a minute. */
  waitMs?: number | undefined
  /** Called when a damaged file was moved aside. */
  note?: ((line: string) => void) | undefined
}

const maxBytes = 16 * 1024 * 1024
const longestWaitMs = 60_000

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
    const { userState, current, state, shared: sharedState, problems } = this.#load()
    const path = this.sharedPath
    const foreign = sharedState.completed.length - state.completed.length
    return {
      state,
      recordedStart: userState?.startedAt,
      isOver: userState !== undefined && userState !== current,
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
        const { current, state, shared: sharedState, problems } = this.#load()
        const at = this.#now()
        const applyChanges = (before: SessionState): SessionState =>
          changes.reduce((result, item) => applyOne(result, item, at), before)
        const [newState, newSharedState] = [applyChanges(state), applyChanges(sharedState)]
        if (newState === current && newSharedState === sharedState) return
        this.#setAside(problems)
        await writeFileAtomic(this.path, serializeSession(newState), { mode: 0o600 })
        if (this.sharedPath === undefined) return
        const text = serializeSession(withoutValues(newSharedState))
        await writeFileAtomic(this.sharedPath, text, { mode: 0o600 })
      },
      { waitMs: this.#options.waitMs ?? longestWaitMs },
    )
  }

  /** Applies the changes to the project's other sessions, which may share an instance of a server. */
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

  /** A completion counts if the user's file has it and the shared file, if there is one, has it too. */
  #load() {
    const { state: userState, problem } = readSessionFile(this.path, { own: true })
    const { sharedPath } = this
    const sharedReading =
      sharedPath === undefined ? {} : readSessionFile(sharedPath, { own: false })
    const current = this.#live(userState) ?? this.#fresh()
    const problems = [problem, sharedReading.problem].filter((each) => each !== undefined)
    const common = { userState, current, problems }
    if (sharedPath === undefined) return { ...common, state: current, shared: current }
    const sharedState = this.#live(sharedReading.state) ?? { ...current, completed: [] }
    return { ...common, state: commonCompletions(current, sharedState), shared: sharedState }
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
        const { userState, problems } = this.#load()
        this.#setAside(problems)
        const logs = [logPath, rotatedPath(logPath)].filter((each) => existsSync(each))
        const files = [path, sharedPath ?? []].flat()
        const hadFile = files.some((each) => existsSync(each))
        for (const each of log ? [...files, ...logs] : files) rmSync(each, { force: true })
        // If a log stays, the file says that the session begins now.
        if (userState && !log && logs.length > 0) {
          await writeFileAtomic(path, serializeSession(this.#fresh()), { mode: 0o600 })
        }
        return hadFile || (log && logs.length > 0)
      },
      { waitMs: longestWaitMs },
    )
  }

  /** Keeps a damaged file under another name; refuses one of a newer version. */
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

  /** Undefined if the session is over or is another one. A clock set back by one lifetime is accepted. */
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
  const failure = (code: string, message: string, hint?: string): { problem: Diagnostic } => ({
    problem: { code, severity: 'error', message, path, hint },
  })
  const file = readRegularFile(path, { maxBytes, followSymlinks: false, own })
  if (!file.ok && file.code === 'file-missing') return {}
  if (!file.ok && (file.code === 'file-unreadable' || file.code === 'file-shared')) {
    return failure('session-unreadable', file.message)
  }
  const reading = file.ok
    ? parseSession(file.text)
    : { kind: 'corrupt' as const, problem: file.message }
  switch (reading.kind) {
    case 'state':
      return { state: reading.state }
    case 'corrupt':
      return failure('session-corrupt', `the session file ${path} is damaged: ${reading.problem}`)
    case 'newer':
      return failure(
        'session-newer',
        `the session file ${path} has version ${reading.version}, which is newer than this Skillrail`,
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
  'COPILOT_AGENT_SESSION_ID',
  'COPILOT_SESSION_ID',
  'PI_SESSION_ID',
  'QWEN_CODE_SESSION_ID',
] as const

/**
 * Returns the session of a process, and its source: `--session`, else `SKILLRAIL_SESSION`, else the
 * variable of the agent client, else nothing. Throws {@link UsageError} for an invalid ID; a client's own
 * ID is replaced by its digest.
 */
export function sessionName({
  runtime,
  id,
  client,
}: Pick<OpenSessionOptions, 'runtime' | 'id' | 'client'>): {
  id: string
  from: string
} {
  const sessionId = id === undefined ? runtime.env['SKILLRAIL_SESSION'] : id
  if (sessionId !== undefined && (sessionId !== '' || id !== undefined)) {
    const from = id === undefined ? 'SKILLRAIL_SESSION' : '--session'
    if (isSessionId(sessionId)) return { id: sessionId, from }
    throw new UsageError({
      code: 'session-id',
      message: `${from} ${JSON.stringify(sessionId)} is not a session ID`,
      hint: '1 to 100 letters, digits, dots, _ and -, the first a letter or a digit.',
    })
  }
  const ofClient = [
    ['the hook', client] as const,
    ...platformVariables.map((name) => [name, runtime.env[name]] as const),
  ]
  for (const [from, value] of ofClient) {
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

/** Returns the file that other tools of the format read. A link would lead writes out of the project. */
function sharedFile(project: string) {
  const openCode = join(project, '.opencode')
  const isThere = lstatSync(openCode, { throwIfNoEntry: false })?.isDirectory() === true
  return isThere ? join(openCode, '.agent-skill-session.json') : undefined
}

/** A session in a list, with the numbers of its completed prerequisites and calls. */
export interface SessionRow extends Pick<
  SessionDetails,
  'id' | 'path' | 'startedAt' | 'isOver' | 'diagnostics'
> {
  current: boolean
  completed: number
  calls: number
}

/** A session with the content of its files. */
export interface SessionDetails {
  id: string
  path: string
  sharedPath: string | undefined
  logPath: string
  /** When the session began, by its file or else by its first call. */
  startedAt: string | undefined
  isOver: boolean
  completed: readonly Completion[]
  calls: CallLogReading['calls']
  diagnostics: readonly Diagnostic[]
}

/** Lists every session of a project that has files, the default session first. */
export async function listSessions(options: OpenSessionOptions): Promise<SessionRow[]> {
  const current = openSession(options).id
  const sessionIds = namesIn(sessionsDirectory(options))
    .flatMap((file) => /^(.+?)(?:\.calls\.jsonl|\.json)$/.exec(file)?.[1] ?? [])
    .filter((name) => isSessionId(name))
    .toSorted(compareText)
  const ids = new Set([defaultSession, ...sessionIds])
  const sessions = await Promise.all(
    Array.from(ids, (id) => readWhole(openSession({ ...options, id }))),
  )
  return sessions
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

/** Removes unused sessions with a generated ID that begins with `prefix`, if possible. */
export function forgetSessions(owner: SessionsOwner, prefix: string): void {
  const directory = sessionsDirectory(owner)
  for (const name of namesIn(directory)) {
    if (!name.startsWith(prefix) || !generatedName.test(name.slice(prefix.length))) continue
    const path = join(directory, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isFile() !== true) continue
    if (owner.runtime.now() - stats.mtimeMs <= lifetimeMs(owner)) continue
    try {
      rmSync(path, { force: true })
    } catch {
      // Sessions in a folder that cannot be written stay.
    }
  }
}

/** The rest of a file's name: its session, the log of its calls, and the log before that. */
const generatedName = /^[0-9a-z]{14}\.(?:json|calls\.jsonl(?:\.old)?)$/

function namesIn(directory: string) {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
