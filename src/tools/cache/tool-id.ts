/** Keys that change what an object is; a tool or category of such a name is refused. */
export const prototypeKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** Longest id, server and `__` included; a tool's own name has at most 128 characters (MCP, tools). */
const longestId = 256

/** Nearly every id; the pattern that knows Unicode takes milliseconds to compile. */
const ordinary = /^[A-Za-z0-9_.:/@+-]+$/

/** Why a tool cannot have this id, or undefined where it can. */
export function toolIdProblem(id: string): string | undefined {
  if (id === '') return 'it is empty'
  if (id.length > longestId)
    return `it has ${id.length} characters; at most ${longestId} are allowed`
  if (prototypeKeys.has(id)) return 'it is a name that JavaScript reserves for objects'
  if (ordinary.test(id)) return undefined
  if (!/^[\p{L}\p{N}\p{M}_.:/@+ -]+$/u.test(id) || id !== id.trim()) {
    return 'it has characters that no tool name may have; letters, digits, and _ - . / : are allowed'
  }
  return undefined
}

/** `github` for `github__get_issue`: by the longest known server, else up to the first `__`. */
export function serverOfId(id: string, servers: readonly string[]): string {
  let longest: string | undefined
  for (const server of servers) {
    const longer = longest === undefined || server.length > longest.length
    if (longer && id.startsWith(`${server}__`)) longest = server
  }
  if (longest !== undefined) return longest
  const at = id.indexOf('__')
  return at > 0 ? id.slice(0, at) : ''
}

/** The tool's name as its server knows it. */
export function nameInServer(id: string, server: string): string {
  return server !== '' && id.startsWith(`${server}__`) ? id.slice(server.length + 2) : id
}
