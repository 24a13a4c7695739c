import { readRegularFile, sha256 } from '../base/index.ts'

/**
 * The digest of what decides how a skill behaves in a chain: its `SKILL.md` and the scripts that run
 * for it. A file that is gone counts as changed, and so does one that a step has replaced by something
 * that can be read for ever.
 *
 * @param files paths below the directory, in any order; undefined ones are left out.
 * @param known contents that were read already, by the same paths.
 */
export function skillDigest(
  directory: string,
  files: readonly (string | undefined)[],
  known: Readonly<Record<string, Uint8Array>> = {},
): string {
  const names = [...new Set(files.filter((file) => file !== undefined))].toSorted()
  const parts = names.flatMap((name) => {
    const content = Object.hasOwn(known, name) ? known[name] : contentOf(`${directory}/${name}`)
    const head = Buffer.from(`${name}\0${content?.length ?? 'unreadable'}\n`)
    return content === undefined ? [head] : [head, content]
  })
  // One call for all: a hash that is fed is a stream, which costs more than such small files.
  return sha256(Buffer.concat(parts))
}

function contentOf(path: string): Uint8Array | undefined {
  const reading = readRegularFile(path, { maxBytes: Number.MAX_SAFE_INTEGER, binary: true })
  return reading.ok ? reading.bytes : undefined
}
