import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '#core/json'
import { readRegularFile } from '#core/read-files'
import { redactText } from '#core/redact'
import { makePrivateDirectory } from '#core/write-files'

const maxTextBytes = 16 * 1024 * 1024

/** Accepted or locked texts by their digest, for later diffs. A text that seems to contain a secret is not kept. */
export class KeptTexts {
  private readonly directory: string

  constructor(directory: string) {
    this.directory = directory
  }

  /** Keeps the texts of `parts`, and removes each kept text whose digest is not in `neededDigests`. */
  keep(
    parts: readonly { digest: string; text?: string | undefined }[],
    neededDigests: readonly string[],
  ): void {
    const present = new Set(existsSync(this.directory) ? readdirSync(this.directory) : [])
    for (const { digest, text } of parts) {
      const name = nameOf(digest)
      if (text === undefined || present.has(name) || sha256(text) !== digest) continue
      if (redactText(text) === text) this.write(name, text)
    }
    const neededNames = new Set(neededDigests.map(nameOf))
    for (const name of present) {
      if (textName.test(name) && !neededNames.has(name))
        rmSync(join(this.directory, name), { force: true })
    }
  }

  read(digest: string): string | undefined {
    if (!/^sha256:[0-9a-f]{64}$/.test(digest)) return undefined
    const path = join(this.directory, nameOf(digest))
    const file = readRegularFile(path, { maxBytes: maxTextBytes })
    return file.ok && sha256(file.bytes) === digest ? file.text : undefined
  }

  /** Atomic but not synced: a lost text costs only a diff, and syncing would take seconds. */
  private write(name: string, text: string): void {
    makePrivateDirectory(this.directory)
    const temporary = join(this.directory, `${name}.tmp`)
    writeFileSync(temporary, text, { mode: 0o600 })
    renameSync(temporary, join(this.directory, name))
  }
}

const textName = /^[0-9a-f]{64}\.(?:txt|secret)(?:\.tmp)?$/

function nameOf(digest: string): string {
  return `${digest.slice('sha256:'.length)}.txt`
}
