import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Client } from '@modelcontextprotocol/client'

/** The capability to say where a server may work; {@link answerRoots} has to be called with it. */
export const rootsCapability = { roots: {} } as const

/**
 * Tells a server of this machine where it may work when it asks (MCP, `roots/list`): in the
 * directories that its own arguments name, else in the project. Servers of files take the roots
 * instead of their arguments, so that others than these would widen what its owner allowed; servers
 * of browsers save files only below a root.
 */
export function answerRoots(client: Client, args: readonly string[], project: string): void {
  const named = args.filter((arg, index) => {
    const isOfOption = args[index - 1]?.startsWith('-') === true
    return isAbsolute(arg) && !isOfOption && isDirectory(arg)
  })
  const roots = (named.length > 0 ? named : [project]).map((directory) => ({
    uri: pathToFileURL(directory).href,
  }))
  client.setRequestHandler('roots/list', () => ({ roots }))
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
