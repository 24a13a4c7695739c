import { realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { UsageError } from '../base/index.ts'
import type { SkillInfo } from '../library/index.ts'
import {
  type ActingPart,
  assessWorkspace,
  collectActingParts,
  findWorkspace,
  type LockReading,
  openLockStore,
  readLock,
  type TrustStore,
  WorkspaceNotTrustedError,
} from '../trust/index.ts'
import { keptTexts } from './_text-change.ts'
import { trustReport, type TrustReport } from './_trust-report.ts'
import { skillsToTrust } from './_trust-skills.ts'
import type { CommandContext } from './command.ts'

/** A workspace as it is, against what was accepted of it. */
export interface Standing {
  /** Real path. */
  workspace: string
  /** The workspace, or the folder in it that the user named. */
  place: string
  skills: readonly SkillInfo[]
  /** What a lock holds: those, and skills of the workspace that were given by path. */
  lockable: readonly SkillInfo[]
  report: TrustReport
  lock: LockReading
  /** There was a lock when this user last looked, and there is none now. */
  lockIsGone: boolean
  /** Nothing is left to accept. */
  settled: boolean
  /** Records everything that acts as accepted. */
  accept(): Promise<void>
}

export function standingOf(
  { runtime, settings }: Pick<CommandContext, 'runtime' | 'settings'>,
  store: TrustStore,
  path: string | undefined,
  options: { pin?: boolean | undefined },
): Standing {
  const place = existingPlace(resolve(runtime.cwd, path ?? '.'))
  const workspace = findWorkspace(place, runtime)
  const acceptance = store.find(workspace)
  const lock = readLock(workspace)
  const locked = lock.state === 'read' ? [...lock.skills.keys()] : []
  const scope = { workspace, place, acceptance, locked }
  const { skills, lockable } = skillsToTrust(runtime, settings, scope)
  const known = acceptance?.pinned ?? false
  const pinned = options.pin ?? known
  // Looked at once: what is accepted is what was shown, whatever is written while a person reads.
  const found = collectActingParts(workspace, skills, {
    text: known || pinned,
    from: place,
    accepted: acceptance,
  })
  const acting = found.filter((part) => part.kind !== 'text')
  const parts = known ? found : acting
  const assessment = assessWorkspace(acceptance, parts)
  return {
    workspace,
    place,
    skills,
    lockable,
    report: trustReport({
      workspace,
      pinned,
      skills,
      parts: pinned ? found : acting,
      assessment,
      kept: keptTexts(store),
    }),
    lock,
    lockIsGone: lock.state === 'none' && openLockStore(runtime, workspace).wasLocked(),
    settled: assessment.state === 'trusted' && pinned === known,
    accept: async () => {
      await store.accept(workspace, pinned ? found : acting.filter(isReadable), { pinned })
    },
  }
}

/** To accept a part that cannot be read would change nothing, and it may be one of the text. */
function isReadable({ problem }: ActingPart): boolean {
  return problem === undefined
}

/**
 * Asks the person at the terminal, who may have said `--yes` beforehand.
 * @throws {WorkspaceNotTrustedError} with `refusal` where nobody can be asked.
 */
export async function agree(
  context: CommandContext,
  question: string,
  options: { yes?: boolean | undefined; refusal: { message: string; hint: string } },
): Promise<boolean> {
  if (options.yes === true) return true
  const answer = await context.ask(`\n${question}? [y/N] `)
  if (answer !== undefined) return /^y(?:es)?$/i.test(answer.trim())
  throw new WorkspaceNotTrustedError({ code: 'workspace-not-trusted', ...options.refusal })
}

/** The real directory of a path that a person gave. */
function existingPlace(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) {
    throw new UsageError({
      code: 'path-missing',
      message: `there is nothing at ${path}`,
      hint: 'Give a directory. skillrail trust --list shows what is trusted.',
    })
  }
  const real = realpathSync.native(path)
  return stats.isDirectory() ? real : dirname(real)
}
