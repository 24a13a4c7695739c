/** A tool as other clients name those of MCP servers: `mcp__server__tool`. */
export interface McpName {
  server: string
  tool: string
}

/**
 * Reads such a name; undefined for any other, and for one that has `*` in the name of the server.
 *
 * @param servers names that are known: one may have `__` in it.
 */
export function readMcpName(name: string, servers: readonly string[] = []): McpName | undefined {
  const [, rest = ''] = /^mcp__(.+)$/i.exec(name) ?? []
  const known = servers.find((server) =>
    `${rest}__`.toLowerCase().startsWith(`${server.toLowerCase()}__`),
  )
  const server = known ?? rest.split('__', 1)[0] ?? ''
  if (server === '' || server.includes('*')) return undefined
  return { server, tool: rest.slice(server.length + 2) }
}
