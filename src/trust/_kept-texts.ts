import { mkdirSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFile, redactText, sha256 } from '../base/index.ts'
import type { Acceptance, ActingPart } from './model.ts'

const maxTextBytes = 64 * 1024

/**
 * Keeps the accepted texts, each in a file named by its digest, so that a later change can be shown
 * line by line, and drops those that no workspace needs any more. A text that seems to hold a
 * secret is not copied. Call only while holding the lock of the record.
 */
export function keepTexts(
  directory: string,
  parts: readonly ActingPart[],
  acceptances: readonly Acceptance[],
): void {
  const present = new Set(namesIn(directory))
  for (const { digest, text } of parts) {
    if (text === undefined || present.has(nameOf(digest))) continue
    if (sha256(text) !== digest || redactText(text) !== text) continue
    write(directory, nameOf(digest), text)
  }
  const needed = new Set(
    acceptances.flatMap((item) => item.parts.map((part) => nameOf(part.digest))),
  )
  for (const name of present) if (!needed.has(name)) remove(join(directory, name))
}

/** A text that does not have its digest any more counts as gone. */
export function readKeptText(directory: string, digest: string): string | undefined {
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) return undefined
  const file = readRegularFile(join(directory, nameOf(digest)), { maxBytes: maxTextBytes })
  return file.ok && sha256(file.bytes) === digest ? file.text : undefined
}

/**
 * Appears whole or not at all, but may be lost with the power: its digest tells, a diff is all that
 * is missing then, and waiting for the disk would cost seconds for a large workspace.
 */
function write(directory: string, name: string, text: string): void {
  mkdirSync(directory, { recursive: true })
  const temporary = join(directory, `${name}.tmp`)
  writeFileSync(temporary, text, { mode: 0o600 })
  renameSync(temporary, join(directory, name))
}

function nameOf(digest: string): string {
  return `${digest.slice('sha256:'.length)}.txt`
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // A directory, or gone already: a leftover text costs space and nothing else.
  }
}
