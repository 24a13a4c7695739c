import { existsSync, readdirSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateDirectory } from '../core/write-files.ts'
import { readRegularFile } from '../core/read-files.ts'
import { redactText } from '../core/redact.ts'
import { sha256 } from '../core/json.ts'

const maxTextBytes = 64 * 1024

/**
 * Keeps texts, each in a file named by its digest, so that a later change can be shown line by line,
 * and drops those whose digest is not among `needed` any more. Of a text that seems to hold a secret
 * only that is remembered. Call only while holding the lock of what the texts belong to.
 */
export function keepTexts(
  directory: string,
  parts: readonly { digest: string; text?: string | undefined }[],
  needed: readonly string[],
): void {
  const present = new Set(namesIn(directory))
  for (const { digest, text } of parts) {
    if (text === undefined || namesOf(digest).some((name) => present.has(name))) continue
    if (sha256(text) !== digest) continue
    if (redactText(text) === text) write(directory, nameOf(digest), text)
    else write(directory, secretName(digest), '')
  }
  const kept = new Set(needed.flatMap(namesOf))
  for (const name of present) if (!kept.has(name)) remove(join(directory, name))
}

/** A text that does not have its digest any more counts as gone. */
export function readKeptText(directory: string, digest: string): string | undefined {
  if (!isFileDigest(digest)) return undefined
  const file = readRegularFile(join(directory, nameOf(digest)), { maxBytes: maxTextBytes })
  return file.ok && sha256(file.bytes) === digest ? file.text : undefined
}

/** Whether a text was not kept because it seemed to hold a secret. */
export function wasSecret(directory: string, digest: string): boolean {
  return isFileDigest(digest) && existsSync(join(directory, secretName(digest)))
}

/**
 * Appears whole or not at all, but may be lost with the power: its digest tells, a diff is all that
 * is missing then, and waiting for the disk would cost seconds for a large workspace.
 */
function write(directory: string, name: string, text: string): void {
  makePrivateDirectory(directory)
  const temporary = join(directory, `${name}.tmp`)
  writeFileSync(temporary, text, { mode: 0o600 })
  renameSync(temporary, join(directory, name))
}

function isFileDigest(digest: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(digest)
}

function namesOf(digest: string): string[] {
  return [nameOf(digest), secretName(digest)]
}

function nameOf(digest: string): string {
  return `${digest.slice('sha256:'.length)}.txt`
}

function secretName(digest: string): string {
  return `${digest.slice('sha256:'.length)}.secret`
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
