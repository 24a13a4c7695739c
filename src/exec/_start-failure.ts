import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { systemReason } from '../base/index.ts'
import type { ProcessEnd, ProcessRequest } from './process.ts'

/**
 * The end of a program that could not be started. The system says ENOENT of the program also where
 * something else is missing: then that is named first.
 *
 * @param message of the system, in the words of Node.
 */
export function startFailure(
  request: Pick<ProcessRequest, 'file' | 'cwd'>,
  message: string,
): ProcessEnd {
  const code = / (E[A-Z0-9]+)$/.exec(message)?.[1]
  const reason = code === 'ENOENT' ? whatIsMissing(request) : systemReason(code)
  return {
    kind: 'not-started',
    message: reason === undefined ? message : `${reason} (${message})`,
  }
}

/**
 * What beside the program itself has to be there, and is not: its directory, or its interpreter, of
 * which the system says nothing. A first line that ends as on Windows names none, also where it begins
 * with one: `#!/usr/bin/env node` is started, and looks for `node\r`. Undefined when it is neither.
 */
export function whatIsMissing({
  file,
  cwd,
}: Pick<ProcessRequest, 'file' | 'cwd'>): string | undefined {
  if (!existsSync(cwd)) return `the directory it is to run in, ${cwd}, does not exist`
  // One without a slash was looked for in the search path.
  const line = file.includes('/') ? interpreterLine(resolve(cwd, file)) : undefined
  if (line === undefined) return undefined
  if (line.endsWith('\r')) {
    return `its first line, #!${line.trim()}, ends with a carriage return, which counts as a part of it: save it with LF line endings`
  }
  const [interpreter = ''] = line.trim().split(/[ \t]/)
  return existsSync(resolve(cwd, interpreter))
    ? undefined
    : `its first line names the interpreter ${interpreter}, which does not exist`
}

/** As the kernel reads it, which looks no further than this for the end of the line. */
const firstLineBytes = 256

/** What is behind `#!`, with everything up to the end of the line. */
function interpreterLine(path: string): string | undefined {
  try {
    const descriptor = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(firstLineBytes)
      const head = bytes.toString('utf8', 0, readSync(descriptor, bytes))
      return /^#!([^\n]*\S[^\n]*)/.exec(head)?.[1]
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return undefined
  }
}
