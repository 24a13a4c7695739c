import { existsSync, renameSync, rmSync, statSync } from 'node:fs'
import {
  type Diagnostic,
  readRegularFile,
  StateFileError,
  withFileLock,
  writeFileAtomic,
} from '../base/index.ts'
import {
  appendCall,
  type CallLogEntry,
  type CallLogReading,
  readCalls,
  rotatedPath,
} from './call-log.ts'
import { parseSession, serializeSession } from './session-file.ts'
import { defaultSession, type SessionOptions, sessionPlace } from './session-place.ts'
import {
  type CompletionRecord,
  findCompletion,
  keepCompletions,
  type SessionState,
  withCompletion,
  withoutValues,
} from './session-state.ts'
import type { ScopeValues } from './model.ts'

export type SessionChange =
  | ({ kind: 'record' } & CompletionRecord)
  | { kind: 'invalidate'; workflow: string; tool: string; holds: (scope: ScopeValues) => boolean }

export interface SessionReading {
  /** A new session where there is none, or where it is over. */
  state: SessionState
  /** When the session on the disk began, an ISO time; undefined where there is none. */
  begun?: string | undefined
  /** The session on the disk is over, and nothing of it counts. */
  isOver: boolean
  /** A file that cannot be used; nothing of it counts. */
  diagnostics: readonly Diagnostic[]
}

/** What has run in a session. Processes take turns to write; a write is all or nothing. */
export interface SessionStore {
  readonly id: string
  readonly path: string
  readonly logPath: string
  read(): Promise<SessionReading>
  /** @throws {StateFileError} for a file of a newer version, as every method that writes. */
  record(workflow: string, tool: string, scope: ScopeValues, result: string): Promise<void>
  isValid(workflow: string, tool: string, scope: ScopeValues): Promise<boolean>
  /** Takes back what `holds` refuses; without it everything of the tool. */
  invalidate(workflow: string, tool: string, holds?: (scope: ScopeValues) => boolean): Promise<void>
  /** Several changes in one write. */
  change(changes: readonly SessionChange[]): Promise<void>
  /** Adds a line to the log of calls, secrets masked. */
  log(entry: CallLogEntry): Promise<void>
  calls(): Promise<CallLogReading>
  /** Forgets what has run; the log of calls too with `log`. False where there was nothing. */
  clear(options?: { log?: boolean | undefined }): Promise<boolean>
}

export interface OpenSessionOptions extends SessionOptions {
  /** How long a session lasts; default 24 hours. */
  lifetimeMs?: number | undefined
  /** Hears of a damaged file that was moved aside. */
  note?: ((line: string) => void) | undefined
}

export const sessionLifetimeMs = 86_400_000

const maxBytes = 16 * 1024 * 1024
const waitMs = 60_000

/**
 * Opens the session that {@link sessionPlace} names. Nothing is read or made until it is used.
 *
 * @throws {UsageError} for an id that can be no file's name.
 */
export function openSession(options: OpenSessionOptions): SessionStore {
  const { runtime, note, lifetimeMs = sessionLifetimeMs } = options
  const { id, path, logPath } = sessionPlace(options)
  return {
    id,
    path,
    logPath,
    read: async () => read(),
    isValid: async (workflow, tool, scope) =>
      findCompletion(read().state, workflow, tool, scope) !== undefined,
    record: (workflow, tool, scope, result) =>
      change([{ kind: 'record', workflow, tool, scope, result }]),
    invalidate: (workflow, tool, holds = () => false) =>
      change([{ kind: 'invalidate', workflow, tool, holds }]),
    change,
    log: (entry) => appendCall(logPath, entry, { session: id, at: now() }),
    calls: async () => readCalls(logPath),
    clear: ({ log = false } = {}) => clear(log),
  }

  function read(): SessionReading {
    const file = readSessionFile(path)
    if (file.kind !== 'state') {
      const problem = problemOf(file, path)
      return {
        state: fresh(),
        isOver: false,
        diagnostics: problem === undefined ? [] : [problem],
      }
    }
    const over = isOver(file.state)
    const { startedAt: begun } = file.state
    return { state: over ? fresh() : file.state, begun, isOver: over, diagnostics: [] }
  }

  function change(changes: readonly SessionChange[]): Promise<void> {
    return withFileLock(path, () => apply(changes), { waitMs })
  }

  async function apply(changes: readonly SessionChange[]): Promise<void> {
    const file = readSessionFile(path)
    const before = file.kind === 'state' && !isOver(file.state) ? file.state : fresh()
    const after = changes.reduce((state, item) => applyOne(state, item, now()), before)
    if (after === before) return
    setAside(file)
    await writeFileAtomic(path, serializeSession(after), { mode: 0o600 })
  }

  function clear(log: boolean): Promise<boolean> {
    return withFileLock(
      path,
      async () => {
        const file = readSessionFile(path)
        setAside(file)
        const logs = [logPath, rotatedPath(logPath)].filter((each) => existsSync(each))
        // Beside a log that stays, the file says that the session begins now and not with its calls.
        const staysBegun = file.kind === 'state' && !log && logs.length > 0
        if (staysBegun) await writeFileAtomic(path, serializeSession(fresh()), { mode: 0o600 })
        else rmSync(path, { force: true })
        if (log) for (const each of logs) rmSync(each, { force: true })
        return file.kind === 'state' || (log && logs.length > 0)
      },
      { waitMs },
    )
  }

  /** A damaged file is kept under another name; one of a newer version is refused. */
  function setAside(file: SessionFile): void {
    const problem = problemOf(file, path)
    if (problem === undefined) return
    if (file.kind !== 'corrupt') {
      const { code, message, hint } = problem
      throw new StateFileError({ code, message, hint })
    }
    const aside = `${path}.damaged-${runtime.id()}`
    renameSync(path, aside)
    note?.(`${problem.message}; it was moved to ${aside}`)
  }

  function fresh(): SessionState {
    const sessionId = id === defaultSession ? runtime.id() : id
    return { sessionId, startedAt: now(), completed: new Map() }
  }

  /**
   * Older than its lifetime; or another session's that had the same place. A start that lies in the
   * future is a clock that was put back: it may do so by one lifetime.
   */
  function isOver(state: SessionState): boolean {
    const age = runtime.now() - Date.parse(state.startedAt)
    return Math.abs(age) > lifetimeMs || (id !== defaultSession && state.sessionId !== id)
  }

  function now(): string {
    return new Date(runtime.now()).toISOString()
  }
}

type SessionFile =
  | ReturnType<typeof parseSession>
  | { kind: 'missing' }
  | { kind: 'unreadable'; message: string }

function readSessionFile(path: string): SessionFile {
  const file = readRegularFile(path, { maxBytes, followSymlinks: false })
  if (file.ok) {
    const read = parseSession(file.text)
    const isForeign = read.kind === 'state' && !isPrivate(path)
    return isForeign ? { ...read, state: withoutValues(read.state) } : read
  }
  if (file.code === 'file-missing') return { kind: 'missing' }
  if (file.code === 'file-unreadable') return { kind: 'unreadable', message: file.message }
  return { kind: 'corrupt', problem: file.message }
}

/** Ours are; one that came with a checkout, or that another tool wrote, is not. */
function isPrivate(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return process.platform === 'win32' || (stats !== undefined && (stats.mode & 0o077) === 0)
}

function problemOf(file: SessionFile, path: string): Diagnostic | undefined {
  const severity = 'error'
  switch (file.kind) {
    case 'state':
    case 'missing':
      return undefined
    case 'unreadable':
      return { code: 'session-unreadable', severity, message: file.message, path }
    case 'corrupt': {
      const message = `the session file ${path} is damaged: ${file.problem}`
      return { code: 'session-corrupt', severity, message, path }
    }
    case 'newer':
      return {
        code: 'session-newer',
        severity,
        message: `the session file ${path} has version ${file.version}, which is newer than this Skillrail`,
        path,
        hint: 'Use the newer Skillrail, or another session with --session; the file was not touched.',
      }
  }
}

function applyOne(state: SessionState, change: SessionChange, at: string): SessionState {
  return change.kind === 'record'
    ? withCompletion(state, change, at)
    : keepCompletions(state, change.workflow, change.tool, change.holds)
}
