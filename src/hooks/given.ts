import {
  appendFileSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { statsOf } from '#core/read-files'
import { forgetOldFiles, makePrivateDirectory } from '#core/write-files'
import type { Runtime } from '#core/runtime'
import { objectOf, parseJson } from '#core/json'
import { systemCode } from '#core/errors'
import type { InjectedReference } from '#trigger/inject'
import { stateDirectory } from './trigger-cache.ts'
import { fingerprint } from '#core/fingerprint'

/** Claims one part of one turn, so that a client that asks twice gets one answer. */
export function claimTurn(
  runtime: Runtime,
  turn: string,
  { number, of }: { number: number; of: number },
): boolean {
  const name = fingerprint(turn)
  return claim(runtime, `${name}-${number}`, (directory) => {
    return agreedParts(join(directory, name), of) === of
  })
}

/** Claims something that is done only once. If that cannot be noted, it is done. */
export function claimOnce(runtime: Runtime, what: string): boolean {
  return claim(runtime, fingerprint(what))
}

function claim(
  runtime: Runtime,
  name: string,
  isMine: (directory: string) => boolean = () => true,
): boolean {
  const directory = join(stateDirectory(runtime), 'turns')
  try {
    makePrivateDirectory(directory)
    if (!isMine(directory)) return false
    closeSync(openSync(join(directory, name), 'wx', 0o600))
  } catch (error) {
    return systemCode(error) !== 'EEXIST'
  }
  // That looks at every file, so one claim of sixteen does it.
  if (name.startsWith('0')) forgetOldFiles(directory, runtime.now(), maxFiles)
  return true
}

/** The first registration writes how many parts there are, as the target of a link. */
function agreedParts(path: string, of: number): number {
  try {
    symlinkSync(String(of), path)
    return of
  } catch (error) {
    // Without links in the file system, each registration answers alone.
    return systemCode(error) === 'EEXIST' ? Number(readlinkSync(path)) : of
  }
}

export interface Conversation {
  session: string
  /** The ID of the subagent; empty for the main agent. */
  agent: string
  /** The number of tool calls so far, where a mark is too old after `most` of them. */
  calls?: { now: number; most: number } | undefined
}

/** The first line of a mark; the lines below it are denials, `TIME CALL`. */
interface Mark {
  skill: string
  path: string
  turn: string
  calls: number
}

/**
 * On an idle machine, a call that follows a denial this closely was made before the model could read the
 * denial. Each denial opens the window again, up to `longestWindows` times in all.
 */
const denialWindowMs = 1500
const longestWindows = 8

/** Records that a reference is injected. Returns false if another turn injected it already. */
export function claimReference(
  runtime: Runtime,
  conversation: Conversation,
  reference: InjectedReference,
  turn: string,
): boolean {
  try {
    const otherMark = takeMark(runtime, conversation, reference, turn, '')
    return otherMark === undefined || readMark(otherMark)?.turn === turn
  } catch {
    return true // Read-only or full: the reference is injected again, which is only longer.
  }
}

/**
 * Whether a call is denied so that the model reads the reference first. The same call is allowed
 * again. With `slowness` 2, everything on this machine takes twice the usual time.
 */
export function claimDenial(
  runtime: Runtime,
  conversation: Conversation,
  reference: InjectedReference,
  call: string,
  slowness: number,
): boolean {
  const now = runtime.now()
  const line = `${now} ${call}\n`
  let earlierMark: string | undefined
  try {
    earlierMark = takeMark(runtime, conversation, reference, '', line)
  } catch {
    return false // A denial that cannot be recorded could repeat for ever.
  }
  if (earlierMark === undefined) return true
  const denials = earlierMark.split('\n').slice(1, -1)
  const since = (denial: string | undefined) => now - Number.parseInt(denial ?? '0', 10)
  const isRead =
    since(denials.at(-1)) > denialWindowMs * Math.min(slowness, longestWindows) ||
    since(denials[0]) > denialWindowMs * longestWindows
  if (isRead || denials.some((denial) => denial.endsWith(` ${call}`))) return false
  appendFileSync(markPath(runtime, conversation, reference), line)
  return true
}

/** The references that a conversation still has. */
export function givenReferences(runtime: Runtime, conversation: Conversation): Mark[] {
  return marksOf(runtime, conversation).flatMap((path) => readMark(textOf(path)) ?? [])
}

/** Forgets the references of a conversation, because its context was compacted. */
export function forgetGiven(runtime: Runtime, conversation: Conversation): void {
  for (const path of marksOf(runtime, conversation)) rmSync(path, { force: true })
}

/** The number of tool calls of a session so far; `one` counts one more. */
export function countCalls(runtime: Runtime, session: string, one: boolean): number {
  const path = join(sessionDirectory(runtime, session), 'calls')
  if (one) {
    makePrivateDirectory(dirname(path))
    appendFileSync(path, '.', { mode: 0o600 })
  }
  return statsOf(path)?.size ?? 0
}

function takeMark(
  runtime: Runtime,
  conversation: Conversation,
  reference: InjectedReference,
  turn: string,
  more: string,
): string | undefined {
  const place = markPath(runtime, conversation, reference)
  const { now = 0, most = Infinity } = conversation.calls ?? {}
  const mark: Mark = { skill: reference.skill, path: reference.path, turn, calls: now }
  makePrivateDirectory(dirname(place))
  forgetOldFiles(dirname(dirname(place)), runtime.now(), maxFiles)
  for (;;) {
    try {
      writeFileSync(place, `${JSON.stringify(mark)}\n${more}`, { flag: 'wx', mode: 0o600 })
      return undefined
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
      const stored = textOf(place)
      if (now - (readMark(stored)?.calls ?? now) < most) return stored
      rmSync(place, { force: true })
    }
  }
}

/** Depends on text and place: an edited reference is injected again. */
function markPath(
  runtime: Runtime,
  { session, agent }: Conversation,
  { file, text }: InjectedReference,
): string {
  const name = `${fingerprint(agent)}-${fingerprint(`${file}\0${text}`)}`
  return join(sessionDirectory(runtime, session), name)
}

function readMark(text: string): Mark | undefined {
  const { skill, path, turn, calls } = objectOf(parseJson(text.split('\n')[0] ?? ''))
  const isWhole = typeof skill === 'string' && typeof path === 'string'
  return isWhole ? { skill, path, turn: String(turn), calls: Number(calls) } : undefined
}

function marksOf(runtime: Runtime, { session, agent }: Conversation): string[] {
  const directory = sessionDirectory(runtime, session)
  try {
    const ofAgent = readdirSync(directory).filter((name) =>
      name.startsWith(`${fingerprint(agent)}-`),
    )
    return ofAgent.map((name) => join(directory, name))
  } catch {
    return []
  }
}

export function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function sessionDirectory(runtime: Runtime, session: string): string {
  return join(stateDirectory(runtime), 'sessions', fingerprint(session))
}

/** Maximum number of turns, and of sessions, that are stored. */
const maxFiles = 500
