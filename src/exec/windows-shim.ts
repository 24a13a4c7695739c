import { win32 } from 'node:path'

/**
 * What a command file of Windows, as npm and pnpm write them for programs that they install, would
 * start: Node with a script, or a program. Node does not start such a file without a shell (since
 * CVE-2024-27980), and a shell would read the arguments a second time. Undefined for a command file
 * of another form.
 *
 * @param path of the command file, absolute.
 * @param text of it.
 * @param node the Node that takes the place of the one the file would look for.
 */
export function shimTarget(
  path: string,
  text: string,
  node: string,
): { file: string; args: readonly string[] } | undefined {
  const call = text
    .split(/\r?\n/)
    .flatMap((line) => invocation.exec(line)?.[1] ?? [])
    .at(-1)
  if (call === undefined || call.includes('%')) return undefined
  const target = win32.join(win32.dirname(path), call)
  switch (win32.extname(target).toLowerCase()) {
    case '.js':
    case '.mjs':
    case '.cjs':
      return { file: node, args: [target] }
    case '.exe':
      return { file: target, args: [] }
    // Without an extension it is a script, whose first line npm has turned into the call of Node.
    case '':
      return /\bnode(\.exe)?"/i.test(text) ? { file: node, args: [target] } : undefined
    default:
      return undefined
  }
}

/** A path from the file's own directory, in quotation marks, last before all arguments. */
const invocation = /"%(?:~dp0|dp0%)\\?([^"]+)"[ \t]+%\*[ \t]*(?:\)[ \t]*)?$/

export function isCommandFile(path: string): boolean {
  return /\.(cmd|bat)$/i.test(path)
}
