import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory, messageOf, UsageError } from '../base/index.ts'

/**
 * Makes the directory of a file that will be written later, and finds out whether it can be.
 * @param option that names the file, for the message.
 * @param how `replace`: only its directory has to be writable, as for `writeNamedFile`, which writes into
 *   devices and pipes themselves.
 * @throws {UsageError} when it cannot.
 */
export function requireWritable(path: string, option: string, how: 'append' | 'replace'): void {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found?.isDirectory() === true) throw new Error('it is a directory')
    if (found?.isFile() === false) return accessSync(path, constants.W_OK)
    if (found === undefined) makeDirectory(dirname(path))
    const target = found === undefined ? path : realpathSync(path)
    const changed = found !== undefined && how === 'append' ? target : dirname(target)
    accessSync(changed, constants.W_OK)
  } catch (error) {
    throw new UsageError({
      code: 'file-not-writable',
      message: `${option}: ${path} cannot be written: ${messageOf(error)}`,
      hint: 'Nothing was run. Name a file in a directory that can be written to.',
      cause: error,
    })
  }
}
