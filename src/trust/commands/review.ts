import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Context } from '../../core/command.ts'
import { UsageError } from '../../core/errors.ts'
import { discoverOptionsFrom, discoverSkills } from '../../library/discover.ts'
import { findSkillFiles } from '../../library/walk.ts'
import { skillAt } from '../../library/find-skill.ts'
import type { SkillInfo } from '../../library/model.ts'
import { SkillError } from '../../skill/errors.ts'
import { collectActingParts } from '../acting-parts.ts'
import { findWorkspace, WorkspaceNotTrustedError } from '../decide.ts'
import { openLockStore } from '../lock-store.ts'
import { type LockReading, readLock } from '../lock.ts'
import type { Acceptance } from '../model.ts'
import { assessWorkspace } from '../skill-trust.ts'
import type { TrustStore } from '../store.ts'
import { trustReport, type TrustReport } from './report.ts'

/** A workspace as it is, compared with what was accepted of it. */
export interface Review {
  /** Real path. */
  workspace: string
  /** The workspace, or the folder in it that the user named. */
  place: string
  skills: readonly SkillInfo[]
  /** What a lock covers: those, and skills of the workspace that were given by path. */
  lockable: readonly SkillInfo[]
  report: TrustReport
  lock: LockReading
  /** There was a lock when this user last looked, and there is none now. */
  lockIsGone: boolean
  /** Nothing is left to accept. */
  settled: boolean
  /** Records everything that acts as accepted, as it was when it was reviewed. */
  accept(): Promise<void>
}

export function reviewWorkspace(
  context: Pick<Context, 'runtime' | 'settings'>,
  store: TrustStore,
  path: string | undefined,
  options: { pin?: boolean | undefined },
): Review {
  const { runtime } = context
  const place = existingPlace(resolve(runtime.cwd, path ?? '.'))
  const workspace = findWorkspace(place, runtime)
  const acceptance = store.find(workspace)
  const lock = readLock(workspace)
  const locked = lock.state === 'read' ? [...lock.skills.keys()] : []
  const { skills, lockable } = skillsToTrust(context, { workspace, place, acceptance, locked })
  const wasPinned = acceptance?.pinned ?? false
  const pinned = options.pin ?? wasPinned
  // Read once: what is accepted is what was shown, whatever is written while a user reads.
  const found = collectActingParts(workspace, skills, {
    text: wasPinned || pinned,
    from: place,
    accepted: acceptance,
  })
  const acting = found.filter((part) => part.kind !== 'text')
  const parts = pinned ? found : acting
  const assessment = assessWorkspace(acceptance, wasPinned ? found : acting)
  return {
    workspace,
    place,
    skills,
    lockable,
    report: trustReport({ workspace, pinned, skills, parts, assessment, kept: store }),
    lock,
    lockIsGone: lock.state === 'none' && openLockStore(runtime, workspace).wasLocked(),
    settled: assessment.state === 'trusted' && pinned === wasPinned,
    accept: async () => {
      // A part that cannot be read may be one of the text, which is accepted only where it is pinned.
      const accepted = pinned ? found : acting.filter(({ problem }) => problem === undefined)
      await store.accept(workspace, accepted, { pinned })
    },
  }
}

/**
 * Asks the user at the terminal, who may have said `--yes` beforehand.
 * @throws {WorkspaceNotTrustedError} with `message` and `hint` where no user can be asked.
 */
export async function agree(
  { ask }: Pick<Context, 'ask'>,
  { question, yes, ...refusal }: { question: string; yes: boolean; message: string; hint: string },
): Promise<boolean> {
  if (yes) return true
  const code = 'workspace-not-trusted'
  const answer = await ask({
    text: `\n${question}? [y/N] `,
    otherwise: () => new WorkspaceNotTrustedError({ code, ...refusal }),
  })
  return /^y(?:es)?$/i.test(answer.trim())
}

/** The real directory of a path that a user gave. */
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

interface Scope {
  workspace: string
  place: string
  acceptance: Acceptance | undefined
  /** Directories of the skills in the project's lock, relative to the workspace. */
  locked: readonly string[]
}

/**
 * The project's skills that trusting a workspace is about: those that are found from `place`, those
 * that lie below it where it is not the whole workspace, and those that were accepted or locked
 * before. The last keep a command that starts in one folder from forgetting the skills of another.
 */
function skillsToTrust(
  { runtime, settings }: Pick<Context, 'runtime' | 'settings'>,
  { workspace, place, acceptance, locked }: Scope,
): { skills: SkillInfo[]; lockable: SkillInfo[] } {
  const options = discoverOptionsFrom({ ...runtime, cwd: place }, settings)
  const { skills, shadowed, conflicts } = discoverSkills(options)
  const found = [...skills, ...shadowed, ...conflicts]
  const accepted = new Set(acceptance?.parts.map(({ owner }) => owner))
  accepted.delete('')
  const named = place === workspace ? [] : [...findSkillFiles(folderOf(place))]
  const directories = [
    ...named.map(({ directory }) => directory),
    ...[...accepted, ...locked].map((owner) => join(workspace, owner)),
  ]
  const known = new Set(found.map(({ realDirectory }) => realDirectory))
  for (const directory of directories) {
    const skill = known.has(directory) ? undefined : usableSkill(directory, options)
    if (skill === undefined || known.has(skill.realDirectory)) continue
    known.add(skill.realDirectory)
    found.push(skill)
  }
  const own = found.filter(({ scope }) => scope === 'project')
  // A folder of the project that its own configuration names is covered by the lock too.
  const given = found.filter(({ scope }) => scope === 'custom')
  return { skills: own, lockable: [...own, ...given] }
}

/** A skill that is gone or broken cannot act, so nothing of it needs to be trusted. */
function usableSkill(
  directory: string,
  options: Parameters<typeof skillAt>[1],
): SkillInfo | undefined {
  try {
    return skillAt(directory, options)
  } catch (error) {
    if (error instanceof SkillError) return undefined
    throw error
  }
}

/** A chain runs the skills that lie beside it, so a skill stands for the folder that holds it. */
function folderOf(place: string): string {
  return existsSync(join(place, 'SKILL.md')) ? dirname(place) : place
}
