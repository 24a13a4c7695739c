import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ProcessRequest } from './process.ts'

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
    // A pipe in the place of a program is not waited for.
    const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
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
