import { readdirSync } from 'node:fs'
import { compareText, type Diagnostic, systemCode } from '../base/index.ts'
import { type OpenSessionOptions, openSession } from './session.ts'
import { defaultSession, isSessionId, sessionsDirectory } from './session-place.ts'
import { completedCount } from './session-state.ts'

/** One session of a project. */
export interface SessionSummary {
  id: string
  path: string
  /** Whether this is the one that the options name. */
  current: boolean
  /** When it began: its file says so, else its first call. */
  startedAt?: string | undefined
  /** Prerequisites that hold. */
  completed: number
  /** Calls in its log. */
  calls: number
  /** More time has passed than a session lasts; nothing of it counts. */
  isOver: boolean
  /** A file of it that cannot be used. */
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

async function summarise(
  id: string,
  options: OpenSessionOptions,
  current: string,
): Promise<SessionSummary> {
  const session = openSession(options)
  const { state, begun, isOver, diagnostics } = await session.read()
  const { calls, diagnostics: torn } = await session.calls()
  return {
    id,
    path: session.path,
    current: id === current,
    startedAt: begun ?? calls[0]?.at,
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
