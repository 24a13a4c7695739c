import { readRegularFile, resolveInside } from '../base/index.ts'
import { SkillLoadError } from '../skill/index.ts'
import type { SkillInfo } from './model.ts'

/** A larger reference is refused: no model could read it at once. */
export const maxResourceBytes: number = 1024 * 1024

export interface Resource {
  /** Relative to the skill's directory, as it was asked for. */
  path: string
  text: string
  /** Bytes. */
  size: number
}

/**
 * Reads a file of a skill: a regular UTF-8 file of at most 1 MiB that really lies in the skill's
 * directory, whatever links say.
 *
 * @throws {SkillLoadError} with the code of what is wrong: `path-escapes`, `path-missing`, …
 */
export function readSkillResource({ name, directory }: SkillInfo, path: string): Resource {
  if (directory === '') {
    throw new SkillLoadError({
      code: 'path-missing',
      message: `Skill ${name} exists only in code and has no files; ${path} cannot be read.`,
    })
  }
  const resolved = resolveInside(directory, path)
  if (!resolved.ok) throw refused(name, path, resolved)
  const reading = readRegularFile(resolved.path, {
    maxBytes: maxResourceBytes,
    // The path is real: a link there now was put there since it was checked.
    followSymlinks: false,
  })
  if (!reading.ok) throw refused(name, path, reading)
  return { path, text: reading.text, size: reading.size }
}

function refused(
  skill: string,
  path: string,
  { code, message }: { code: string; message: string },
): SkillLoadError {
  return new SkillLoadError({
    code,
    message: `Resource ${path} of skill ${skill} cannot be read: ${message}.`,
    hint: 'A skill can read only files in its own directory; skillrail show lists them.',
  })
}
