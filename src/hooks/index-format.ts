import { statSync } from 'node:fs'
import type { PatternPlan } from '../trigger/index.ts'

/**
 * The index of the hook is text. Its lines:
 *
 * 1. {@link titleLine}: what it is, the version of its form, and the bytes of lines 2 and 3.
 * 2. {@link IndexHead} as JSON.
 * 3. {@link IndexTables} as JSON.
 * 4. Triggers: {@link IndexedTrigger} as JSON, a line each, in order of precedence.
 *
 * The tables are flat lists of numbers, because a prompt waits while they are read: of thousands of
 * triggers only those are read at all whose rarest three characters are in the prompt.
 */
export function titleLine(headBytes: number): string {
  return `skillrail hooks 1 ${String(headBytes).padStart(10)}\n`
}

export const titleBytes: number = titleLine(0).length

/** The bytes of lines 2 and 3; undefined where the line is of another form. */
export function headBytesIn(title: string): number | undefined {
  const headBytes = Number(title.slice(-11))
  return title === titleLine(headBytes) ? headBytes : undefined
}

export interface IndexHead {
  /** Everything besides files that the answer depends on. */
  key: string
  /** Whether nothing that was read had changed so shortly before that a second change could hide. */
  settled: boolean
  /** `hooks.repeat` of the configuration. */
  repeat: 'prompt' | 'session'
}

export interface IndexTables {
  /** Path and stamp in turn: what the answer depends on besides skills. */
  probes: readonly string[]
  /** Path and `+` or `-` in turn, where only existence counts. */
  existing: readonly string[]
  /** The `SKILL.md` of every skill that can be used. */
  paths: readonly string[]
  names: readonly string[]
  /** A {@link TrustMark} of each skill. */
  trust: string
  /** Of each skill: ctime in ms, size, inode. */
  stamps: readonly number[]
  /** Of each trigger: {@link gramOf} of a text that the prompt must have, or -1. */
  grams: readonly number[]
  /** Of each trigger: the bytes of its line, without the line feed. */
  sizes: readonly number[]
}

/** `+` trusted, `?` trusted as long as what acts is what was accepted, `-` not trusted. */
export type TrustMark = '+' | '?' | '-'

export interface IndexedTrigger {
  /** The number of its skill in the tables. */
  skill: number
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

/** The file behind a path, or undefined. One in a directory that may not be entered counts as missing. */
export function statOf(path: string): StampedFile | undefined {
  try {
    return statSync(path, missingIsFine)
  } catch {
    return undefined
  }
}

const missingIsFine = { throwIfNoEntry: false } as const

/** The identity of a file as text; `-` where there is none. No content changes without its ctime. */
export function currentStamp(path: string): string {
  const file = statOf(path)
  return file === undefined ? '-' : `${file.ctimeMs} ${file.size} ${file.ino}`
}

export function existenceStamp(path: string): string {
  return statOf(path) === undefined ? '-' : '+'
}

/** Three characters of a text, from `at`, as a number below {@link gramCount}. */
export function gramOf(text: string, at: number): number {
  const first = Math.imul(text.charCodeAt(at), 961)
  return (
    (first + Math.imul(text.charCodeAt(at + 1), 31) + text.charCodeAt(at + 2)) & (gramCount - 1)
  )
}

export const gramCount = 1 << 16
