import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readRegularFile, safeLine, UsageError, writeFileAtomicSync } from '../base/index.ts'
import { newToken } from '../mcp/index.ts'
import { findWorkspace } from '../trust/index.ts'
import type { CommandContext } from './command.ts'

/** The token of a server over HTTP, and where it is kept; undefined: only in this process. */
export interface McpToken {
  token: string
  file: string | undefined
}

/**
 * A new token, or the one that a file has, so that clients which were told it are served again. A
 * file that is not there yet is written for the user alone.
 *
 * @throws {UsageError} for a file with something else in it
 */
export function mcpToken(file: string | undefined, context: CommandContext): McpToken {
  const { runtime } = context
  if (file === undefined) return { token: newToken(), file }
  const path = resolve(runtime.cwd, file)
  const reading = readRegularFile(path, { maxBytes: 1000 })
  if (!reading.ok && reading.code !== 'file-missing') {
    throw new UsageError({ code: 'token-file', message: `--token-file: ${reading.message}` })
  }
  if (!reading.ok) {
    const token = newToken()
    writeFileAtomicSync(path, `${token}\n`, { mode: 0o600 })
    warnOfGit(path, context)
    return { token, file: path }
  }
  if (runtime.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    throw new UsageError({
      code: 'token-file',
      message: `--token-file ${path} can be read by others`,
      hint: `chmod 600 ${path}, or name a file that is not there yet.`,
    })
  }
  const token = reading.text.trim()
  if (/^[A-Za-z0-9_-]{32,200}$/.test(token)) {
    warnOfGit(path, context)
    return { token, file: path }
  }
  throw new UsageError({
    code: 'token-file',
    message: `--token-file ${path} has no token in it`,
    hint: 'A token has 32 to 200 letters, digits, _ and -. Name a file that is not there yet, and one is made.',
  })
}

/** Whoever commits everything commits the token too. */
function warnOfGit(path: string, { runtime, output }: CommandContext): void {
  const workspace = findWorkspace(dirname(path), runtime)
  if (!existsSync(join(workspace, '.git'))) return
  output.failure(
    safeLine(
      `${path} lies in a Git work tree: keep it out of Git, or name a file elsewhere, such as one below ~/.local/state/skillrail.`,
    ),
  )
}
