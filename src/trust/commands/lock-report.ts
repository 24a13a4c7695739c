import type { Diagnostic } from '../../core/diagnostic.ts'
import { amount, safeLine } from '../../core/text.ts'
import {
  type CurrentSkill,
  currentSkills,
  type LockChange,
  lockDrift,
  type LockFileChange,
  nearestLock,
} from '../lock.ts'
import { type TextChange, textChange, textChangeLines, type TextSource } from './report.ts'
import type { Review } from './review.ts'

export interface LockReport {
  path: string
  state: 'none' | 'locked' | 'drifted' | 'unreadable'
  /** Of how many skills it does not say which files may be executed, though that is known here. */
  withoutBits: number
  changes: readonly (Omit<LockChange, 'files'> & { files: readonly LockedFileReport[] })[]
  diagnostics: readonly Diagnostic[]
}

/** Its note also says what else differs. */
type LockedFileReport = TextChange & Omit<LockFileChange, 'locked' | 'file'>

/** Reads the skills only where there is a lock; `current` is empty where there is none. */
export function compareWithLock(review: Review): {
  report: LockReport
  current: readonly CurrentSkill[]
} {
  const { workspace, lockable, lock, lockStore, store } = review
  const { path, state } = lock
  if (state !== 'read') {
    const diagnostics = state === 'unreadable' ? lock.diagnostics : missingLock(review)
    return { report: { path, state, withoutBits: 0, changes: [], diagnostics }, current: [] }
  }
  // As they were locked here, or else as they were accepted.
  const texts: TextSource = {
    read: (digest) => lockStore.texts.read(digest) ?? store.texts.read(digest),
    wasSecret: (digest) => lockStore.texts.wasSecret(digest) || store.texts.wasSecret(digest),
  }
  const current = currentSkills(workspace, lockable)
  const changes = lockDrift(workspace, lock.skills, current).map((change) => ({
    ...change,
    files: change.files.map((file) => fileReport(change.path, file, texts)),
  }))
  const withoutBits = current.filter(({ path: directory, tree }) => {
    const locked = lock.skills.get(directory)
    return locked !== undefined && locked.executable === undefined && tree.executable !== undefined
  }).length
  const compared = changes.length === 0 ? 'locked' : 'drifted'
  return { report: { path, state: compared, withoutBits, changes, diagnostics: [] }, current }
}

/** Without its lock nothing holds the text of a skill, and whoever changes that could delete it. */
function missingLock({ workspace, lock: { path }, lockIsGone }: Review): Diagnostic[] {
  if (lockIsGone) {
    const message =
      'the lock file of the project is gone: its skills were locked when you last looked'
    const hint =
      'Take it from version control again, or lock the skills as they are: skillrail trust --lock. To do without: skillrail trust --unlock'
    return [{ code: 'lock-file-gone', severity: 'warning', message, path, hint }]
  }
  const { place, reading } = nearestLock(workspace)
  if (place === workspace || reading.state === 'none') return []
  const message = `the workspace has no lock file of its own, so its skills are held to ${reading.path}`
  const hint =
    'What is not in that lock is not trusted. To lock the skills here: skillrail trust --lock'
  return [{ code: 'lock-file-above', severity: 'warning', message, path, hint }]
}

function fileReport(
  skill: string,
  { change, path, locked, file, executable }: LockFileChange,
  texts: TextSource,
): LockedFileReport {
  if (file === undefined) return { change, path }
  const before = locked === undefined ? 'new' : { digest: locked, verb: 'locked' as const }
  const content = locked === file.digest ? {} : textChange(`${skill}/${path}`, file, before, texts)
  const bit = executable === true ? 'may be executed now' : 'may not be executed any more'
  const notes = [executable === undefined ? [] : bit, content.note ?? []].flat()
  return { change, path, executable, ...content, note: notes.join('; ') || undefined }
}

export function lockReportLines({ path, state, withoutBits, changes }: LockReport): string[] {
  if (state === 'none' || state === 'unreadable') return []
  const differ = `${amount(changes.length, 'skill')} ${changes.length === 1 ? 'differs' : 'differ'}`
  const words = state === 'locked' ? 'every skill matches the lock' : differ
  const bits = `  It does not say which files of ${amount(withoutBits, 'skill')} may be executed: skillrail trust --lock adds that.`
  return [
    `Lock ${safeLine(path)}: ${words}`,
    ...(withoutBits > 0 ? [bits] : []),
    ...changes.flatMap(({ change, name, path: place, problem, files }) => {
      const note = problem === undefined ? '' : ` (${problem})`
      return [
        `  ${change}: ${safeLine(`${name}  ${place}${note}`)}`,
        ...files.flatMap((file) => textChangeLines({ ...file, change: `${file.change}:` }, '    ')),
      ]
    }),
  ]
}
