import type { ServerDefinition } from '../config/model.ts'
import type { OpenedServer } from './connection.ts'
import { ServerStartError } from './errors.ts'

/** As a server of its own Skillrail would call itself, round and round. */
export async function refuseOurselves(
  definition: ServerDefinition,
  opened: OpenedServer,
): Promise<void> {
  if (opened.client.getServerVersion()?.name !== 'skillrail') return
  await opened.close()
  const { name, source } = definition
  throw new ServerStartError(
    { server: name, message: `The server ${name} is Skillrail itself, which does not call itself` },
    { hint: `Take it out of ${source.path}, or keep that file from this project.` },
  )
}
