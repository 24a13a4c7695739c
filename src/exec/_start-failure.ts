import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
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
  const missing = message.endsWith(' ENOENT') ? whatIsMissing(request) : undefined
  return {
    kind: 'not-started',
    message: missing === undefined ? message : `${missing} (${message})`,
  }
}

/**
 * What beside the program itself has to be there, and is not: its directory, or its interpreter, of
 * which the system says nothing. Undefined when it is neither.
 */
export function whatIsMissing({
  file,
  cwd,
}: Pick<ProcessRequest, 'file' | 'cwd'>): string | undefined {
  if (!existsSync(cwd)) return `the directory it is to run in, ${cwd}, does not exist`
  // One without a slash was looked for in the search path.
  const interpreter = file.includes('/') ? interpreterOf(resolve(cwd, file)) : undefined
  if (interpreter === undefined) return undefined
  const withoutReturn = interpreter.replace(/\r$/, '')
  if (withoutReturn !== interpreter) {
    return `its first line, #!${withoutReturn}, ends with a carriage return, which counts as a part of the name: save it with LF line endings`
  }
  return existsSync(resolve(cwd, interpreter))
    ? undefined
    : `its first line names the interpreter ${interpreter}, which does not exist`
}

/** As the kernel reads it, which looks no further than this for the end of the line. */
const firstLineBytes = 256

function interpreterOf(path: string): string | undefined {
  try {
    const descriptor = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(firstLineBytes)
      const head = bytes.toString('utf8', 0, readSync(descriptor, bytes))
      return /^#![ \t]*([^ \t\n]+)/.exec(head)?.[1]
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return undefined
  }
}
