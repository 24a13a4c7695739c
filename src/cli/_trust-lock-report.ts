import { type Diagnostic, safeLine, safeText } from '../base/index.ts'
import {
  type CurrentSkill,
  currentSkills,
  lockAbove,
  type LockChange,
  lockDrift,
  type LockFileChange,
  type LockReading,
} from '../trust/index.ts'
import { amount } from '../base/text.ts'
import type { Standing } from './_trust-standing.ts'
import { type KeptTexts, textChange } from './_text-change.ts'

/** What the lock of a project says of its skills; also what `--json` prints. */
export interface LockReport {
  path: string
  state: 'none' | 'locked' | 'drifted' | 'unreadable'
  /** Of how many skills it does not say which files may be executed, though that is known here. */
  withoutBits: number
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
  /** Whether it may be executed now, where that is not as locked; `true` of an added one that may. */
  executable?: boolean | undefined
  /** Why there is no diff, and what else differs. */
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
  kept: KeptTexts,
): LockComparison {
  const { workspace, lockable, lock, lockIsGone } = standing
  if (lock.state !== 'read')
    return { report: withoutSkills(workspace, lock, lockIsGone), current: [] }
  const current = currentSkills(workspace, lockable)
  const changes = lockDrift(workspace, lock.skills, current).map((change) => ({
    ...change,
    files: change.files.map((file) => fileReport(change.path, file, kept)),
  }))
  const state = changes.length === 0 ? 'locked' : 'drifted'
  const withoutBits = current.filter(({ path, tree }) => {
    const locked = lock.skills.get(path)
    return locked !== undefined && locked.executable === undefined && tree.executable !== undefined
  }).length
  return { report: { path: lock.path, state, withoutBits, changes, diagnostics: [] }, current }
}

/** For a person, line by line; every word of the project made harmless. */
export function lockReportLines({ path, state, withoutBits, changes }: LockReport): string[] {
  if (state === 'none' || state === 'unreadable') return []
  const differ = `${amount(changes.length, 'skill')} ${changes.length === 1 ? 'differs' : 'differ'}`
  const words = state === 'locked' ? 'every skill is as locked' : differ
  const bits = `  It does not say which files of ${amount(withoutBits, 'skill')} may be executed: skillrail trust --lock adds that.`
  return [
    `Lock ${safeLine(path)}: ${words}`,
    ...(withoutBits > 0 ? [bits] : []),
    ...changes.flatMap(skillLines),
  ]
}

function withoutSkills(
  workspace: string,
  lock: Exclude<LockReading, { state: 'read' }>,
  isGone: boolean,
): LockReport {
  const { path, state } = lock
  const diagnostics =
    lock.state === 'unreadable'
      ? lock.diagnostics
      : isGone
        ? [lockGone(path)]
        : heldAbove(workspace, path)
  return { path, state, withoutBits: 0, changes: [], diagnostics }
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

/** A repository inside a project that has a lock. */
function heldAbove(workspace: string, path: string): Diagnostic[] {
  const above = lockAbove(workspace)
  if (above === undefined) return []
  return [
    {
      code: 'lock-file-above',
      severity: 'warning',
      message: `the workspace has no lock file of its own, so its skills are held to ${above}`,
      path,
      hint: 'What is not in that lock is not trusted. To lock the skills here: skillrail trust --lock',
    },
  ]
}

function fileReport(
  skill: string,
  { change, path, locked, file, executable }: LockFileChange,
  kept: KeptTexts,
): LockedFileReport {
  if (file === undefined) return { change, path }
  const before = locked === undefined ? 'new' : { digest: locked, verb: 'locked' as const }
  const isSameContent = locked === file.digest
  const content = isSameContent ? {} : textChange(`${skill}/${path}`, file, before, kept)
  const bit = executable === undefined ? undefined : bitWords[`${executable}`]
  const notes = [bit, content.note].filter((note) => note !== undefined)
  const note = notes.length === 0 ? undefined : notes.join('; ')
  return { change, path, executable, ...content, note }
}

const bitWords = {
  true: 'may be executed now',
  false: 'may not be executed any more',
} as const

function skillLines({ change, name, path, problem, files }: LockedSkillReport): string[] {
  const note = problem === undefined ? '' : ` (${problem})`
  return [`  ${change}: ${safeLine(`${name}  ${path}${note}`)}`, ...files.flatMap(fileLines)]
}

function fileLines({ change, path, diff, note }: LockedFileReport): string[] {
  const words = note === undefined ? path : `${path} (${note})`
  const lines = diff === undefined || diff === '' ? [] : diff.split('\n').slice(2)
  return [`    ${change}: ${safeLine(words)}`, ...lines.map((line) => `      ${safeText(line)}`)]
}
