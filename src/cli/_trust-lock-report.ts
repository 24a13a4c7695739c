import { type Diagnostic, safeLine, safeText } from '../base/index.ts'
import {
  type CurrentSkill,
  currentSkills,
  type LockChange,
  lockDrift,
  type LockFileChange,
  type LockReading,
} from '../trust/index.ts'
import { amount } from './_cells.ts'
import type { Standing } from './_trust-standing.ts'
import { unifiedDiff } from './_unified-diff.ts'

/** What the lock of a project says of its skills; also what `--json` prints. */
export interface LockReport {
  path: string
  state: 'none' | 'locked' | 'drifted' | 'unreadable'
  changes: readonly LockedSkillReport[]
  diagnostics: readonly Diagnostic[]
}

interface LockedSkillReport extends Omit<LockChange, 'files'> {
  files: readonly LockedFileReport[]
}

interface LockedFileReport {
  change: LockFileChange['change']
  path: string
  /** A unified diff, where both texts are known. */
  diff?: string | undefined
  /** Why there is none. */
  note?: string | undefined
}

export interface LockComparison {
  report: LockReport
  /** As they are now; empty where there is no lock to compare them with. */
  current: readonly CurrentSkill[]
}

/** Reads the skills only where there is a lock. */
export function compareWithLock(
  standing: Pick<Standing, 'workspace' | 'lockable' | 'lock' | 'lockIsGone'>,
  lockedText: (digest: string) => string | undefined,
): LockComparison {
  const { workspace, lockable, lock, lockIsGone } = standing
  if (lock.state !== 'read') return { report: withoutSkills(lock, lockIsGone), current: [] }
  const current = currentSkills(workspace, lockable)
  const changes = lockDrift(workspace, lock.skills, current).map((change) => ({
    ...change,
    files: change.files.map((file) => fileReport(change.path, file, lockedText)),
  }))
  const state = changes.length === 0 ? 'locked' : 'drifted'
  return { report: { path: lock.path, state, changes, diagnostics: [] }, current }
}

/** For a person, line by line; every word of the project made harmless. */
export function lockReportLines({ path, state, changes }: LockReport): string[] {
  if (state === 'none' || state === 'unreadable') return []
  if (state === 'locked') return [`Lock ${safeLine(path)}: every skill is as locked`]
  const differ = `${amount(changes.length, 'skill')} ${changes.length === 1 ? 'differs' : 'differ'}`
  return [`Lock ${safeLine(path)}: ${differ}`, ...changes.flatMap(skillLines)]
}

function withoutSkills(lock: Exclude<LockReading, { state: 'read' }>, isGone: boolean): LockReport {
  const { path, state } = lock
  if (lock.state === 'unreadable')
    return { path, state, changes: [], diagnostics: lock.diagnostics }
  return { path, state, changes: [], diagnostics: isGone ? [lockGone(path)] : [] }
}

/** Without its lock nothing holds the text of a skill, and whoever changes that could delete it. */
function lockGone(path: string): Diagnostic {
  return {
    code: 'lock-file-gone',
    severity: 'warning',
    message: 'the lock file of the project is gone: its skills were locked when you last looked',
    path,
    hint: 'Take it from version control again, or lock the skills as they are: skillrail trust --lock. To do without: skillrail trust --unlock',
  }
}

function fileReport(
  skill: string,
  { change, path, locked, file }: LockFileChange,
  lockedText: (digest: string) => string | undefined,
): LockedFileReport {
  if (file === undefined) return { change, path }
  const { problem, link, text } = file
  if (problem !== undefined) return { change, path, note: problem }
  if (link !== undefined) return { change, path, note: `a link to ${link}` }
  if (text === undefined) return { change, path, note: 'no text, or too long to be shown' }
  const before = locked === undefined ? '' : lockedText(locked)
  if (before === undefined) {
    return { change, path, note: 'the text that was locked is not known here' }
  }
  return { change, path, diff: unifiedDiff(`${skill}/${path}`, before, text) }
}

function skillLines({ change, name, path, problem, files }: LockedSkillReport): string[] {
  const note = problem === undefined ? '' : ` (${problem})`
  return [`  ${change}: ${safeLine(`${name}  ${path}${note}`)}`, ...files.flatMap(fileLines)]
}

function fileLines({ change, path, diff, note }: LockedFileReport): string[] {
  const words = note === undefined ? path : `${path} (${note})`
  const lines = diff === undefined || diff === '' ? [] : diff.split('\n').slice(2)
  return [`    ${change}: ${safeLine(words)}`, ...lines.map((line) => `      ${safeText(line)}`)]
}
