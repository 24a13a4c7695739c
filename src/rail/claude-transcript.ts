import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { isObject, parseJson } from '#core/json'

/** The turn after a prompt can be long; only this number of bytes at the end is read. */
const maxBytes = 32 * 1024 * 1024

/**
 * Returns the origin of a prompt from Claude Code's transcript: `human` at a terminal, `sdk` from a program
 * or `-p`, `scheduled`, `task_notification`. The transcript contains it from the first event after the
 * prompt on. Undefined if it cannot be read.
 */
export function originOfPrompt(path: string, promptId: string): string | undefined {
  let descriptor: number
  try {
    descriptor = openSync(path, 'r')
  } catch {
    return undefined
  }
  try {
    return originIn(endOf(descriptor), promptId)
  } catch {
    return undefined
  } finally {
    closeSync(descriptor)
  }
}

function endOf(descriptor: number): string {
  const { size } = fstatSync(descriptor)
  const length = Math.min(size, maxBytes)
  const buffer = Buffer.alloc(length)
  const count = readSync(descriptor, buffer, 0, length, size - length)
  return buffer.toString('utf8', 0, count)
}

/** The first row counts: later rows of the same turn have the same ID. */
function originIn(text: string, promptId: string): string | undefined {
  const id = JSON.stringify(promptId)
  for (const line of text.split('\n')) {
    if (!line.includes(id)) continue
    const row = parseJson(line)
    if (!isObject(row) || row['promptId'] !== promptId || row['type'] !== 'user') continue
    const { turnOrigin } = row
    if (typeof turnOrigin === 'string') return turnOrigin
  }
  return undefined
}
