import { readRegularFile, resolveInside } from '../base/index.ts'

/** A larger reference is refused: it would be some 250,000 tokens. */
export const maxTargetBytes: number = 1024 * 1024

export type TargetReading =
  /** `file` is the real path: two ways to write one file are one file. */
  | { ok: true; file: string; text: string; size: number }
  | { ok: false; code: string; message: string }

/** How the file of a trigger is read; see {@link readTarget} for the one that reads the disk. */
export type TargetReader = (directory: string, inject: string) => TargetReading

/**
 * Reads the file that a trigger injects: a regular UTF-8 text of at most 1 MiB that really lies in
 * the skill's directory. Never throws and never waits.
 */
export function readTarget(directory: string, inject: string): TargetReading {
  const inside = resolveInside(directory, inject)
  if (!inside.ok) return { ok: false, code: inside.code, message: inside.message }
  const reading = readRegularFile(inside.path, { maxBytes: maxTargetBytes })
  if (!reading.ok) return { ok: false, code: reading.code, message: reading.message }
  if (reading.bytes.includes(0)) {
    return { ok: false, code: 'file-binary', message: `${inside.path} is binary, not text` }
  }
  return { ok: true, file: inside.path, text: reading.text, size: reading.size }
}
