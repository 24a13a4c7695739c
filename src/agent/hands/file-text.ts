import { lstatSync } from 'node:fs'
import { readRegularFile } from '../../base/index.ts'
import { AgentUsageError } from '../agent-errors.ts'
import type { Place } from './place.ts'

/** Larger files are for programs: the shell can cut them. */
export const maxFileBytes = 10 * 1024 * 1024

/**
 * The text of a file whose links were resolved.
 *
 * @throws {AgentUsageError} for what is missing, no regular file, too large or binary.
 */
export function readText({ real, shown }: Place): string {
  const reading = readRegularFile(real, { maxBytes: maxFileBytes, followSymlinks: false })
  if (!reading.ok) {
    if (reading.code === 'file-not-utf8') throw binary(real, shown)
    throw new AgentUsageError({
      code: reading.code,
      message: `${reading.message.replace(real, shown)}.`,
    })
  }
  if (reading.bytes.includes(0)) throw binary(real, shown)
  return reading.text
}

function binary(real: string, shown: string): AgentUsageError {
  const size = lstatSync(real, { throwIfNoEntry: false })?.size ?? 0
  return new AgentUsageError({
    code: 'file-binary',
    message: `${shown} is a binary file of ${size} bytes, not text.`,
  })
}
