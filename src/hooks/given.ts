import {
  appendFileSync,
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { makePrivateDirectory } from '../core/write-files.ts'
import { type Runtime, userDirectories } from '../core/runtime.ts'
import { sha256 } from '../core/json.ts'
import { systemCode } from '../core/errors.ts'
import type { InjectedReference } from '../trigger/inject.ts'
import { fingerprint } from './trigger-cache.ts'

/**
 * Claims one part of one turn, so that a client that asks twice (for two events, or for the user and
 * for the project) gets one answer. Returns whether this is the first claim. Of two registrations with
 * different numbers of parts the one that comes first gives them all.
 */
export function claimTurn(
  runtime: Runtime,
  turn: string,
  { number, of }: { number: number; of: number },
): boolean {
  const directory = join(stateDirectory(runtime), 'turns')
  const path = join(directory, fingerprint(turn))
  try {
    makePrivateDirectory(directory)
    if (agreedParts(path, of) !== of) return false
    closeSync(openSync(`${path}-${number}`, 'wx', 0o600))
  } catch (error) {
    return systemCode(error) !== 'EEXIST'
  }
  forgetOldFiles(directory, runtime.now())
  return true
}

function agreedParts(path: string, of: number): number {
  const own = `${path}.${process.pid}`
  writeFileSync(own, String(of), { mode: 0o600 })
  try {
    linkSync(own, path)
    return of
  } catch (error) {
    // Where a file system has no links every registration answers for itself.
    return systemCode(error) === 'EEXIST' ? Number(readFileSync(path, 'utf8')) : of
  } finally {
    unlinkSync(own)
  }
}

/** The references that a session has not got yet, for `hooks.repeat: session`; noted under `turn`. */
export function withoutGiven(
  runtime: Runtime,
  session: string,
  turn: string,
  references: readonly InjectedReference[],
): InjectedReference[] {
  const directory = join(stateDirectory(runtime), 'sessions')
  const path = join(directory, fingerprint(session))
  // Text and place: an edited reference is given again.
  const markOf = ({ file, text }: InjectedReference): string => sha256(`${file}\0${text}`)
  const noted = linesOf(path)
  const isNew = references.filter((reference) => {
    const mark = markOf(reference)
    return noted.every((line) => !line.startsWith(`${mark} `) || line === `${mark} ${turn}`)
  })
  if (isNew.length === 0) return []
  const lines = isNew.map((reference) => `${markOf(reference)} ${turn}\n`)
  try {
    makePrivateDirectory(directory)
    appendFileSync(path, lines.join(''), { mode: 0o600 })
    forgetOldFiles(directory, runtime.now())
  } catch {
    // Read-only or full: the reference is given again, which is only longer.
  }
  return isNew
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

function stateDirectory(runtime: Runtime): string {
  return join(userDirectories(runtime).state, 'hooks')
}

const mostFiles = 500
const oldestMs = 7 * 24 * 3600 * 1000

/** Looks at the ages only once there are many files. */
function forgetOldFiles(directory: string, nowMs: number): void {
  const names = readdirSync(directory)
  if (names.length < mostFiles) return
  for (const name of names) {
    const path = join(directory, name)
    const age = nowMs - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs)
    if (age > oldestMs || names.length > 4 * mostFiles) unlinkSync(path)
  }
}
