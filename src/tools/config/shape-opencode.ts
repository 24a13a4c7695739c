import { isObject } from '../../base/index.ts'
import { type Fields } from './fields.ts'
import type { RawServer } from './model.ts'
import type { JsonObject } from '../model.ts'
import { plainServer, type ServerGroup, type ServerShape } from './shape.ts'

/**
 * OpenCode: `mcp: { NAME: { type: 'local', command: […] } | { type: 'remote', url } }` with `enabled`
 * and one time-out, and since its version 2 `mcp: { servers: { NAME: … } }` with `disabled` and two.
 */
export const openCode: ServerShape = {
  syntax: 'json',
  groups(root) {
    const mcp = root['mcp']
    if (!isObject(mcp)) return []
    const { servers, ...direct } = mcp
    const groups: ServerGroup[] = []
    if (isGroup(servers)) groups.push({ place: ['mcp', 'servers'], entries: servers })
    const entries = isGroup(servers) ? onlyServers(direct) : mcp
    if (Object.keys(entries).length > 0) groups.push({ place: ['mcp'], entries })
    return groups
  },
  read(fields): RawServer | undefined {
    const type = fields.text('type') ?? (fields.has('url') ? 'remote' : 'local')
    if (type === 'local') return readLocal(fields)
    if (type === 'remote') return readRemote(fields)
    fields.wrong(`its type "${type}" is unknown; allowed are local and remote`, 'type')
    return undefined
  },
}

/** A server that is called `servers` has a type, a group of them has not. */
function isGroup(value: unknown): value is JsonObject {
  return isObject(value) && typeof value['type'] !== 'string'
}

/** Version 2 has settings beside the servers; what looks like a server of version 1 still counts. */
function onlyServers(entries: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(entries).filter(
      ([, value]) => isObject(value) && ('command' in value || 'url' in value),
    ),
  )
}

function readLocal(fields: Fields): RawServer | undefined {
  const [command, ...args] = fields.texts('command') ?? []
  if (command === undefined || command === '') {
    fields.wrong('it has no command, which is a list of words', 'command')
    return undefined
  }
  const env = { ...fields.textMap('env'), ...fields.textMap('environment') }
  return { ...plainServer, ...common(fields), command, args, env, cwd: fields.text('cwd') }
}

function readRemote(fields: Fields): RawServer | undefined {
  const url = fields.text('url')
  if (url === undefined || url === '') {
    fields.wrong('it has no url')
    return undefined
  }
  return {
    ...plainServer,
    ...common(fields),
    transport: 'http',
    url,
    headers: fields.textMap('headers'),
  }
}

function common(fields: Fields): Partial<RawServer> & { disabled: boolean } {
  const disabled = fields.flag('disabled') ?? fields.flag('enabled') === false
  const timeouts = fields.has('timeout') ? timeoutsOf(fields) : {}
  return { disabled, ...timeouts }
}

/** In ms: one number for starting and listing, or `{ startup, request }`. */
function timeoutsOf(fields: Fields): Partial<RawServer> {
  const both = fields.objectOrAmount('timeout')
  if (both === undefined) return {}
  if (typeof both === 'number') return { startupTimeoutMs: both }
  const { startup, request } = both
  return {
    ...(typeof startup === 'number' ? { startupTimeoutMs: startup } : {}),
    ...(typeof request === 'number' ? { callTimeoutMs: request } : {}),
  }
}
