import { statSync } from 'node:fs'
import type { PatternPlan } from '../trigger/index.ts'

/**
 * The index of the hook: lines of text, each with a letter first, its parts separated by tabs.
 *
 *     skillrail hooks 1              what it is, and the version of its form
 *     {…}                            {@link IndexHead}
 *     P PATH STAMP                   something that the answer depends on; `-` where it is missing
 *     E PATH STAMP                   the same, where only its existence counts: `+` or `-`
 *     S PATH STAMP TRUST NAME        a skill that can be used: its SKILL.md
 *     T LITERAL JSON                 a trigger of the skill above: {@link IndexedTrigger}
 *     end
 *
 * LITERAL is a text that every prompt has on which the trigger can fire; empty where none is known.
 */
export const indexTitle = 'skillrail hooks 1'
export const indexEnd = 'end'

export interface IndexHead {
  /** Everything besides files that the answer depends on. */
  key: string
  /** Whether nothing that was read had changed so shortly before that a second change could hide. */
  settled: boolean
  /** `hooks.repeat` of the configuration. */
  repeat: 'prompt' | 'session'
}

/** `+` trusted, `?` trusted as long as what acts is what was accepted, `-` not trusted. */
export type TrustMark = '+' | '?' | '-'

export interface IndexedTrigger {
  match: string
  inject: string
  /** Line of the `SKILL.md`. */
  line: number
  plan: PatternPlan
}

export interface StampedFile {
  ctimeMs: number
  size: number
  ino: number
}

/** The identity of a file as text; `-` where there is none. No content changes without its ctime. */
export function stampOf(file: StampedFile | undefined): string {
  return file === undefined ? '-' : `${file.ctimeMs} ${file.size} ${file.ino}`
}

/** The stamp of a path now. A file in a directory that may not be entered counts as missing. */
export function currentStamp(path: string): string {
  try {
    return stampOf(statSync(path, { throwIfNoEntry: false }))
  } catch {
    return '-'
  }
}

export function existenceStamp(path: string): string {
  return currentStamp(path) === '-' ? '-' : '+'
}
