import { join, resolve } from 'node:path'
import type * as Zod from 'zod'
import { hexDigest, isObject } from '#core/json'
import { realPathOf } from '#core/read-files'
import { isContained, manifestSchema, type Plugin } from '#library/plugins'
import { zod } from '#core/zod'
import { plainServer, type RawServer, type Refusal, type ServerShape } from './shapes.ts'

const configurationSchema = manifestSchema.replace('plugin.schema', 'mcp.schema')

/** The `mcp.json` of a plugin (Agent Plugins 1.0, 7.2). An invalid server is left out; the others stay. */
export function pluginServers({ root, name = '' }: Plugin, dataHome: string): ServerShape {
  const digest = hexDigest(root, 16)
  const place = join(dataHome, 'plugins', `${name}-${digest}`)
  const data = realPathOf(place) ?? place
  return {
    syntax: 'json',
    strict: true,
    groups({ $schema, mcpServers, ...otherFields }) {
      const [unknownField] = Object.keys(otherFields)
      if (unknownField !== undefined) return { problem: `"${unknownField}" is not a field of it` }
      if ($schema !== configurationSchema)
        return { problem: `its $schema must be "${configurationSchema}"` }
      if (!isObject(mcpServers)) return { problem: 'mcpServers must be an object' }
      return [{ place: ['mcpServers'], entries: mcpServers }]
    },
    read(entry) {
      cachedSchema ??= schemaOf(zod())
      const { data: fields, error } = cachedSchema.safeParse(entry)
      if (!fields) {
        const [issue] = error.issues
        const key = issue?.path[0] ?? (issue?.code === 'unrecognized_keys' ? issue.keys[0] : 'type')
        return {
          problem: `its "${String(key)}" is not one that a plugin can have`,
          key: String(key),
        }
      }
      return fields.type === 'stdio' ? programOf(fields, root, data) : remoteOf(fields)
    },
  }
}

type Fields = Zod.infer<ReturnType<typeof schemaOf>>

function schemaOf(z: typeof Zod) {
  const text = z.string().min(1)
  const texts = z.record(z.string(), z.string()).optional()
  const remote = { url: text, headers: texts }
  return z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('stdio'),
      command: text,
      args: z.array(z.string()).optional(),
      env: texts,
      cwd: z.string().optional(),
    }),
    z.strictObject({ type: z.enum(['streamable-http', 'sse']), ...remote }),
  ])
}

let cachedSchema: ReturnType<typeof schemaOf> | undefined

/** A program: a bare name, or a file of the plugin, which is also where it starts. */
function programOf(
  fields: Fields & { type: 'stdio' },
  root: string,
  data: string,
): RawServer | Refusal {
  const { command, args = [], env = {}, cwd = './' } = fields
  const expand = (text: string): string =>
    text.replaceAll(/\$\{PLUGIN_(ROOT|DATA)\}/g, (_, name) => (name === 'ROOT' ? root : data))
  const isOfPlugin = command.startsWith('./')
  const program = resolve(root, command)
  if (isOfPlugin ? !isContained(root, program) : /[/\\\s]/.test(command))
    return { problem: 'its command must be one bare name or a file of the plugin', key: 'command' }
  if (Object.keys(env).some((name) => /^PLUGIN_(?:ROOT|DATA)$/i.test(name)))
    return { problem: 'its env sets PLUGIN_ROOT or PLUGIN_DATA', key: 'env' }
  const place = resolve(root, expand(cwd))
  const isData = cwd.startsWith('${PLUGIN_DATA}')
  const isForm = /^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/.test(cwd)
  if (!isForm || !isContained(isData ? data : root, place))
    return { problem: 'its cwd must begin with ./ and stay in the plugin or its data', key: 'cwd' }
  const values = Object.entries(env).map(([name, value]) => [name, expand(value)])
  const pluginVariables = { PLUGIN_ROOT: root, PLUGIN_DATA: data }
  return {
    ...plainServer,
    command: isOfPlugin ? program : command,
    args: args.map(expand),
    env: { ...Object.fromEntries(values), ...pluginVariables },
    cwd: place,
    dataDirectory: data,
  }
}

function remoteOf({ type, url, headers = {} }: Exclude<Fields, { type: 'stdio' }>) {
  const { protocol, hostname, username, password } = URL.parse(url) ?? {}
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname ?? '')
  const isSafe = protocol === 'https:' || (protocol === 'http:' && isHere)
  if (!isSafe || username || password || url.includes('#')) {
    const problem = 'its url must be https, or http on this machine, without a user and a fragment'
    return { problem, key: 'url' }
  }
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  try {
    if (new Set(names).size < names.length) throw new Error('a header occurs twice')
    void new Headers(headers)
  } catch {
    return { problem: 'its headers are not valid, or one is there twice', key: 'headers' }
  }
  const transport = type === 'sse' ? ('sse' as const) : ('http' as const)
  return { ...plainServer, transport, url, headers }
}
