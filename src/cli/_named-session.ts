import { nearest } from '../base/index.ts'
import { contextOf } from './legacy.ts'
import {
  type CallLogReading,
  listSessions,
  SessionNotFoundError,
  type SessionReading,
  type SessionStore,
} from '../workflow/index.ts'
import { openWorkflows, sessionOf } from '../tools/commands/workflow-project.ts'
import type { CommandContext } from './command.ts'

/** A session as a command tells of it. */
export interface NamedSession {
  session: SessionStore
  reading: SessionReading
  log: CallLogReading
}

/**
 * The session of this shell, or the one that was named: that one must have left something.
 *
 * @throws {SessionNotFoundError} for a name that nothing here has.
 */
export async function readSession(
  context: CommandContext,
  id: string | undefined,
): Promise<NamedSession> {
  const { project } = openWorkflows(context)
  const session = sessionOf(contextOf(context), project, id)
  const [reading, log] = [await session.read(), await session.calls()]
  const left = reading.begun !== undefined || log.calls.length > 0
  const isDamaged = reading.diagnostics.length > 0 || log.diagnostics.length > 0
  const own = [sessionOf(contextOf(context), project, undefined).id, 'default']
  if (left || isDamaged || own.includes(session.id)) return { session, reading, log }
  const { runtime } = context
  const known = (await listSessions({ project, runtime })).map((one) => one.id)
  throw new SessionNotFoundError(session.id, known, nearest(session.id, known))
}
