import {
  type IndexedServer,
  loadToolIndex,
  servedStatus,
  type ServerDefinition,
} from '../tools/index.ts'
import { standingOf } from './_server-rows.ts'
import { toolProject } from '../tools/commands/project-tools.ts'
import type { CommandContext } from './command.ts'

/** A server in the answer of `tools servers --json`. */
export interface ServerRow {
  name: string
  state: string
  tools?: number | undefined
  durationMs?: number | undefined
  client: string
  path: string
  message?: string | undefined
  stderrTail?: string | undefined
}

/** What is known without starting one; why the last refresh could not list a server is. */
export async function knownServers(
  context: CommandContext,
  definitions: readonly ServerDefinition[],
): Promise<ServerRow[]> {
  const { runtime } = context
  const status = await servedStatus({ project: runtime.cwd, runtime })
  const listed = loadToolIndex({ project: toolProject(context), runtime }).index?.servers ?? []
  return definitions.map((definition) => {
    const { name, source, blocked } = definition
    const row = { name, client: source.client, path: source.path }
    const kept = status?.servers.find((server) => server.name === name)
    if (kept?.state === 'running' || kept?.state === 'failed') {
      return { ...row, state: kept.state, message: kept.message }
    }
    const state = standingOf(definition)
    if (state !== 'usable') return { ...row, state, message: blocked?.message }
    return { ...row, state, ...lastFailure(listed.find((server) => server.name === name)) }
  })
}

function lastFailure(
  server: IndexedServer | undefined,
): Partial<Pick<ServerRow, 'state' | 'message' | 'stderrTail'>> {
  const failure = server?.unavailable
  if (failure === undefined || failure.notTrusted === true) return {}
  const message = `At the last refresh: ${failure.message}`
  return { state: 'failing', message, stderrTail: failure.stderrTail }
}
