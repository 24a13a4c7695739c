import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Runtime, sha256, UsageError } from '../base/index.ts'

/** Which session a process belongs to. */
export interface SessionPlace {
  /** `default` where nothing says otherwise. */
  id: string
  /** What said so: `--session`, a variable, or nothing. */
  from: string
  /** The file with what has run. */
  path: string
  /** The log of calls. */
  logPath: string
}

export interface SessionOptions {
  /** The root of the project. */
  project: string
  runtime: Runtime
  /** The id that the user named. */
  id?: string | undefined
}

export const defaultSession = 'default'

/** Variables in which agent clients tell the commands that they start which session it is. */
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
 * The session by the id that was named, else by `SKILLRAIL_SESSION`, else by the variable of the
 * agent client, else the default one.
 *
 * @throws {UsageError} for an id that can be no file's name; a client's own id is digested instead.
 */
export function sessionPlace({ project, runtime, id }: SessionOptions): SessionPlace {
  const named = id === undefined ? runtime.env['SKILLRAIL_SESSION'] : id
  if (named !== undefined && (named !== '' || id !== undefined)) {
    const from = id === undefined ? 'SKILLRAIL_SESSION' : '--session'
    if (!isSessionId(named)) throw badId(named, from)
    return placeOf(project, named, from)
  }
  for (const variable of platformVariables) {
    const value = runtime.env[variable]
    if (value === undefined || value === '') continue
    return placeOf(project, isSessionId(value) ? value : sha256(value).slice(7, 39), variable)
  }
  return placeOf(project, defaultSession, 'default')
}

/** The folder with the files of named sessions. */
export function sessionsDirectory(project: string): string {
  return join(project, '.skillrail', 'sessions')
}

export function isSessionId(text: string): boolean {
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

function badId(id: string, from: string): UsageError {
  return new UsageError({
    code: 'session-id',
    message: `${from} ${JSON.stringify(id)} is no session id`,
    hint: 'An id has 1 to 100 letters, digits, dots, _ and -, and begins with a letter or a digit.',
  })
}
