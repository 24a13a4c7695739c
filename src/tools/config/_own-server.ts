import { realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isObject, readRegularFile } from '../../base/index.ts'
import type { ServerTransport } from './model.ts'

export const ownServerLeftOut =
  'it is Skillrail itself, serving the others to a client; it is left out'

/**
 * Whether it starts `skillrail mcp serve`, under whatever runs it: as one of its own servers Skillrail
 * would call itself, and offer its own tools as those of somebody else.
 *
 * @param directory where it starts when its configuration names none; undefined: no file may be read
 */
export function startsOwnServer(transport: ServerTransport, directory?: string): boolean {
  if (transport.kind !== 'stdio') return false
  const { command, args } = transport
  const from = directory === undefined ? undefined : (transport.cwd ?? directory)
  // A shell has the words of its command in one.
  const words = [command, ...args.flatMap((word) => word.split(/[\s'"]+/))]
  const serves = words.findIndex((word, at) => word === 'mcp' && words[at + 1] === 'serve')
  return words
    .slice(0, Math.max(0, serves))
    .some((word) => isOwnName(word) || isOwnFile(word, from))
}

/** `skillrail`, `skillrail@1`, `/somewhere/bin/skillrail.cmd` */
function isOwnName(word: string): boolean {
  return /(?:^|[/\\])skillrail(?:@[\w.^~-]+|\.cmd|\.exe|\.ps1)?$/i.test(word)
}

/** The program of this package, wherever it was put. */
function isOwnFile(word: string, directory: string | undefined): boolean {
  if (directory === undefined || !/[/\\]bin\.[cm]?[jt]s$/.test(word)) return false
  try {
    const program = realpathSync(resolve(directory, word))
    const root = join(dirname(program), '../..')
    const file = readRegularFile(join(root, 'package.json'), { maxBytes: 1_000_000 })
    const facts: unknown = file.ok ? JSON.parse(file.text) : undefined
    return isObject(facts) && facts['name'] === 'skillrail'
  } catch {
    return false
  }
}
