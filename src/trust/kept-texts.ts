import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../core/json.ts'
import { readRegularFile } from '../core/read-files.ts'
import { redactText } from '../core/redact.ts'
import { makePrivateDirectory } from '../core/write-files.ts'

const maxTextBytes = 64 * 1024

/**
 * Texts that were accepted or locked, each in a file named by its digest, so that a later change can be
 * shown line by line. Of a text that seems to hold a secret only that is remembered.
 */
export class KeptTexts {
  private readonly directory: string

  constructor(directory: string) {
    this.directory = directory
  }

  /**
   * Keeps the texts of `parts`, and drops those whose digest is not among `needed` any more. Call only
   * while holding the lock of what the texts belong to.
   */
  keep(
    parts: readonly { digest: string; text?: string | undefined }[],
    needed: readonly string[],
  ): void {
    const present = new Set(existsSync(this.directory) ? readdirSync(this.directory) : [])
    const namesOf = (digest: string) => [nameOf(digest, 'txt'), nameOf(digest, 'secret')]
    for (const { digest, text } of parts) {
      const isKnown = namesOf(digest).some((name) => present.has(name))
      if (text === undefined || isKnown || sha256(text) !== digest) continue
      if (redactText(text) === text) this.write(nameOf(digest, 'txt'), text)
      else this.write(nameOf(digest, 'secret'), '')
    }
    const kept = new Set(needed.flatMap(namesOf))
    for (const name of present) {
      if (ownName.test(name) && !kept.has(name)) rmSync(join(this.directory, name), { force: true })
    }
  }

  read(digest: string): string | undefined {
    if (!isFileDigest(digest)) return undefined
    const path = join(this.directory, nameOf(digest, 'txt'))
    const file = readRegularFile(path, { maxBytes: maxTextBytes })
    return file.ok && sha256(file.bytes) === digest ? file.text : undefined
  }

  /** Whether a text was not kept because it seemed to hold a secret. */
  wasSecret(digest: string): boolean {
    return isFileDigest(digest) && existsSync(join(this.directory, nameOf(digest, 'secret')))
  }

  /**
   * Appears whole or not at all, but may be lost with the power: then only a diff is missing, and
   * waiting for the disk would cost seconds for a large workspace.
   */
  private write(name: string, text: string): void {
    makePrivateDirectory(this.directory)
    const temporary = join(this.directory, `${name}.tmp`)
    writeFileSync(temporary, text, { mode: 0o600 })
    renameSync(temporary, join(this.directory, name))
  }
}

const ownName = /^[0-9a-f]{64}\.(?:txt|secret)(?:\.tmp)?$/

function isFileDigest(digest: string): boolean {
  return /^sha256:[0-9a-f]{64}$/.test(digest)
}

function nameOf(digest: string, kind: 'txt' | 'secret'): string {
  return `${digest.slice('sha256:'.length)}.${kind}`
}
